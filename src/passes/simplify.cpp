// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.hpp"

#include <algorithm>
#include <limits>

#include "ir/fields.hpp"
#include "passes/rewrite.hpp"

namespace peal::passes {

using namespace ir;  // NOLINT: passes are about the IR

namespace {

std::optional<std::int64_t> constant(const ExprPtr& expr) {
    const auto* node = as<IntConst>(expr);
    return node ? std::optional(node->value) : std::nullopt;
}

bool is(const ExprPtr& expr, std::int64_t value) { return constant(expr) == value; }

std::optional<std::int64_t> fold_arithmetic(BinaryOp op, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    switch (op) {
        case BinaryOp::add:
            return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
        case BinaryOp::sub:
            return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
        case BinaryOp::mul:
            return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
        case BinaryOp::min: return std::min(a, b);
        case BinaryOp::max: return std::max(a, b);
        // Only where all conventions of rounding agree; the rest is for the specialiser.
        case BinaryOp::div: return a >= 0 && b > 0 ? std::optional(a / b) : std::nullopt;
        case BinaryOp::mod: return a >= 0 && b > 0 ? std::optional(a % b) : std::nullopt;
        case BinaryOp::bit_xor: return a ^ b;
        default: return std::nullopt;
    }
}

// a op b where one side is a neutral or absorbing constant; null when nothing applies.
ExprPtr fold_identity(const Binary& expr) {
    const auto& [a, b] = std::pair(expr.lhs, expr.rhs);
    switch (expr.op) {
        case BinaryOp::add: return is(a, 0) ? b : is(b, 0) ? a : nullptr;
        case BinaryOp::sub: return is(b, 0) ? a : nullptr;
        case BinaryOp::mul: return is(a, 1) ? b : is(b, 1) ? a : nullptr;
        case BinaryOp::div: return is(b, 1) ? a : nullptr;
        default: return nullptr;
    }
}

// (x + c) + d and the like become x + (c + d).
ExprPtr fold_nested_sum(const Binary& expr) {
    const auto outer = constant(expr.rhs);
    const auto* inner = as<Binary>(expr.lhs);
    const auto is_sum = [](BinaryOp op) { return op == BinaryOp::add || op == BinaryOp::sub; };
    if (!outer || !inner || !is_sum(expr.op) || !is_sum(inner->op)) return nullptr;
    const auto c = constant(inner->rhs);
    if (!c) return nullptr;
    const auto first = inner->op == BinaryOp::add ? c : fold_arithmetic(BinaryOp::sub, 0, *c);
    const auto total = first ? fold_arithmetic(expr.op, *first, *outer) : std::nullopt;
    if (!total || *total == std::numeric_limits<std::int64_t>::min()) return nullptr;
    if (*total == 0) return inner->lhs;
    return *total > 0 ? binary(BinaryOp::add, inner->lhs, integer(*total, expr.span), expr.span)
                      : binary(BinaryOp::sub, inner->lhs, integer(-*total, expr.span), expr.span);
}

ExprPtr simplify_node(const ExprPtr& expr) {
    const auto* node = as<Binary>(expr);
    if (!node) return expr;
    const auto a = constant(node->lhs);
    const auto b = constant(node->rhs);
    if (a && b) {
        if (const auto value = fold_arithmetic(node->op, *a, *b))
            return integer(*value, expr->span);
    }
    if (const ExprPtr same = fold_identity(*node)) return same;
    if (const ExprPtr sum = fold_nested_sum(*node)) return sum;
    return expr;
}

// Whether a condition is known to hold, or known not to.
std::optional<bool> truth(const ExprPtr& condition) {
    const auto* node = as<Binary>(condition);
    if (!node) return std::nullopt;
    if (node->op == BinaryOp::logical_and || node->op == BinaryOp::logical_or) {
        const bool decides = node->op == BinaryOp::logical_or;  // one side that is so settles it
        const auto a = truth(node->lhs);
        const auto b = truth(node->rhs);
        if (a == decides || b == decides) return decides;
        return a && b ? std::optional(!decides) : std::nullopt;
    }
    const auto compare = compare_from(name(node->op));
    const auto a = constant(node->lhs);
    const auto b = constant(node->rhs);
    if (compare && a && b) return compares(*a, *compare, *b);
    return std::nullopt;
}

std::vector<StmtPtr> taken_branch(const IfStmt& stmt, bool condition) {
    const Block& taken = condition ? stmt.then_block : stmt.else_block;
    std::vector<StmtPtr> stmts = taken.stmts;
    for (std::size_t i = 0; i < stmt.results.size(); ++i) {
        stmts.push_back(let(stmt.results[i], taken.yields[i], stmt.span));
    }
    return stmts;
}

std::vector<StmtPtr> loop_that_never_runs(const ForStmt& stmt) {
    std::vector<StmtPtr> stmts;
    for (const Carried& carried : stmt.carried) {
        stmts.push_back(let(carried.result, carried.init, stmt.span));
    }
    return stmts;
}

bool holds(const Call& require) {
    const ExprPtr left = operand(require, "left");
    const ExprPtr right = operand(require, "right");
    const Compare compare = *compare_from(word(require, "cmp"));
    const auto a = constant(left);
    const auto b = constant(right);
    if (a && b) return compares(*a, compare, *b);
    const bool reflexive =
        compare == Compare::eq || compare == Compare::ge || compare == Compare::le;
    return reflexive && equal(left, right);
}

std::optional<std::vector<StmtPtr>> simplify_stmt(const StmtPtr& stmt) {
    if (const auto* branch = as<IfStmt>(stmt)) {
        if (const auto condition = truth(branch->condition))
            return taken_branch(*branch, *condition);
        const bool empty = branch->results.empty() && branch->then_block.stmts.empty() &&
                           branch->else_block.stmts.empty();
        if (empty) return std::vector<StmtPtr>{};
    }
    if (const auto* loop = as<ForStmt>(stmt)) {
        const auto lo = constant(loop->lo);
        const auto hi = constant(loop->hi);
        if (lo && hi && *lo >= *hi) return loop_that_never_runs(*loop);
        if (loop->carried.empty() && loop->body.stmts.empty()) return std::vector<StmtPtr>{};
    }
    if (const auto* statement = as<Eval>(stmt)) {
        const auto* call = as<Call>(statement->call);
        if (call && call->op == ops::kRequire && holds(*call)) return std::vector<StmtPtr>{};
    }
    return std::nullopt;
}

}  // namespace

Program simplify(const Program& program) {
    return map_kernels(program, [](const Kernel& kernel) {
        Kernel result = rewrite_exprs(kernel, simplify_node);
        result.body = rewrite_block(result.body, simplify_stmt);
        return result;
    });
}

}  // namespace peal::passes
