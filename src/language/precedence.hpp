// SPDX-License-Identifier: Apache-2.0
// How tightly operators bind: the parser and the printer agree here.
#pragma once

#include <cstdint>
#include <optional>

#include "language/token.hpp"
#include "peal/ir.hpp"

namespace peal::language {

enum class Precedence : std::uint8_t {
    logical_or,
    logical_and,
    logical_not,
    compare,  // does not chain
    bit_xor,
    shift,
    sum,
    product,
    negate,
    atom,
};

constexpr Precedence tighter(Precedence precedence) {
    return static_cast<Precedence>(static_cast<std::uint8_t>(precedence) + 1);
}

// min(a, b) and max(a, b) are atoms.
Precedence precedence_of(ir::BinaryOp op);

// The operator between two operands that a token is.
std::optional<ir::BinaryOp> infix_at(const Token& token);

}  // namespace peal::language
