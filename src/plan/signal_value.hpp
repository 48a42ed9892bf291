// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "peal/plan.hpp"

namespace peal::plan {

// The value as a number, in a call of that generation; nothing when it leaves the integers.
inline std::optional<std::int64_t> value_in(const Value& value, std::int64_t generation) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(value.per_generation, generation, &result) ||
        __builtin_add_overflow(result, value.constant, &result)) [[unlikely]] {
        return std::nullopt;
    }
    return result;
}

}  // namespace peal::plan
