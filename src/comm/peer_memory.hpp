// SPDX-License-Identifier: Apache-2.0
// The members' private buffers, as plans see them that copy between them directly.
//
// A member leaves the address of its buffer in its own line of its own part of the turn's slot,
// where nobody rings. Its first ring of the turn releases it, and a proved plan touches a peer's
// window only after such a ring.
//
// Who leaves a call by an error takes its buffer along, perhaps while a peer copies. So a copier
// says that it copies, and then makes sure that nothing has failed; who leaves has seen the
// failure, and waits for those who copy. The four steps have one order, the same for both: one of
// the two sees the other.
#pragma once

#include <atomic>
#include <cstdint>

#include "comm/group_memory.hpp"
#include "shm/world.hpp"

namespace peal::comm {

class PeerMemory {
public:
    explicit PeerMemory(const Members& members) : members_(members) {}

    // Whether this rank can read private memory of all members, all of whom must have come.
    bool can_reach_all() const;

    // From here on, in the turn that uses this slot.
    void show(std::uint64_t slot, const std::byte* buffer) {
        slot_ = slot;
        address_of(members_.rank)
            .store(reinterpret_cast<std::uint64_t>(buffer), std::memory_order_relaxed);
    }

    // Copies from or to a peer's buffer, at an offset in it. False: it cannot be reached, or not
    // all of it; errno says why, and some of it may have been copied.
    bool fetch(std::byte* to, int rank, std::uint64_t offset, std::uint64_t bytes);
    bool put(int rank, std::uint64_t offset, const std::byte* from, std::uint64_t bytes);

    // Something has failed: returns when no member copies any more.
    void wait_for_copiers() const;

private:
    template <class Copy>
    bool guarded(Copy&& copy);
    std::atomic_ref<std::uint64_t> address_of(int rank) const {
        const auto peer = static_cast<std::uint64_t>(rank);
        std::byte* const line =
            members_.memory.slot(slot_) + peer * (members_.memory.rank_stride() + kCacheLineBytes);
        return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(line));
    }
    const RankRecord& record_of(int rank) const {
        return members_.world->header().ranks[members_.in_world(rank)];
    }
    std::int32_t process_of(int rank) const {
        return record_of(rank).pid.load(std::memory_order_relaxed);
    }
    bool is_in_this_process(int rank) const;
    bool has_failed() const;

    const Members& members_;
    std::uint64_t slot_ = 0;
};

}  // namespace peal::comm
