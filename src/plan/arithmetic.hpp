// SPDX-License-Identifier: Apache-2.0
// 64-bit integer arithmetic that notices when it goes wrong, and which numbers an element type
// holds.
#pragma once

#include <cstdint>
#include <string_view>

#include "peal/element.hpp"
#include "peal/ir.hpp"

namespace peal::plan {

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

bool fits(std::int64_t value, Element element);

// For floating elements every number fits: it is rounded. For integers it must be a whole number
// in range.
bool fits(double value, Element element);

}  // namespace peal::plan
