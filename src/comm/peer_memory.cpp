// SPDX-License-Identifier: Apache-2.0
#include "comm/peer_memory.hpp"

#include <unistd.h>

#include "comm/process_memory.hpp"
#include "engine/kernels/kernels.hpp"

namespace peal::comm {

bool PeerMemory::fetch(std::byte* to, int rank, std::uint64_t offset, std::uint64_t bytes) {
    const std::uint64_t from = address_of(rank).load(std::memory_order_relaxed) + offset;
    const std::int32_t process = process_of(rank);
    if (process != getpid()) return copy_from_process(to, process, from, bytes);
    kernels::copy_bytes(to, reinterpret_cast<const void*>(from), bytes);
    return true;
}

bool PeerMemory::put(int rank, std::uint64_t offset, const std::byte* from, std::uint64_t bytes) {
    const std::uint64_t to = address_of(rank).load(std::memory_order_relaxed) + offset;
    const std::int32_t process = process_of(rank);
    if (process != getpid()) return copy_to_process(process, to, from, bytes);
    kernels::copy_bytes(reinterpret_cast<void*>(to), from, bytes);
    return true;
}

}  // namespace peal::comm
