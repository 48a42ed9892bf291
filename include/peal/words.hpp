// SPDX-License-Identifier: Apache-2.0
// Words that programs and plans have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace peal {

// What a kernel does with a parameter. `unknown` until it is declared or inferred.
enum class Direction : std::uint8_t { unknown, in, out, inout };

enum class NotifyOp : std::uint8_t { set, add };

enum class Compare : std::uint8_t { eq, ne, gt, ge, lt, le };

std::string_view name(Direction direction);
std::string_view name(NotifyOp op);        // "set", "add"
std::string_view name(Compare compare);    // "eq", "ne", "gt", "ge", "lt", "le"
std::string_view symbol(Compare compare);  // "==", "!=", ">", ">=", "<", "<="
std::optional<Compare> compare_from(std::string_view name_or_symbol);

constexpr bool compares(std::int64_t left, Compare compare, std::int64_t right) {
    switch (compare) {
        case Compare::eq: return left == right;
        case Compare::ne: return left != right;
        case Compare::gt: return left > right;
        case Compare::ge: return left >= right;
        case Compare::lt: return left < right;
        case Compare::le: return left <= right;
    }
    return false;
}

}  // namespace peal
