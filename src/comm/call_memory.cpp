// SPDX-License-Identifier: Apache-2.0
#include "comm/call_memory.hpp"

#include <exception>
#include <utility>

#include "shm/backoff.hpp"

namespace peal::comm {

CallMemory::CallMemory(const Members& members, PeerMemory& peers)
    : members_(members),
      memory_(members.memory),
      peers_(peers),
      turns_(memory_.room().ring_bytes, members.nranks(), memory_.room().slots) {
    for (std::uint64_t slot = 0; slot < memory_.room().slots; ++slot) {
        slots_[slot] = {memory_.slot(slot), memory_.box(slot)};
    }
}

// ---------------------------------------------------------------------------- turns

// Before the first call that reaches private buffers, all come, all try, and all have tried: two
// meetings, or one if they have met before.
bool CallMemory::settle_reach() {
    if (reaching_ == Reaching::tried) {
        reaching_ = Reaching::settled;
        return false;
    }
    if (turns_.have_met()) {
        reaching_ = Reaching::tried;
        if (!peers_.can_reach_all()) {
            memory_.head().out_of_reach.store(1, std::memory_order_relaxed);
        }
    }
    return true;
}

// It pays while all ranks run at once.
void CallMemory::own_next_lines(const Routine& routine, const CallPlace& place) const {
    if (!spinning_pays(*members_.world)) return;
    const std::uint64_t slot = turns_.slot_of(place.turn.number + 1);
    const auto self = static_cast<std::uint64_t>(members_.rank);
    const std::byte* cell = slots_[slot].lines + self * kCacheLineBytes;
    const std::uint64_t block = routine.block_bytes;
    const std::byte* box = slots_[slot].box + self * block;
    for (int peer = 0; peer < members_.nranks(); ++peer) {
        const std::uint64_t part = static_cast<std::uint64_t>(peer) * rank_stride_;
        if (peer == members_.rank) continue;
        shm::own_soon(cell + part);
        for (std::uint64_t at = 0; at < block; at += kCacheLineBytes)
            shm::own_soon(box + part + at);
    }
}

// ---------------------------------------------------------------------------- memory

void CallMemory::wire(const Routine::Wiring& wiring) {
    const auto entry = [this](std::int8_t buffer) {
        return buffer < 0 ? &unused_ : &bound_[static_cast<std::size_t>(buffer)];
    };
    wired_ = wiring;
    bound_.assign(Routine::kMostBuffers, {});
    parts_ = {{entry(wiring.arguments[0]), entry(wiring.arguments[1])},
              entry(wiring.data),
              entry(wiring.signal)};
    parts_.signal->rank_stride = rank_stride_;
    entry(wiring.tiles)->base = tiles_.data();
}

void CallMemory::bind_data(engine::BoundBuffer& data, const Request& request,
                           const Routine& routine, const CallPlace& place) {
    data = {data_of(request, routine, place), rank_stride_};
    if (routine.staging == Staging::window) data.rank_stride = request.window.rank_stride;
    if (routine.staging == Staging::reach) data.rank_stride = 0;  // peers' parts are elsewhere
}

std::span<const engine::BoundBuffer> CallMemory::bind(const KernelRequest& request) {
    wired_ = {};
    bound_.assign(request.memory.begin(), request.memory.end());
    engine::add_unnamed_memory(*request.tape->plan, tiles_.data(), bound_);
    return bound_;
}

std::byte* CallMemory::data_of(const Request& request, const Routine& routine,
                               const CallPlace& place) {
    switch (routine.staging) {
        case Staging::ring:
            if (routine.fills_ring) touch_ring();
            return memory_.ring(place.piece);
        case Staging::bulk: touch_bulk(routine.bulk_bytes); return memory_.bulk();
        case Staging::window: return request.window.base;
        case Staging::reach: return show_result(request, routine, place);
        case Staging::none:
        case Staging::line:
        case Staging::box: break;  // bind() knows
    }
    return nullptr;
}

void CallMemory::touch_ring() {
    if (std::exchange(has_ring_, true)) [[likely]]
        return;
    shm::populate(own(memory_.ring(0)), memory_.room().ring_bytes);
}

void CallMemory::touch_bulk(std::uint64_t bytes) {
    if (bytes <= bulk_touched_) [[likely]]
        return;
    const std::uint64_t end = whole_pages(bytes);
    shm::populate(own(memory_.bulk()) + bulk_touched_, end - bulk_touched_);
    bulk_touched_ = end;
}

std::byte* CallMemory::show_result(const Request& request, const Routine& routine,
                                   const CallPlace& place) {
    const bool has_input = routine.collective.placement == Placement::into_window;
    std::byte* const result = request.arguments[has_input ? 1 : 0];
    peers_.show(place.turn.slot, result);
    return result;
}

bool CallMemory::grow_tiles(std::uint64_t bytes) {
    wired_ = {};
    try {
        tiles_.resize(bytes);
    } catch (const std::exception&) {
        return false;
    }
    return true;
}

}  // namespace peal::comm
