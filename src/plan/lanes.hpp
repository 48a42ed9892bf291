// SPDX-License-Identifier: Apache-2.0
// What is done to the lanes of a plan one by one.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "peal/plan.hpp"

namespace peal::plan {

// Calls change(lane), where `lane` is a plan with the instructions of one lane only, and puts what
// comes out together again.
template <class Change>
void change_lanes(Plan& plan, Change&& change) {
    if (plan.lanes.empty()) return change(plan);
    const std::vector<Instruction> before = std::move(plan.instructions);
    std::vector<std::uint32_t> begins = std::exchange(plan.lanes, {});
    begins.push_back(static_cast<std::uint32_t>(before.size()));
    const std::uint64_t tile_bytes = std::exchange(plan.tile_bytes, 0);
    Plan lane = plan;
    std::vector<Instruction> after;
    std::vector<std::uint32_t> lanes;
    std::uint32_t begin = 0;
    for (const std::uint32_t end : begins) {
        lane.instructions.assign(before.begin() + begin, before.begin() + end);
        lane.tile_bytes = tile_bytes;
        change(lane);
        plan.tile_bytes = std::max(plan.tile_bytes, lane.tile_bytes);
        std::move(lane.instructions.begin(), lane.instructions.end(), std::back_inserter(after));
        lanes.push_back(static_cast<std::uint32_t>(after.size()));
        begin = end;
    }
    lanes.pop_back();
    plan.instructions = std::move(after);
    plan.lanes = std::move(lanes);
}

}  // namespace peal::plan
