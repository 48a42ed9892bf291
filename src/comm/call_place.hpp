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
    // with this number: of slots and boxes one for each slot, of the ring one for each byte.
    std::uint64_t piece = 0;
};

inline bool must_meet(Turns& turns, const Routine& routine) {
    return turns.must_meet(routine.ring_bytes);
}

inline CallPlace place_call(Turns& turns, const Routine& routine) {
    CallPlace place{turns.take(routine.ring_bytes)};
    if (routine.staging == Staging::line || routine.staging == Staging::box) {
        place.piece = place.turn.slot;
    } else if (routine.staging == Staging::ring) {
        place.piece = place.turn.ring_offset;
    }
    return place;
}

inline void end_call(Turns& turns, const Routine& routine, const CallPlace& place) {
    turns.over(place.turn.number, routine.sync, routine.shape.root);
}

}  // namespace peal::comm
