// SPDX-License-Identifier: Apache-2.0
// Plans whose calls take turns. In each turn such a plan is a plain one.
#pragma once

#include <cstdint>

#include "peal/plan.hpp"

namespace peal::plan {

// More are a mistake: a plan has a list of as many bytes for each place that moves.
inline constexpr std::uint32_t kMaxTurns = 4096;

inline bool takes_turns(const Plan& plan) { return plan.turns.count > 1; }

// The turn of a call of that generation.
inline std::uint32_t turn_in(const Turns& turns, std::int64_t generation) {
    return static_cast<std::uint32_t>(generation / turns.every %
                                      static_cast<std::int64_t>(turns.count));
}

// Where the range is in a turn.
inline Range in_turn(Range range, const Turns& turns, std::uint32_t turn) {
    if (range.shift == 0) return range;
    range.offset += turns.shifts[range.shift - 1U].by[turn];
    range.shift = 0;
    return range;
}

// What the plan is in a turn: a plan without turns, instruction for instruction.
Plan in_turn(const Plan& plan, std::uint32_t turn);

// Calls each(range) for where the range is, turn by turn.
template <class Each>
void for_each_turn(const Range& range, const Turns& turns, Each&& each) {
    const std::uint32_t count = range.shift == 0 ? 1 : turns.count;
    for (std::uint32_t turn = 0; turn < count; ++turn) each(in_turn(range, turns, turn));
}

}  // namespace peal::plan
