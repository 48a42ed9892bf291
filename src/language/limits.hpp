// SPDX-License-Identifier: Apache-2.0
// How large a program may be in places where it would otherwise exhaust the stack.
#pragma once

#include <cstddef>

#include "peal/ir.hpp"

namespace peal::language {

inline constexpr int kMaxExprDepth = 128;  // operators below each other in resolved expressions
inline constexpr int kMaxBlockDepth = 64;  // loops and conditions inside each other
inline constexpr std::size_t kMaxDimensions = 8;
inline constexpr std::uint64_t kMaxFileBytes = 16 << 20;  // of a .peal file

// Levels of text inside each other that the parser follows. A resolved program prints to at most
// three levels (operator, parenthesis, operand) for each of its own, so its text is always read.
inline constexpr int kMaxNesting = 600;
static_assert(kMaxNesting > 3 * kMaxExprDepth + 2 * kMaxBlockDepth);

int depth_of(const ir::ExprPtr& expr);

}  // namespace peal::language
