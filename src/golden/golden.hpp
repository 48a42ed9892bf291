// SPDX-License-Identifier: Apache-2.0
// What each collective means, computed the obvious way on plain arrays, and inputs whose results
// are exact in every element type, so that a result is either equal or wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peal/collective.hpp"

namespace peal::golden {

using Bytes = std::vector<std::byte>;

// What `rank` puts in, in call number `call`. For f32 and sums: i + 100 * rank, as the well-known
// examples have it, with i counted modulo 1000.
Bytes input(const Collective& collective, int rank, int nranks, int call);

// What each rank must get; nothing where the collective leaves the output alone.
std::vector<std::optional<Bytes>> expected(const Collective& collective, int nranks,
                                           const std::vector<Bytes>& inputs);

// Outputs start as this, so that an element that nobody writes is seen; between pieces it stays.
inline constexpr std::byte kUntouched{0xa5};

// In one memory: which of its elements hold what a rank puts in and what it gets.
struct Region {
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
};
Region input_region(const Collective& collective, int rank, int nranks);
Region output_region(const Collective& collective, int rank, int nranks);

// "rank 2: element 17 is 99, expected 198 (3 of 256 differ)", or nothing when all is equal.
std::optional<std::string> difference(Element element, int rank, const std::byte* found,
                                      const Bytes& expected);

}  // namespace peal::golden
