// SPDX-License-Identifier: Apache-2.0
#include "comm/peer_memory.hpp"

#include <sched.h>

#include <cerrno>

#include "engine/kernels/kernels.hpp"
#include "shm/process_memory.hpp"

namespace peal::comm {

// By the word and not by the number of the process, which may be the same in two sandboxes.
bool PeerMemory::is_in_this_process(int rank) const {
    return record_of(rank).own_word.load(std::memory_order_relaxed) ==
           record_of(members_.rank).own_word.load(std::memory_order_relaxed);
}

bool PeerMemory::can_reach_all() const {
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const RankRecord& record = record_of(rank);
        if (is_in_this_process(rank)) continue;
        std::uint64_t seen = 0;
        const bool is_read =
            shm::copy_from_process(reinterpret_cast<std::byte*>(&seen), process_of(rank),
                                   record.own_word_at.load(std::memory_order_relaxed), sizeof seen);
        if (!is_read || seen != record.own_word.load(std::memory_order_relaxed)) return false;
    }
    return true;
}

// seq_cst: see the header. Who sees the failure here sees it before all that comes later in the one
// order of such operations.
bool PeerMemory::has_failed() const {
    return members_.world->header().alarm.load(std::memory_order_seq_cst) != 0 ||
           members_.common.head().failure.load(std::memory_order_seq_cst) != CommonHead::none;
}

template <class Copy>
bool PeerMemory::guarded(Copy&& copy) {
    std::atomic<std::uint32_t>& copies = members_.memory.log(members_.rank).copies;
    copies.store(1, std::memory_order_seq_cst);  // pairs with wait_for_copiers()
    errno = ECANCELED;
    const bool is_copied = !has_failed() && copy();
    copies.store(0, std::memory_order_release);
    return is_copied;
}

void PeerMemory::wait_for_copiers() const {
    if (!has_failed()) return;  // then nobody stops
    for (int rank = 0; rank < members_.nranks(); ++rank) {
        const auto copies = [&] {
            return members_.memory.log(rank).copies.load(std::memory_order_seq_cst) != 0;
        };
        const auto is_alive = [&] {
            return record_of(rank).state.load(std::memory_order_relaxed) == RankState::here;
        };
        while (copies() && is_alive()) sched_yield();
    }
}

bool PeerMemory::fetch(std::byte* to, int rank, std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t from = address_of(rank).load(std::memory_order_relaxed) + offset;
    return guarded([&] {
        if (!is_in_this_process(rank))
            return shm::copy_from_process(to, process_of(rank), from, bytes);
        engine::kernels::copy_bytes(to, reinterpret_cast<const void*>(from), bytes);
        return true;
    });
}

bool PeerMemory::put(int rank, std::uint64_t offset, const std::byte* from, std::uint64_t bytes) {
    const std::uint64_t to = address_of(rank).load(std::memory_order_relaxed) + offset;
    return guarded([&] {
        if (!is_in_this_process(rank))
            return shm::copy_to_process(process_of(rank), to, from, bytes);
        engine::kernels::copy_bytes(reinterpret_cast<void*>(to), from, bytes);
        return true;
    });
}

}  // namespace peal::comm
