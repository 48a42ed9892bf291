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
    CallMemory(const Members& members, PeerMemory& peers);

    // ---- turns. A call takes a place before it is bound, and gives it back when it is over.

    // Whether the ranks must meet before the call.
    [[gnu::always_inline]] bool must_meet(const Routine& routine) {
        return must_settle_reach(routine) || comm::must_meet(turns_, needs_of(routine));
    }
    // The same before a kernel of the user's.
    bool must_meet_for_kernel() { return comm::must_meet(turns_, {}); }
    // Whether it cannot be, since some rank does not get at private memory of another. All ranks
    // find the same.
    [[gnu::always_inline]] bool is_out_of_reach(const Routine& routine) const {
        if (routine.staging != Staging::reach) [[likely]]
            return false;
        return reaching_ != Reaching::unknown &&
               memory_.head().out_of_reach.load(std::memory_order_relaxed) != 0;
    }

    [[gnu::always_inline]] CallPlace take(const Routine& routine) {
        return place_call(turns_, needs_of(routine));
    }
    CallPlace take_for_kernel() { return place_call(turns_, {}); }
    [[gnu::always_inline]] void give_back(const Routine& routine, const CallPlace& place) {
        engine::advance_generation(routine.plan, static_cast<std::size_t>(routine.wiring.signal),
                                   slots_[place.turn.slot].generation);
        end_call(turns_, routine, place);
    }

    std::uint64_t next_turn() const { return turns_.next(); }

    // ---- memory. What is bound is good until the next call is.

    // False: the machine has not got as much.
    [[gnu::always_inline]] bool reserve_tiles(std::uint64_t bytes) {
        return tiles_.size() >= bytes || grow_tiles(bytes);
    }
    [[gnu::always_inline]] std::span<const engine::BoundBuffer> bind(const Request& request,
                                                                     const Routine& routine,
                                                                     const CallPlace& place) {
        if (routine.wiring != wired_) [[unlikely]]
            wire(routine.wiring);
        const Slot& slot = slots_[place.turn.slot];
        parts_.arguments[0]->base = request.arguments[0];
        parts_.arguments[1]->base = request.arguments[1];
        if (routine.staging == Staging::line || routine.staging == Staging::box) [[likely]] {
            const Slot& piece = slots_[place.piece];
            parts_.data->base = routine.staging == Staging::line ? piece.lines : piece.box;
            parts_.data->rank_stride = rank_stride_;
        } else if (routine.staging != Staging::none) {
            bind_data(*parts_.data, request, routine, place);
        }
        parts_.signal->base = slot.lines + kLinePayload + sizeof(CallHash);
        parts_.signal->generation = slot.generation;
        return bound_;
    }
    std::span<const engine::BoundBuffer> bind(const KernelRequest& request);

    // Brings the lines here in which this rank rings others in the next turn, and what it will put
    // beside them if the next call is like this one.
    void own_next_lines(const Routine& routine, const CallPlace& place) const;

private:
    [[gnu::always_inline]] bool must_settle_reach(const Routine& routine) {
        if (routine.staging != Staging::reach || reaching_ == Reaching::settled) [[likely]]
            return false;
        return settle_reach();
    }
    bool settle_reach();
    [[gnu::cold]] void wire(const Routine::Wiring& wiring);
    void bind_data(engine::BoundBuffer& data, const Request& request, const Routine& routine,
                   const CallPlace& place);
    std::byte* data_of(const Request& request, const Routine& routine, const CallPlace& place);
    // In this rank's part, what is there in that of rank 0.
    std::byte* own(std::byte* first) const {
        return first + static_cast<std::uint64_t>(members_.rank) * rank_stride_;
    }
    void touch_ring();
    void touch_bulk(std::uint64_t bytes);
    std::byte* show_result(const Request& request, const Routine& routine, const CallPlace& place);
    bool grow_tiles(std::uint64_t bytes);

    const Members& members_;
    const GroupMemory memory_;  // a copy: one step less to it
    const std::uint64_t rank_stride_ = memory_.rank_stride();
    PeerMemory& peers_;
    Turns turns_;
    // Where the slots are, worked out once, and the generations of their signals.
    struct Slot {
        std::byte* lines = nullptr;
        std::byte* box = nullptr;
        std::int64_t generation = 0;
    };
    std::array<Slot, Turns::kMostSlots> slots_{};
    // Whether private memory is in reach: not yet asked, tried by this rank, known to all.
    enum class Reaching : std::uint8_t { unknown, tried, settled } reaching_ = Reaching::unknown;
    // What this rank has touched of its part of the memory for staging. Many communicators never
    // stage anything, and few stage all that they could.
    bool has_ring_ = false;
    std::uint64_t bulk_touched_ = 0;
    std::vector<engine::BoundBuffer> bound_;  // room for those of any routine
    // How `bound_` is laid out now, with all in it that no call of such a routine changes; the
    // routine of the last call nearly always is. As made, that of none.
    Routine::Wiring wired_;
    // The entries by their part. What a routine has not got is written to `unused_`.
    struct {
        std::array<engine::BoundBuffer*, 2> arguments;
        engine::BoundBuffer *data, *signal;
    } parts_{};
    engine::BoundBuffer unused_;
    std::vector<std::byte> tiles_;
};

}  // namespace peal::comm
