// SPDX-License-Identifier: Apache-2.0
#include "language/expressions.hpp"

#include <utility>

#include <fmt/format.h>

#include "ir/describe.hpp"
#include "language/names.hpp"
#include "language/precedence.hpp"

namespace peal::language {
namespace {

using ir::BinaryOp;
using ir::Type;

constexpr const char* kNoDataFlow =
    "what a kernel does cannot depend on data: it is decided before any is there";

bool is_tile(const ir::ExprPtr& expr) { return ir::type_of(*expr).kind == Type::Kind::tile; }
bool is_number(const ir::ExprPtr& expr) { return ir::type_of(*expr).kind == Type::Kind::scalar; }

bool is_logic(BinaryOp op) { return op == BinaryOp::logical_and || op == BinaryOp::logical_or; }

bool is_comparison(BinaryOp op) { return precedence_of(op) == Precedence::compare; }

std::string_view tile_op(BinaryOp op) {
    switch (op) {
        case BinaryOp::add: return ir::ops::kTileAdd;
        case BinaryOp::mul: return ir::ops::kTileMul;
        case BinaryOp::min: return ir::ops::kTileMin;
        case BinaryOp::max: return ir::ops::kTileMax;
        default: return {};
    }
}

std::string_view tile_scalar_op(BinaryOp op) {
    switch (op) {
        case BinaryOp::add: return ir::ops::kTileAddScalar;
        case BinaryOp::mul: return ir::ops::kTileMulScalar;
        default: return {};
    }
}

}  // namespace

ir::ExprPtr Expressions::value(const syntax::Expr& expr) {
    if (is_memory(expr)) return load(place(expr));
    if (is_table(expr)) return table_element(expr);
    return std::visit([&](const auto& node) { return resolve(node, expr.span); }, expr.node);
}

ir::ExprPtr Expressions::integer(const syntax::Expr& expr) {
    if (is_memory(expr)) {
        report_.fail(expr.span,
                     fmt::format("expected an integer, found memory ('{}')", root_name(expr)->text),
                     kNoDataFlow);
    }
    ir::ExprPtr result = value(expr);
    if (!ir::type_of(*result).is_integer()) fail_found(expr.span, "an integer", result);
    return result;
}

ir::ExprPtr Expressions::condition(const syntax::Expr& expr) {
    ir::ExprPtr result = value(expr);
    if (ir::type_of(*result).kind != Type::Kind::boolean) {
        fail_found(expr.span, "a condition", result, "compare, as in x != 0");
    }
    return result;
}

ir::ExprPtr Expressions::tile(const syntax::Expr& expr) {
    ir::ExprPtr result = value(expr);
    if (is_tile(result)) return result;
    fail_found(expr.span, "a tile or memory", result,
               is_number(result)
                   ? "tile.full(number, count, element=f32) makes a tile of one number"
                   : "");
}

Entity& Expressions::entity(const std::string& name, const Span& span) {
    Entity* found = scope_.find(name);
    if (found && found->kind == Entity::Kind::broken) throw Abandoned{};
    if (found) return *found;
    std::string hint = did_you_mean(name, scope_.visible());
    if (const auto ended = scope_.ended(name)) {
        hint = fmt::format(
            "the '{}' of line {} ends with its block; define it before the block to use it after",
            name, ended->line);
    }
    report_.fail(span, fmt::format("'{}' is not defined", name), std::move(hint));
}

ir::ExprPtr Expressions::resolve(const syntax::Integer& node, const Span& span) {
    return ir::integer(node.value, span);
}

ir::ExprPtr Expressions::resolve(const syntax::Real& node, const Span& span) {
    return ir::floating(node.value, span);
}

ir::ExprPtr Expressions::resolve(const syntax::Name& node, const Span& span) {
    const Entity& found = entity(node.text, span);
    return ir::variable(found.var->name, found.var->type, span);
}

ir::ExprPtr Expressions::resolve(const syntax::Rank&, const Span& span) { return ir::rank(span); }

ir::ExprPtr Expressions::resolve(const syntax::Nranks&, const Span& span) {
    return ir::nranks(span);
}

ir::ExprPtr Expressions::resolve(const syntax::Lane&, const Span& span) { return ir::lane(span); }

ir::ExprPtr Expressions::resolve(const syntax::Nlanes&, const Span& span) {
    return ir::nlanes(span);
}

ir::ExprPtr Expressions::resolve(const syntax::Unary& node, const Span& span) {
    ir::ExprPtr operand =
        node.op == ir::UnaryOp::logical_not ? condition(*node.operand) : integer(*node.operand);
    return ir::unary(node.op, std::move(operand), span);
}

ir::ExprPtr Expressions::resolve(const syntax::Binary& node, const Span& span) {
    if (is_logic(node.op)) {
        ir::ExprPtr left = condition(*node.lhs);
        return ir::binary(node.op, std::move(left), condition(*node.rhs), span);
    }
    ir::ExprPtr left = value(*node.lhs);
    ir::ExprPtr right = value(*node.rhs);
    if (is_tile(left) || is_tile(right)) {
        return combine_tiles(node.op, std::move(left), std::move(right), span);
    }
    for (const ir::ExprPtr& side : {left, right}) {
        if (ir::type_of(*side).is_integer()) continue;
        report_.fail(side->span,
                     fmt::format("'{}' takes integers or tiles, found {}", ir::name(node.op),
                                 ir::describe(ir::type_of(*side))),
                     is_number(side) ? "a floating scalar combines with a tile only" : "");
    }
    return ir::binary(node.op, std::move(left), std::move(right), span);
}

ir::ExprPtr Expressions::combine_tiles(BinaryOp op, ir::ExprPtr left, ir::ExprPtr right,
                                       const Span& span) {
    if (!is_tile(left)) std::swap(left, right);  // what tiles have commutes
    const std::string_view chosen = is_tile(right)     ? tile_op(op)
                                    : is_number(right) ? tile_scalar_op(op)
                                                       : std::string_view{};
    if (chosen.empty()) {
        report_.fail(
            span,
            fmt::format("'{}' does not work on {} and {}", ir::name(op),
                        ir::describe(ir::type_of(*left)), ir::describe(ir::type_of(*right))),
            is_comparison(op) ? kNoDataFlow
                              : "two tiles have + * min max, a tile and a number have + *");
    }
    return make(chosen, {std::move(left), std::move(right)}, {}, span);
}

ir::ExprPtr Expressions::resolve(const syntax::Fold& node, const Span& span) {
    ir::ExprPtr lo = integer(*node.lo);
    ir::ExprPtr hi = integer(*node.hi);
    if (const Entity* hidden = scope_.find(node.counter.text)) {
        report_.fail(
            node.counter.span,
            fmt::format("'{}' is already defined (line {})", node.counter.text, hidden->span.line),
            "a counter needs a name of its own");
    }
    const ir::VarPtr counter = ir::variable(node.counter.text, ir::index_type(), node.counter.span);
    scope_.open();
    scope_.define(node.counter.text, {Entity::Kind::counter, counter, node.counter.span});
    ir::ExprPtr body;
    try {
        body = integer(*node.body);
    } catch (const Abandoned&) {
        scope_.close();
        throw;
    }
    scope_.close();
    return ir::fold(node.op, counter, std::move(lo), std::move(hi), std::move(body), span);
}

ir::ExprPtr Expressions::resolve(const syntax::Call& node, const Span& span) {
    if (!node.is_op) {
        report_.fail(span, fmt::format("'{}' gives no value", node.callee.text),
                     "a kernel is called as a statement; a collective is assigned to memory: "
                     "data = allreduce(data, sig)");
    }
    ir::CallPtr call = op_call(node, span);
    if (call->type.kind == Type::Kind::none) {
        report_.fail(span, fmt::format("{} gives no value", call->op), "write it as a statement");
    }
    return call;
}

void Expressions::fail_found(const Span& span, std::string_view expected, const ir::ExprPtr& found,
                             std::string hint) {
    report_.fail(span,
                 fmt::format("expected {}, found {}", expected, ir::describe(ir::type_of(*found))),
                 std::move(hint));
}

}  // namespace peal::language
