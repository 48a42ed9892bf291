// SPDX-License-Identifier: Apache-2.0
// The subcommands of `peal`, one file each. Each adds itself to the command line.
#pragma once

#include "cli/command_line.hpp"

namespace peal::cli {

void add_run(CommandLine& line);
void add_check(CommandLine& line);
void add_proofs(CommandLine& line);
void add_show(CommandLine& line);
void add_emit(CommandLine& line);
void add_demo(CommandLine& line);
void add_launch(CommandLine& line);
void add_host_side(CommandLine& line);
void add_info(CommandLine& line);
void add_bench(CommandLine& line);
void add_tune(CommandLine& line);
void add_python_path(CommandLine& line);

}  // namespace peal::cli
