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

// "lane 2", or nothing of a plan that has only one.
inline std::string lane_title(const Plan& plan, std::size_t index) {
    return plan.lanes.empty() ? "" : fmt::format("lane {}", plan.lane_of(index));
}

// "rank 1", and "rank 1, lane 2" of a plan with several: who carries out an instruction.
inline std::string who_title(const Plan& plan, std::size_t index) {
    const std::string lane = lane_title(plan, index);
    return fmt::format("rank {}{}{}", plan.rank, lane.empty() ? "" : ", ", lane);
}

// "instruction 7 (kernel.cpp:12), copy out[0..4) <- tile[0..4) on store", and with several lanes
// "lane 2, instruction 7 ..."
inline std::string instruction_title(const Plan& plan, std::size_t index) {
    const Instruction& instruction = plan.instructions[index];
    const bool has_place = plan.source && instruction.line != 0;
    const std::string lane = lane_title(plan, index);
    return fmt::format(
        "{}{}instruction {}{}, {}", lane, lane.empty() ? "" : ", ", index,
        has_place ? fmt::format(" ({})", plan.source->full_place(instruction.line)) : "",
        to_text(instruction, plan));
}

}  // namespace peal
