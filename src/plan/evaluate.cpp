// SPDX-License-Identifier: Apache-2.0
#include "plan/evaluate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/arithmetic.hpp"

namespace peal::plan {
namespace {

using ir::BinaryOp;

std::string_view describe(const KernelValue& value) {
    static constexpr std::string_view kNames[] = {
        "nothing", "an integer", "a floating scalar", "a boolean", "a tile", "a buffer", "a table"};
    return kNames[value.index()];
}

}  // namespace

Diagnostic Evaluator::trouble(Span span, const std::string& message, std::string hint) const {
    Diagnostic diagnostic;
    diagnostic.span = span.line != 0 ? span : statement_;
    diagnostic.message = fmt::format("{} ({})", message, who());
    diagnostic.hint = std::move(hint);
    return diagnostic;
}

void Evaluator::fail(Span span, const std::string& message, std::string hint) const {
    throw ProgramError({trouble(span, message, std::move(hint))}, source_);
}

void Evaluator::fail_relative(Span span, std::uint16_t signal) const {
    fail(span,
         fmt::format("expected a plain integer, found one relative to generation({})",
                     signal_name(signal)),
         "such a value can be added, subtracted, multiplied by a constant, and given to notify and "
         "wait on the same signal");
}

const KernelValue& Evaluator::lookup(const Expression& var) const {
    const KernelValue& value = variables_[var.slot].value;
    if (std::holds_alternative<std::monostate>(value)) {
        fail(var.span(),
             fmt::format("'{}' has no value here", static_cast<const ir::Var&>(*var.origin).name));
    }
    return value;
}

KernelValue Evaluator::evaluate(const Expression& expr) {
    if (expr.memo != kNoMemo) return remembered(expr);
    switch (expr.kind) {
        case ir::ExprKind::int_const: return AffineInteger{expr.integer, 0, 0};
        case ir::ExprKind::float_const: return expr.number;
        case ir::ExprKind::var: return lookup(expr);
        case ir::ExprKind::unary: return unary(expr);
        case ir::ExprKind::binary: return binary(expr);
        case ir::ExprKind::table_at: return table_at(expr);
        case ir::ExprKind::fold: return fold(expr);
        case ir::ExprKind::call: return call(expr);
    }
    return {};
}

void Evaluator::fail_kind(const Expression& expr, std::string_view expected,
                          const KernelValue& found) const {
    fail(expr.span(), fmt::format("expected {}, found {}", expected, describe(found)));
}

template <class Kind>
Kind Evaluator::expect(const Expression& expr, std::string_view expected) {
    const KernelValue value = evaluate(expr);
    if (const auto* found = std::get_if<Kind>(&value)) return *found;
    fail_kind(expr, expected, value);
}

// Most of what a kernel computes are integers: constants, variables and arithmetic do without the
// detour over a KernelValue.
AffineInteger Evaluator::affine(const Expression& expr) {
    if (expr.kind == ir::ExprKind::int_const) return {expr.integer, 0, 0};
    if (expr.kind == ir::ExprKind::var) {
        const KernelValue& value = variables_[expr.slot].value;
        if (const auto* found = std::get_if<AffineInteger>(&value)) return *found;
    }
    if (expr.memo != kNoMemo) return remembered(expr);
    if (expr.kind == ir::ExprKind::binary && is_arithmetic(expr.binary)) return arithmetic(expr);
    return expect<AffineInteger>(expr, "an integer");
}

AffineInteger Evaluator::remembered(const Expression& expr) {
    if (results_[expr.memo].at < variables_[expr.newest].since) {
        const AffineInteger value = worked_out(expr);
        results_[expr.memo] = {value, clock_};
    }
    return results_[expr.memo].value;
}

AffineInteger Evaluator::worked_out(const Expression& expr) {
    switch (expr.kind) {
        case ir::ExprKind::unary: return log2(expr);
        case ir::ExprKind::table_at: return table_at(expr);
        case ir::ExprKind::fold: return fold(expr);
        default: return arithmetic(expr);
    }
}

std::int64_t Evaluator::integer(const Expression& expr) {
    const AffineInteger value = affine(expr);
    if (!value.is_plain()) fail_relative(expr.span(), value.signal);
    return value.constant;
}

bool Evaluator::truth(const Expression& expr) { return expect<bool>(expr, "a boolean"); }

TileValue Evaluator::tile(const Expression& expr) { return expect<TileValue>(expr, "a tile"); }

std::uint16_t Evaluator::buffer(const Expression& expr) {
    return expect<BufferValue>(expr, "a buffer").index;
}

KernelValue Evaluator::unary(const Expression& expr) {
    switch (expr.unary) {
        case ir::UnaryOp::logical_not: return !truth(*expr.operands[0]);
        case ir::UnaryOp::log2: return log2(expr);
        case ir::UnaryOp::neg: return negative(expr);
    }
    return {};
}

AffineInteger Evaluator::log2(const Expression& expr) {
    const std::int64_t operand = integer(*expr.operands[0]);
    const Checked result = floor_log2(operand);
    if (!result.problem.empty()) {
        fail(expr.span(), fmt::format("log2({}): {}", operand, result.problem));
    }
    return {result.value, 0, 0};
}

KernelValue Evaluator::negative(const Expression& expr) {
    const KernelValue operand = evaluate(*expr.operands[0]);
    if (const auto* number = std::get_if<double>(&operand)) return -*number;
    const auto* integer = std::get_if<AffineInteger>(&operand);
    if (!integer) fail_kind(*expr.operands[0], "a number", operand);
    return combine(expr.span(), BinaryOp::sub, {}, *integer);
}

KernelValue Evaluator::binary(const Expression& expr) {
    const Expression& lhs = *expr.operands[0];
    const Expression& rhs = *expr.operands[1];
    if (is_arithmetic(expr.binary)) return arithmetic(expr);
    if (expr.binary == BinaryOp::logical_and) return truth(lhs) && truth(rhs);
    if (expr.binary == BinaryOp::logical_or) return truth(lhs) || truth(rhs);
    const std::int64_t left = integer(lhs);
    return compare(expr.binary, left, integer(rhs));
}

AffineInteger Evaluator::arithmetic(const Expression& expr) {
    const AffineInteger a = affine(*expr.operands[0]);
    const AffineInteger b = affine(*expr.operands[1]);
    if (a.is_plain() && b.is_plain()) {
        const Checked result = apply(expr.binary, a.constant, b.constant);
        if (result.problem.empty()) return {result.value, 0, 0};
    }
    return combine(expr.span(), expr.binary, a, b);
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

AffineInteger Evaluator::fold(const Expression& expr) {
    const std::int64_t lo = integer(*expr.operands[0]);
    const std::int64_t hi = integer(*expr.operands[1]);
    const BinaryOp op = expr.fold == ir::FoldOp::sum ? BinaryOp::add : BinaryOp::max;
    std::int64_t total = 0;
    for (std::int64_t i = lo; i < hi; ++i) {
        count_round(expr.span());
        define(expr.slot, AffineInteger{i, 0, 0});
        const std::int64_t term = integer(*expr.operands[2]);
        total = i == lo ? term : checked(expr.span(), op, total, term);
    }
    return {total, 0, 0};
}

AffineInteger Evaluator::table_at(const Expression& expr) {
    const Table& table = *expect<TableValue>(*expr.operands[0], "a table");
    bool inside = expr.operands.size() == table.shape.size() + 1;
    std::int64_t flat = 0;
    for (std::size_t d = 0; inside && d < table.shape.size(); ++d) {
        const std::int64_t index = integer(*expr.operands[d + 1]);
        inside = index >= 0 && index < table.shape[d];
        flat = flat * table.shape[d] + index;
    }
    if (!inside) fail_entry(expr, table);
    return {table.numbers[static_cast<std::size_t>(flat)], 0, 0};
}

void Evaluator::fail_entry(const Expression& expr, const Table& table) {
    std::vector<std::int64_t> indices;
    for (std::size_t i = 1; i < expr.operands.size(); ++i) {
        indices.push_back(integer(*expr.operands[i]));
    }
    fail(expr.span(), fmt::format("there is no entry [{}] in a table of shape [{}]",
                                  fmt::join(indices, ", "), fmt::join(table.shape, ", ")));
}

}  // namespace peal::plan
