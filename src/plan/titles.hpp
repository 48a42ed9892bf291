// SPDX-License-Identifier: Apache-2.0
// How messages call a plan and its instructions.
#pragma once

#include <string>

#include <fmt/format.h>

#include "peal/plan.hpp"

namespace peal {

inline std::string plan_title(const Plan& plan) {
    return fmt::format("plan {}, rank {} of {}", plan.kernel, plan.rank, plan.nranks);
}

// "instruction 7 (kernel.cpp:12), copy out[0..4) <- tile[0..4) on store"
inline std::string instruction_title(const Plan& plan, std::size_t index) {
    const Instruction& instruction = plan.instructions[index];
    const bool has_place = plan.source && instruction.line != 0;
    return fmt::format(
        "instruction {}{}, {}", index,
        has_place ? fmt::format(" ({})", plan.source->full_place(instruction.line)) : "",
        to_text(instruction, plan));
}

}  // namespace peal
