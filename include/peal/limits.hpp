// SPDX-License-Identifier: Apache-2.0
// Numbers that everybody agrees on.
#pragma once

#include <cstdint>

namespace peal {

inline constexpr int kMaxRanks = 1024;
inline constexpr int kMaxSets = 16;     // that calls of a collective take in turn
inline constexpr int kMaxLanes = 1024;  // of a rank

// Of the machines that Peal runs on. A signal cell has a line of its own unless a kernel packs
// them.
inline constexpr std::uint64_t kCacheLineBytes = 64;

// So many bytes, rounded up to lines.
constexpr std::uint64_t whole_lines(std::uint64_t bytes) {
    return (bytes + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
}

}  // namespace peal
