// SPDX-License-Identifier: Apache-2.0
#include "plan/evaluate.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plan/arithmetic.hpp"
#include "plan/turns.hpp"

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
         "wait on the same signal; the rest of a division of it can be part of an offset");
}

void Evaluator::fail_cycle(Span span, std::uint16_t signal) const {
    fail(span,
         fmt::format("expected the same integer in every call, found one that goes by "
                     "generation({})",
                     signal_name(signal)),
         "such a value can be part of an offset in memory: all calls do the same, each in its "
         "place");
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

AffineInteger Evaluator::plain(const Expression& expr) {
    const AffineInteger value = affine(expr);
    if (value.cycle != 0) fail_cycle(expr.span(), value.signal);
    if (!value.is_plain()) fail_relative(expr.span(), value.signal);
    return value;
}

std::int64_t Evaluator::integer(const Expression& expr) {
    const AffineInteger value = plain(expr);
    if (value.step != 0) periods_.end();
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
    return combine(expr.span(), BinaryOp::sub, AffineInteger{}, *integer);
}

KernelValue Evaluator::binary(const Expression& expr) {
    const Expression& lhs = *expr.operands[0];
    const Expression& rhs = *expr.operands[1];
    if (is_arithmetic(expr.binary)) return arithmetic(expr);
    if (expr.binary == BinaryOp::logical_and) return truth(lhs) && truth(rhs);
    if (expr.binary == BinaryOp::logical_or) return truth(lhs) || truth(rhs);
    const AffineInteger left = plain(lhs);
    const AffineInteger right = plain(rhs);
    periods_.compare(expr.binary, left.in_periods(), right.in_periods());
    return compare(expr.binary, left.constant, right.constant);
}

AffineInteger Evaluator::arithmetic(const Expression& expr) {
    const AffineInteger a = affine(*expr.operands[0]);
    const AffineInteger b = affine(*expr.operands[1]);
    if (a.is_plain() && b.is_plain() && a.step == 0 && b.step == 0) {
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

AffineInteger Evaluator::combine(Span span, BinaryOp op, const AffineInteger& a,
                                 const AffineInteger& b) {
    if (a.is_plain() && b.is_plain()) {
        AffineInteger result{checked(span, op, a.constant, b.constant)};
        result.step = periods_.step(op, a.in_periods(), b.in_periods(), result.constant);
        return result;
    }
    if (a.cycle != 0 || b.cycle != 0) return combine_cycles(span, op, a, b);
    const bool by_number = b.is_plain() && b.constant > 0;
    if (op == BinaryOp::div && by_number) return quotient(span, a, b.constant);
    if (op == BinaryOp::mod && by_number) return remainder(span, a, b.constant);
    return combine_relative(span, op, a, b);
}

// Relative values go through + and - with values of the same signal and through * with plain ones.
AffineInteger Evaluator::combine_relative(Span span, BinaryOp op, const AffineInteger& a,
                                          const AffineInteger& b) {
    if (a.divisor != 1 || b.divisor != 1) fail_relative(span, a.is_plain() ? b.signal : a.signal);
    const std::uint16_t signal = a.is_plain() ? b.signal : a.signal;
    if (op == BinaryOp::mul && (a.is_plain() || b.is_plain())) {
        const AffineInteger& relative = a.is_plain() ? b : a;
        const std::int64_t factor = a.is_plain() ? a.constant : b.constant;
        AffineInteger result{checked(span, op, relative.constant, factor),
                             checked(span, op, relative.per_generation, factor), signal};
        if ((a.is_plain() ? a : b).step != 0) periods_.end();
        result.step = periods_.step(op, relative.in_periods(), {factor, 0}, result.constant);
        return result;
    }
    const bool is_sum = op == BinaryOp::add || op == BinaryOp::sub;
    const bool same_signal = a.is_plain() || b.is_plain() || a.signal == b.signal;
    if (!is_sum || !same_signal) fail_relative(span, signal);
    AffineInteger result{checked(span, op, a.constant, b.constant),
                         checked(span, op, a.per_generation, b.per_generation), signal};
    result.step = periods_.step(op, a.in_periods(), b.in_periods(), result.constant);
    return result;
}

// Nothing but the remainder can be taken of it, which then knows its step.
AffineInteger Evaluator::quotient(Span span, const AffineInteger& a, std::int64_t by) {
    const std::int64_t divisor = checked(span, BinaryOp::mul, a.divisor, by);
    require_length(span, static_cast<std::uint64_t>(divisor));
    AffineInteger result = a;
    result.divisor = static_cast<std::int32_t>(divisor);
    return result;
}

// (c + p g) / d % m is the same for g and g + d m.
AffineInteger Evaluator::remainder(Span span, const AffineInteger& a, std::int64_t by) {
    if (a.step != 0) periods_.end();
    const std::int64_t length = checked(span, BinaryOp::mul, a.divisor, by);
    require_length(span, static_cast<std::uint64_t>(length));
    Cycle values;
    for (std::int64_t g = 0; g < length; ++g) {
        const std::int64_t grown = checked(span, BinaryOp::mul, a.per_generation, g);
        const std::int64_t value = checked(span, BinaryOp::add, a.constant, grown);
        values.push_back(
            checked(span, BinaryOp::mod, checked(span, BinaryOp::div, value, a.divisor), by));
    }
    return cyclic(span, a.signal, std::move(values));
}

// Whatever is done to values of a cycle is done to each.
AffineInteger Evaluator::combine_cycles(Span span, BinaryOp op, const AffineInteger& a,
                                        const AffineInteger& b) {
    const std::uint16_t signal = a.cycle != 0 ? a.signal : b.signal;
    if (a.step != 0 || b.step != 0) periods_.end();
    for (const AffineInteger& each : {a, b}) {
        if (each.per_generation != 0) fail_relative(span, each.signal);
        if (each.cycle != 0 && each.signal != signal) {
            fail(span, fmt::format("a value that goes by generation({}) meets one that goes by "
                                   "generation({})",
                                   signal_name(signal), signal_name(each.signal)));
        }
    }
    const auto length_of = [&](const AffineInteger& value) {
        return value.cycle == 0 ? std::size_t{1} : cycle(value).size();
    };
    const std::size_t length = std::lcm(length_of(a), length_of(b));
    require_length(span, length);
    Cycle values;
    for (std::size_t g = 0; g < length; ++g) {
        values.push_back(checked(span, op, in_generation(a, g), in_generation(b, g)));
    }
    return cyclic(span, signal, std::move(values));
}

std::int64_t Evaluator::in_generation(const AffineInteger& value, std::size_t generation) const {
    if (value.cycle == 0) return value.constant;
    const Cycle& values = cycle(value);
    return values[generation % values.size()];
}

void Evaluator::require_length(Span span, std::uint64_t length) const {
    if (length <= kMaxTurns) return;
    fail(span, fmt::format("the value comes back after {} generations, at most {} are followed",
                           length, kMaxTurns));
}

AffineInteger Evaluator::cyclic(Span span, std::uint16_t signal, Cycle values) {
    if (std::equal(values.begin() + 1, values.end(), values.begin())) return {values.front()};
    const auto found = std::find(cycles_.begin(), cycles_.end(), values);
    const auto number = static_cast<std::size_t>(found - cycles_.begin()) + 1;
    if (number > std::numeric_limits<std::uint16_t>::max()) {
        fail(span, "too many places move with the generation");
    }
    if (found == cycles_.end()) cycles_.push_back(std::move(values));
    return {0, 0, signal, static_cast<std::uint16_t>(number)};
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
