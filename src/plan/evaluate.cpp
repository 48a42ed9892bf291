// SPDX-License-Identifier: Apache-2.0
#include "plan/evaluate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/fields.hpp"
#include "plan/arithmetic.hpp"

namespace peal {
namespace {

using ir::BinaryOp;

std::string_view describe(const KernelValue& value) {
    static constexpr std::string_view kNames[] = {
        "nothing", "an integer", "a floating scalar", "a boolean", "a tile", "a buffer", "a table"};
    return kNames[value.index()];
}

}  // namespace

void Evaluator::define(std::string_view variable, KernelValue value) {
    variables_.insert_or_assign(variable, std::move(value));
}

void Evaluator::fail(Span span, std::string message, std::string hint) const {
    Diagnostic diagnostic;
    diagnostic.span = span.line != 0 ? span : statement_;
    diagnostic.message = fmt::format("{} ({})", message, who_);
    diagnostic.hint = std::move(hint);
    throw ProgramError({std::move(diagnostic)}, source_);
}

void Evaluator::fail_relative(Span span, std::uint16_t signal) const {
    fail(span,
         fmt::format("expected a plain integer, found one relative to epoch({})",
                     signal_name(signal)),
         "such a value can be added, subtracted, multiplied by a constant, and given to notify and "
         "wait on the same signal");
}

const KernelValue& Evaluator::lookup(const ir::Var& var) const {
    const auto it = variables_.find(var.name);
    if (it == variables_.end()) fail(var.span, fmt::format("'{}' has no value here", var.name));
    return it->second;
}

KernelValue Evaluator::evaluate(const ir::Expr& expr) {
    switch (expr.kind) {
        case ir::ExprKind::int_const:
            return AffineInteger{static_cast<const ir::IntConst&>(expr).value, 0, 0};
        case ir::ExprKind::float_const: return static_cast<const ir::FloatConst&>(expr).value;
        case ir::ExprKind::var: return lookup(static_cast<const ir::Var&>(expr));
        case ir::ExprKind::unary: return unary(static_cast<const ir::Unary&>(expr));
        case ir::ExprKind::binary: return binary(static_cast<const ir::Binary&>(expr));
        case ir::ExprKind::table_at: return table_at(static_cast<const ir::TableAt&>(expr));
        case ir::ExprKind::fold: return fold(static_cast<const ir::Fold&>(expr));
        case ir::ExprKind::call: return call(static_cast<const ir::Call&>(expr));
    }
    return {};
}

void Evaluator::fail_kind(const ir::Expr& expr, std::string_view expected,
                          const KernelValue& found) const {
    fail(expr.span, fmt::format("expected {}, found {}", expected, describe(found)));
}

template <class Kind>
Kind Evaluator::expect(const ir::Expr& expr, std::string_view expected) {
    const KernelValue value = evaluate(expr);
    if (const auto* found = std::get_if<Kind>(&value)) return *found;
    fail_kind(expr, expected, value);
}

AffineInteger Evaluator::affine(const ir::Expr& expr) {
    return expect<AffineInteger>(expr, "an integer");
}

std::int64_t Evaluator::plain(const KernelValue& value, const ir::Expr& expr) const {
    const auto* integer = std::get_if<AffineInteger>(&value);
    if (!integer) fail_kind(expr, "an integer", value);
    if (!integer->is_plain()) fail_relative(expr.span, integer->signal);
    return integer->constant;
}

std::int64_t Evaluator::integer(const ir::Expr& expr) { return plain(evaluate(expr), expr); }

bool Evaluator::truth(const ir::Expr& expr) { return expect<bool>(expr, "a boolean"); }

TileValue Evaluator::tile(const ir::Expr& expr) { return expect<TileValue>(expr, "a tile"); }

std::uint16_t Evaluator::buffer(const ir::Expr& expr) {
    return expect<BufferValue>(expr, "a buffer").index;
}

KernelValue Evaluator::unary(const ir::Unary& expr) {
    switch (expr.op) {
        case ir::UnaryOp::logical_not: return !truth(*expr.operand);
        case ir::UnaryOp::log2: return log2(expr);
        case ir::UnaryOp::neg: return negative(expr);
    }
    return {};
}

KernelValue Evaluator::log2(const ir::Unary& expr) {
    const std::int64_t operand = integer(*expr.operand);
    const Checked result = floor_log2(operand);
    if (!result.problem.empty()) {
        fail(expr.span, fmt::format("log2({}): {}", operand, result.problem));
    }
    return AffineInteger{result.value, 0, 0};
}

KernelValue Evaluator::negative(const ir::Unary& expr) {
    const KernelValue operand = evaluate(*expr.operand);
    if (const auto* number = std::get_if<double>(&operand)) return -*number;
    const auto* integer = std::get_if<AffineInteger>(&operand);
    if (!integer) fail_kind(*expr.operand, "a number", operand);
    return combine(expr.span, BinaryOp::sub, {}, *integer);
}

KernelValue Evaluator::binary(const ir::Binary& expr) {
    if (expr.op == BinaryOp::logical_and) return truth(*expr.lhs) && truth(*expr.rhs);
    if (expr.op == BinaryOp::logical_or) return truth(*expr.lhs) || truth(*expr.rhs);
    if (is_comparison(expr.op)) {
        const std::int64_t left = integer(*expr.lhs);
        return compare(expr.op, left, integer(*expr.rhs));
    }
    return arithmetic(expr);
}

KernelValue Evaluator::arithmetic(const ir::Binary& expr) {
    const AffineInteger a = affine(*expr.lhs);
    return combine(expr.span, expr.op, a, affine(*expr.rhs));
}

std::int64_t Evaluator::checked(Span span, BinaryOp op, std::int64_t a, std::int64_t b) const {
    const Checked result = apply(op, a, b);
    if (!result.problem.empty()) {
        fail(span, fmt::format("{} {} {}: {}", a, name(op), b, result.problem));
    }
    return result.value;
}

// Relative values go through + and - with values of the same signal and through * with plain ones.
AffineInteger Evaluator::combine(Span span, BinaryOp op, const AffineInteger& a,
                                 const AffineInteger& b) const {
    if (a.is_plain() && b.is_plain()) return {checked(span, op, a.constant, b.constant), 0, 0};
    const std::uint16_t signal = a.is_plain() ? b.signal : a.signal;
    if (op == BinaryOp::mul && (a.is_plain() || b.is_plain())) {
        const AffineInteger& relative = a.is_plain() ? b : a;
        const std::int64_t factor = a.is_plain() ? a.constant : b.constant;
        return {checked(span, op, relative.constant, factor),
                checked(span, op, relative.per_generation, factor), signal};
    }
    const bool is_sum = op == BinaryOp::add || op == BinaryOp::sub;
    const bool same_signal = a.is_plain() || b.is_plain() || a.signal == b.signal;
    if (!is_sum || !same_signal) fail_relative(span, signal);
    return {checked(span, op, a.constant, b.constant),
            checked(span, op, a.per_generation, b.per_generation), signal};
}

KernelValue Evaluator::fold(const ir::Fold& expr) {
    const std::int64_t lo = integer(*expr.lo);
    const std::int64_t hi = integer(*expr.hi);
    const BinaryOp op = expr.op == ir::FoldOp::sum ? BinaryOp::add : BinaryOp::max;
    std::int64_t total = 0;
    for (std::int64_t i = lo; i < hi; ++i) {
        count_round(expr.span);
        define(expr.var->name, AffineInteger{i, 0, 0});
        const std::int64_t term = integer(*expr.body);
        total = i == lo ? term : checked(expr.span, op, total, term);
    }
    return AffineInteger{total, 0, 0};
}

KernelValue Evaluator::table_at(const ir::TableAt& expr) {
    const Table& table = *expect<TableValue>(*expr.table, "a table");
    std::vector<std::int64_t> indices;
    for (const ir::ExprPtr& index : expr.indices) indices.push_back(integer(*index));
    bool inside = indices.size() == table.shape.size();
    std::int64_t flat = 0;
    for (std::size_t d = 0; inside && d < indices.size(); ++d) {
        inside = indices[d] >= 0 && indices[d] < table.shape[d];
        flat = flat * table.shape[d] + indices[d];
    }
    if (!inside) {
        fail(expr.span, fmt::format("there is no entry [{}] in a table of shape [{}]",
                                    fmt::join(indices, ", "), fmt::join(table.shape, ", ")));
    }
    return AffineInteger{table.numbers[static_cast<std::size_t>(flat)], 0, 0};
}

}  // namespace peal
