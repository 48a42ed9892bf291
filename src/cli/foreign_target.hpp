// SPDX-License-Identifier: Apache-2.0
// Plans of other projects as targets: MSCCL algorithms in XML, MSCCL++ execution plans in JSON.
#pragma once

#include <string>

#include "cli/target.hpp"
#include "foreign/foreign.hpp"

namespace peal::cli {

// Whether the name ends in .xml, or in .json and the file is none of our own plans. Throws
// Error(usage) when it cannot be read.
bool is_foreign_file(const std::string& target);

void add_foreign_options(Command& command, TargetOptions& options);

// `expect` names the collective that the plans are held to, whatever the file says; empty: what it
// says.
Target read_foreign(const TargetOptions& options, const std::string& expect);

}  // namespace peal::cli
