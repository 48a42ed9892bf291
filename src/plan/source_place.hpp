// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "peal/plan.hpp"

namespace peal {

// How people call the line that an instruction is from: "line 7", or "barrier.hpp:7" in a file that
// was included. Empty when it is unknown.
inline std::string source_place(const Instruction& instruction, const Plan& plan) {
    if (instruction.line == 0) return {};
    if (plan.source) return plan.source->place(instruction.line);
    return "line " + std::to_string(instruction.line);
}

}  // namespace peal
