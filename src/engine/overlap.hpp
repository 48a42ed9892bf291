// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace peal {

// Whether two pieces of memory share a byte. Nothing overlaps an empty one.
inline bool overlap(const void* a, std::uint64_t a_bytes, const void* b, std::uint64_t b_bytes) {
    const auto* first = static_cast<const std::byte*>(a);
    const auto* second = static_cast<const std::byte*>(b);
    const std::less<const std::byte*> before;
    return a_bytes > 0 && b_bytes > 0 && before(first, second + b_bytes) &&
           before(second, first + a_bytes);
}

}  // namespace peal
