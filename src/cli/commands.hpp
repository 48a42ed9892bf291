// SPDX-License-Identifier: Apache-2.0
// The subcommands of `peal`, one file each. Each adds itself to the app; when it is chosen it runs
// while the command line is parsed and leaves its exit code.
#pragma once

namespace CLI {
class App;
}

namespace peal::cli {

// Exit codes.
enum : int { kFine = 0, kWrong = 1, kBadUsage = 2, kBoundReached = 3 };

void add_run(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_proofs(CLI::App& app, int& exit_code);
void add_show(CLI::App& app, int& exit_code);
void add_emit(CLI::App& app, int& exit_code);
void add_demo(CLI::App& app, int& exit_code);
void add_launch(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_tune(CLI::App& app, int& exit_code);

}  // namespace peal::cli
