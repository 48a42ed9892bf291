// SPDX-License-Identifier: Apache-2.0
#include "plan/turns.hpp"

#include "plan/access.hpp"

namespace peal::plan {

Plan in_turn(const Plan& plan, std::uint32_t turn) {
    Plan result = plan;
    result.turns = {};
    const auto move = [&](Range& range) { range = in_turn(range, plan.turns, turn); };
    for (Instruction& instruction : result.instructions) {
        for_each_range(instruction.action, move);
        if (auto* evict = std::get_if<Evict>(&instruction.action)) move(evict->range);
    }
    return result;
}

}  // namespace peal::plan
