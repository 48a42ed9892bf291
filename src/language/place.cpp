// SPDX-License-Identifier: Apache-2.0
#include "language/expressions.hpp"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace peal::language {
namespace {

bool is_constant(const ir::ExprPtr& expr, std::int64_t value) {
    const auto* constant = ir::as<ir::IntConst>(expr);
    return constant && constant->value == value;
}

ir::ExprPtr product(const std::vector<ir::ExprPtr>& factors, std::size_t from) {
    ir::ExprPtr result = ir::integer(1);
    for (std::size_t i = from; i < factors.size(); ++i) result = times(result, factors[i]);
    return result;
}

}  // namespace

ir::ExprPtr plus(const ir::ExprPtr& a, const ir::ExprPtr& b) {
    if (is_constant(a, 0)) return b;
    if (is_constant(b, 0)) return a;
    const auto* x = ir::as<ir::IntConst>(a);
    const auto* y = ir::as<ir::IntConst>(b);
    std::int64_t sum = 0;
    if (x && y && !__builtin_add_overflow(x->value, y->value, &sum))
        return ir::integer(sum, a->span);
    return ir::binary(ir::BinaryOp::add, a, b, a->span);
}

ir::ExprPtr times(const ir::ExprPtr& a, const ir::ExprPtr& b) {
    if (is_constant(a, 1)) return b;
    if (is_constant(b, 1)) return a;
    const auto* x = ir::as<ir::IntConst>(a);
    const auto* y = ir::as<ir::IntConst>(b);
    std::int64_t result = 0;
    if (x && y && !__builtin_mul_overflow(x->value, y->value, &result)) {
        return ir::integer(result, a->span);
    }
    if (is_constant(a, 0)) return a;
    if (is_constant(b, 0)) return b;
    return ir::binary(ir::BinaryOp::mul, a, b, a->span);
}

ir::ExprPtr Place::count() const { return product(shape, 0); }

void Place::slice(const ir::ExprPtr& first, ir::ExprPtr extent) {
    assert(!shape.empty());
    offset = plus(offset, times(first, product(shape, 1)));
    shape.front() = std::move(extent);
}

void Place::index(const ir::ExprPtr& position) {
    assert(!shape.empty());
    offset = plus(offset, times(position, product(shape, 1)));
    shape.erase(shape.begin());
}

}  // namespace peal::language
