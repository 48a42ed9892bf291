// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "peal/plan.hpp"

namespace peal::plan {

// The value as a number, in a call of that generation; false when it leaves the integers.
inline bool find_value(const Value& value, std::int64_t generation, std::int64_t& result) {
    return !__builtin_mul_overflow(value.per_generation, generation, &result) &&
           !__builtin_add_overflow(result, value.constant, &result);
}
inline std::optional<std::int64_t> value_in(const Value& value, std::int64_t generation) {
    std::int64_t result = 0;
    return find_value(value, generation, result) ? std::optional(result) : std::nullopt;
}

}  // namespace peal::plan
