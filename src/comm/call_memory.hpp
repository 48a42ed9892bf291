// SPDX-License-Identifier: Apache-2.0
// Placement: where the calls of one rank find their memory. The functions of call_place.hpp decide;
// this class carries it out on the group's memory, on private buffers and on tiles.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/call_place.hpp"
#include "comm/group_memory.hpp"
#include "comm/peer_memory.hpp"
#include "comm/request.hpp"
#include "engine/contract.hpp"

namespace peal::comm {

class CallMemory {
public:
    CallMemory(const Members& members, PeerMemory& peers)
        : members_(members),
          memory_(members.memory),
          peers_(peers),
          turns_(members.memory.room().ring_bytes, members.nranks(), members.memory.room().slots) {}

    // ---- turns. A call takes a place before it is bound, and gives it back when it is over.

    // Whether the ranks must meet before the call.
    bool must_meet(const Routine& routine) {
        return must_settle_reach(routine) || comm::must_meet(turns_, needs_of(routine));
    }
    // The same before a kernel of the user's.
    bool must_meet_for_kernel() { return comm::must_meet(turns_, {}); }
    // Whether it cannot be, since some rank does not get at private memory of another. All ranks
    // find the same.
    bool is_out_of_reach(const Routine& routine) const {
        if (routine.staging != Staging::reach) [[likely]]
            return false;
        return reaching_ != Reaching::unknown &&
               memory_.head().out_of_reach.load(std::memory_order_relaxed) != 0;
    }

    CallPlace take(const Routine& routine) { return place_call(turns_, needs_of(routine)); }
    CallPlace take_for_kernel() { return place_call(turns_, {}); }
    void give_back(const Routine& routine, const CallPlace& place) {
        engine::advance_generation(routine.plan, static_cast<std::size_t>(routine.wiring.signal),
                                   generations_[place.turn.slot]);
        end_call(turns_, routine, place);
    }

    std::uint64_t next_turn() const { return turns_.next(); }

    // ---- memory. What is bound is good until the next call is.

    // False: the machine has not got as much.
    bool reserve_tiles(std::uint64_t bytes) { return tiles_.size() >= bytes || grow_tiles(bytes); }
    std::span<const engine::BoundBuffer> bind(const Request& request, const Routine& routine,
                                              const CallPlace& place);
    std::span<const engine::BoundBuffer> bind(const KernelRequest& request);

    // Brings the lines here in which this rank rings others in the next turn, and what it will put
    // beside them if the next call is like this one.
    void own_next_lines(const Routine& routine, const CallPlace& place) const;

private:
    bool must_settle_reach(const Routine& routine) {
        if (routine.staging != Staging::reach || reaching_ == Reaching::settled) [[likely]]
            return false;
        return settle_reach();
    }
    bool settle_reach();
    engine::BoundBuffer& at(std::int16_t buffer) {
        return bound_[static_cast<std::size_t>(buffer)];
    }
    std::byte* data_of(const Request& request, const Routine& routine, const CallPlace& place);
    void first_touch(bool& is_touched, std::byte* all, std::uint64_t bytes) const;
    std::byte* show_result(const Request& request, const Routine& routine, const CallPlace& place);
    bool grow_tiles(std::uint64_t bytes);

    const Members& members_;
    const GroupMemory memory_;  // a copy: one step less to it
    PeerMemory& peers_;
    Turns turns_;
    std::array<std::int64_t, Turns::kMostSlots> generations_{};  // of the slots' signals
    // Whether private memory is in reach: not yet asked, tried by this rank, known to all.
    enum class Reaching : std::uint8_t { unknown, tried, settled } reaching_ = Reaching::unknown;
    // Whether this rank has touched its part of the memory for staging. Many communicators never
    // stage anything.
    bool has_ring_ = false, has_bulk_ = false;
    std::vector<engine::BoundBuffer> bound_;
    std::vector<std::byte> tiles_;
};

}  // namespace peal::comm
