// SPDX-License-Identifier: Apache-2.0
// How messages call a plan, its instructions and their lines.
#pragma once

#include <string>

#include <fmt/format.h>

#include "peal/plan.hpp"

namespace peal::plan {

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

// "instruction 7 (kernel.cpp:12), copy out[0..4) <- tile[0..4) on MTE3", and with several lanes
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

// How people call the line that an instruction is from: "line 7", or "barrier.hpp:7" in a file that
// was included. Empty when it is unknown.
inline std::string source_place(std::uint32_t line, const Plan& plan) {
    if (line == 0) return {};
    if (plan.source) return plan.source->place(line);
    return "line " + std::to_string(line);
}
inline std::string source_place(const Instruction& instruction, const Plan& plan) {
    return source_place(instruction.line, plan);
}

}  // namespace peal::plan
