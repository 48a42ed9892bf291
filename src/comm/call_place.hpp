// SPDX-License-Identifier: Apache-2.0
// Where a call finds its memory, and whether the ranks must meet before it. These functions decide,
// without a word being exchanged; CallMemory carries it out on real memory, and tests/comm proves
// sequences of calls that they have placed.
#pragma once

#include <cstdint>

#include "comm/routine.hpp"
#include "comm/turns.hpp"

namespace peal::comm {

struct CallPlace {
    Turns::Turn turn;
    // The data window is in the memory that the routine's staging names, and there in the piece
    // with this number: of slots and boxes one for each slot, of the ring one for each byte. (What
    // has no pieces takes no notice.)
    std::uint64_t piece = 0;
};

// What a call takes of the group's memory. A kernel of the user's takes a turn and nothing else.
struct MemoryNeeds {
    Staging staging = Staging::none;
    std::uint64_t ring_bytes = 0;
};

[[gnu::always_inline]] inline MemoryNeeds needs_of(const Routine& routine) {
    return {routine.staging, routine.ring_bytes};
}

[[gnu::always_inline]] inline bool must_meet(Turns& turns, const MemoryNeeds& needs) {
    return turns.must_meet(needs.ring_bytes);
}

[[gnu::always_inline]] inline CallPlace place_call(Turns& turns, const MemoryNeeds& needs) {
    const Turns::Turn turn = turns.take(needs.ring_bytes);
    return {turn, needs.staging == Staging::ring ? turn.ring_offset : turn.slot};
}

// Not of a kernel: who hears from whom in it is not known.
[[gnu::always_inline]] inline void end_call(Turns& turns, const Routine& routine,
                                            const CallPlace& place) {
    turns.over(place.turn.number, routine.sync, routine.shape.root);
}

}  // namespace peal::comm
