// SPDX-License-Identifier: Apache-2.0
// Memory that a kernel's buffers may not share: the one answer for all engines. A proof takes each
// buffer for memory of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "peal/plan.hpp"

namespace peal::engine {

// What one buffer is bound to: an argument to memory of its rank, a window or signal to the parts
// of all ranks.
struct BoundMemory {
    const Buffer* buffer = nullptr;
    const void* begin = nullptr;
    std::uint64_t bytes = 0;
    int rank = 0;  // arguments only
};

// What is wrong with buffers of one call that overlap in memory; nothing if none do. Arguments may
// overlap if neither is written; an unknown direction counts as written.
std::optional<std::string> alias_among(const std::vector<BoundMemory>& bound);

// Whether two pieces of memory share a byte. Nothing overlaps an empty one.
inline bool overlap(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes) {
    const auto* first = static_cast<const std::byte*>(a);
    const auto* second = static_cast<const std::byte*>(b);
    const std::less<const std::byte*> before;
    return a_bytes > 0 && b_bytes > 0 && before(first, second + b_bytes) &&
           before(second, first + a_bytes);
}

}  // namespace peal::engine
