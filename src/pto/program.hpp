// SPDX-License-Identifier: Apache-2.0
// Running other programs and reading what they say.
#pragma once

#include <string>
#include <vector>

namespace peal::pto {

struct ProgramEnd {
    int status = 0;  // exit status, or 128 + the number of a signal
    std::string output;
};

// Runs `arguments` (the first one is looked up in $PATH) and collects both its outputs. Throws
// Error(usage) when there is no such program, Error(resource) when it cannot be started.
ProgramEnd run_program(const std::vector<std::string>& arguments);

// Where the system finds the program; empty if it does not.
std::string find_program(const std::string& name);

}  // namespace peal::pto
