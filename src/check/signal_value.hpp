// SPDX-License-Identifier: Apache-2.0
// Values of signals as numbers.
#pragma once

#include <cstdint>

#include "check/misuse.hpp"
#include "peal/plan.hpp"

namespace peal::checker {

// Sums of values stay far from the ends of the integers.
inline constexpr std::int64_t kMostValue = std::int64_t{1} << 40;

inline std::int64_t value_in(const Value& value, std::int64_t generation) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(value.per_generation, generation, &result) ||
        __builtin_add_overflow(result, value.constant, &result) || result > kMostValue ||
        result < -kMostValue) {
        misuse("{} + {} * {} is too large for a signal; values up to {} can be followed",
               value.constant, value.per_generation, generation, kMostValue);
    }
    return result;
}

}  // namespace peal::checker
