// SPDX-License-Identifier: Apache-2.0
#include "language/precedence.hpp"

#include <array>

namespace peal::language {

using ir::BinaryOp;

Precedence precedence_of(BinaryOp op) {
    switch (op) {
        case BinaryOp::logical_or: return Precedence::logical_or;
        case BinaryOp::logical_and: return Precedence::logical_and;
        case BinaryOp::eq:
        case BinaryOp::ne:
        case BinaryOp::lt:
        case BinaryOp::le:
        case BinaryOp::gt:
        case BinaryOp::ge: return Precedence::compare;
        case BinaryOp::bit_xor: return Precedence::bit_xor;
        case BinaryOp::shl:
        case BinaryOp::shr: return Precedence::shift;
        case BinaryOp::add:
        case BinaryOp::sub: return Precedence::sum;
        case BinaryOp::mul:
        case BinaryOp::div:
        case BinaryOp::mod: return Precedence::product;
        case BinaryOp::min:
        case BinaryOp::max: return Precedence::atom;
    }
    return Precedence::atom;
}

std::optional<BinaryOp> infix_at(const Token& token) {
    constexpr std::array kInfix = {
        BinaryOp::add, BinaryOp::sub, BinaryOp::mul,         BinaryOp::div,
        BinaryOp::mod, BinaryOp::shl, BinaryOp::shr,         BinaryOp::bit_xor,
        BinaryOp::eq,  BinaryOp::ne,  BinaryOp::lt,          BinaryOp::le,
        BinaryOp::gt,  BinaryOp::ge,  BinaryOp::logical_and, BinaryOp::logical_or,
    };
    for (const BinaryOp op : kInfix) {
        if (token.is(ir::name(op))) return op;
    }
    return std::nullopt;
}

}  // namespace peal::language
