// SPDX-License-Identifier: Apache-2.0
// What a rank has called, as others can read it.
#pragma once

#include <atomic>
#include <cstdint>

#include "comm/turns.hpp"
#include "peal/limits.hpp"

namespace peal::comm {

// What one rank called. Written by that rank: first the stamp, then the turn.
struct alignas(32) LogEntry {
    std::atomic<std::uint64_t> turns = 0;  // 1 + the turn; 0: nothing yet
    std::atomic<std::uint64_t> call = 0, windows = 0;
    std::atomic<std::uint32_t> site = 0;  // Sites: where in the program
};

// What everybody may know of one rank's calls. Written by that rank alone.
struct alignas(kCacheLineBytes) CallLog {
    // A rank cannot be further ahead of another than the slots allow.
    static constexpr std::uint64_t kEntries = 2 * Turns::kMostSlots;

    std::atomic<std::uint32_t> copies = 0;  // from or to a peer's private memory, now
    alignas(kCacheLineBytes) LogEntry entries[kEntries];
};

}  // namespace peal::comm
