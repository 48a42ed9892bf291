// SPDX-License-Identifier: Apache-2.0
// 64-bit integer arithmetic that notices when it goes wrong.
#pragma once

#include <cstdint>
#include <string_view>

#include "peal/ir.hpp"

namespace peal {

struct Checked {
    std::int64_t value = 0;
    std::string_view problem;  // empty: the value is right
};

// The arithmetic operators, min and max. Division and remainder round towards minus infinity.
Checked apply(ir::BinaryOp op, std::int64_t a, std::int64_t b);
Checked negate(std::int64_t a);
Checked floor_log2(std::int64_t a);

inline bool is_arithmetic(ir::BinaryOp op) { return op < ir::BinaryOp::eq; }

// ==, !=, <, <=, >, >=
bool compare(ir::BinaryOp op, std::int64_t a, std::int64_t b);

}  // namespace peal
