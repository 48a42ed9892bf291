// SPDX-License-Identifier: Apache-2.0
// Expressions.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "language/parser.hpp"
#include "peal/ops.hpp"

namespace peal::language {
namespace {

using namespace syntax;
using Kind = Token::Kind;

int deepest(const std::vector<ExprPtr>& exprs) {
    int depth = 0;
    for (const ExprPtr& expr : exprs) depth = std::max(depth, expr->depth);
    return depth;
}

int deepest(const std::vector<Argument>& arguments) {
    int depth = 0;
    for (const Argument& argument : arguments) depth = std::max(depth, argument.value->depth);
    return depth;
}

}  // namespace

// Operands and operators that bind at least as tightly as `loosest`.
ExprPtr Parser::expr(Precedence loosest) {
    const Nested nested(*this);
    const Span start = cursor_.peek().span;
    ExprPtr left = prefix(loosest);
    while (const auto op = infix_at(cursor_.peek())) {
        const Precedence precedence = precedence_of(*op);
        if (precedence < loosest) break;
        cursor_.take();
        ExprPtr right = expr(tighter(precedence));
        const int depth = std::max(left->depth, right->depth);
        left = make(Binary{*op, std::move(left), std::move(right)}, start, depth);
        if (precedence == Precedence::compare) reject_chain();
    }
    return left;
}

void Parser::reject_chain() {
    const auto next = infix_at(cursor_.peek());
    if (next && precedence_of(*next) == Precedence::compare) {
        report_.fail(cursor_.peek().span, "comparisons do not chain",
                     "join two comparisons with 'and'");
    }
}

ExprPtr Parser::prefix(Precedence loosest) {
    const Span start = cursor_.peek().span;
    if (cursor_.peek().first_on_line && cursor_.peek().is_name() && cursor_.peek(1).is("=")) {
        cursor_.fail_expected("a value", "another statement begins here");
    }
    if (cursor_.at("-")) return negated();
    if (!cursor_.at("not")) return postfix();
    if (loosest > Precedence::logical_not) {
        cursor_.fail_expected("a value", "put parentheses around 'not ...'");
    }
    cursor_.take();
    ExprPtr operand = expr(Precedence::logical_not);
    const int depth = operand->depth;
    return make(Unary{ir::UnaryOp::logical_not, std::move(operand)}, start, depth);
}

// A minus before a number is part of the number; -(5) is the operator.
ExprPtr Parser::negated() {
    const Nested nested(*this);
    const Span start = cursor_.take().span;
    const Token& next = cursor_.peek();
    if (next.kind == Kind::integer || next.kind == Kind::real || next.is("inf") || next.is("nan")) {
        ExprPtr literal = number(true);
        literal->span = join(start, literal->span);
        return literal;
    }
    ExprPtr operand = prefix(Precedence::negate);
    const int depth = operand->depth;
    return make(Unary{ir::UnaryOp::neg, std::move(operand)}, start, depth);
}

ExprPtr Parser::number(bool negative) {
    const Token& token = cursor_.take();
    if (token.kind == Kind::integer) {
        constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
        if (token.integer > kLargest && !negative) {
            report_.fail(token.span,
                         fmt::format("the integer {} does not fit in 64 bits", token.text));
        }
        const std::uint64_t bits = negative ? std::uint64_t{0} - token.integer : token.integer;
        return make(Integer{static_cast<std::int64_t>(bits)}, token.span);
    }
    double value = token.real;
    if (token.is("inf")) value = std::numeric_limits<double>::infinity();
    if (token.is("nan")) value = std::numeric_limits<double>::quiet_NaN();
    return make(Real{negative ? -value : value}, token.span);
}

// atom, then @rank and brackets in any order
ExprPtr Parser::postfix() {
    ExprPtr result = atom();
    while (true) {
        if (cursor_.at("@")) {
            result = at_rank(std::move(result));
        } else if (cursor_.at("[")) {
            result = brackets(std::move(result));
        } else {
            return result;
        }
    }
}

ExprPtr Parser::at_rank(ExprPtr base) {
    cursor_.take();
    const Token& token = cursor_.peek();
    const Span start = base->span;
    ExprPtr rank;
    if (token.is("(")) {
        rank = parenthesised();
    } else if (token.is_name()) {
        rank = make(Name{std::string(token.text)}, cursor_.take().span);
    } else if (token.is("rank") || token.kind == Kind::integer) {
        rank = atom();
    } else {
        cursor_.fail_expected("a rank after '@'",
                              "a number, a name, rank, or an expression in parentheses");
    }
    const int depth = std::max(base->depth, rank->depth);
    return make(At{std::move(base), std::move(rank)}, start, depth);
}

ExprPtr Parser::brackets(ExprPtr base) {
    cursor_.take();
    const Span start = base->span;
    std::vector<ExprPtr> indices = expr_list();
    int depth = std::max(base->depth, deepest(indices));
    if (indices.size() == 1 && cursor_.accept(";")) {
        ExprPtr extent = expr();
        cursor_.expect("]");
        depth = std::max(depth, extent->depth);
        return make(Slice{std::move(base), std::move(indices.front()), std::move(extent)}, start,
                    depth);
    }
    if (!cursor_.at("]")) {
        cursor_.fail_expected("';' or ']'", "a slice is written [offset; extent]");
    }
    cursor_.take();
    return make(Index{std::move(base), std::move(indices)}, start, depth);
}

ExprPtr Parser::atom() {
    const Token& token = cursor_.peek();
    if (token.kind == Kind::integer || token.kind == Kind::real) return number(false);
    if (token.is("(")) return parenthesised();
    if (token.kind == Kind::word) return word_atom();
    cursor_.fail_expected("a value");
}

ExprPtr Parser::word_atom() {
    const Token& token = cursor_.peek();
    if (token.is_name()) return name_or_call();
    if (token.is("rank")) return make(Rank{}, cursor_.take().span);
    if (token.is("nranks")) return make(Nranks{}, cursor_.take().span);
    if (token.is("lane")) return make(Lane{}, cursor_.take().span);
    if (token.is("nlanes")) return make(Nlanes{}, cursor_.take().span);
    if (token.is("inf") || token.is("nan")) return number(false);
    if (token.is("generation") || token.is("epoch")) return generation();
    if (token.is("log2")) return log2();
    if (token.is("sum")) return fold(ir::FoldOp::sum);
    if (token.is("min")) return min_or_max(ir::BinaryOp::min);
    if (token.is("max")) {
        const bool over_range = cursor_.peek(2).kind == Kind::word && cursor_.peek(3).is("in");
        return over_range ? fold(ir::FoldOp::max) : min_or_max(ir::BinaryOp::max);
    }
    cursor_.fail_expected(
        "a value", token.is("peers") ? "peers is what a loop runs over: for p in peers" : "");
}

ExprPtr Parser::parenthesised() {
    const Nested nested(*this);
    cursor_.expect("(");
    ExprPtr inner = expr();
    cursor_.expect(")");
    return inner;
}

// NAME | NAME '(' arguments ')' | NAME '.' WORD ... '(' arguments ')'
ExprPtr Parser::name_or_call() {
    const Token& first = cursor_.take();
    Identifier name{std::string(first.text), first.span};
    const bool dotted = cursor_.at(".");
    while (cursor_.accept(".")) {
        if (cursor_.peek().kind != Kind::word) cursor_.fail_expected("the rest of the op's name");
        name.text += fmt::format(".{}", cursor_.take().text);
    }
    name.span = join(name.span, cursor_.last_span());
    if (dotted && !cursor_.at("(")) cursor_.fail_expected("'('", "a dotted name is an op to call");
    if (cursor_.at("(")) return call(std::move(name), dotted);
    const Span span = name.span;
    return make(Name{std::move(name.text)}, span);
}

ExprPtr Parser::call(Identifier callee, bool is_op) {
    const Span start = callee.span;
    cursor_.expect("(");
    std::vector<Argument> arguments;
    while (!cursor_.at(")")) {
        arguments.push_back(argument());
        if (!cursor_.accept(",") && !cursor_.at(")")) cursor_.fail_expected("',' or ')'");
    }
    cursor_.expect(")");
    const int depth = deepest(arguments);
    return make(Call{std::move(callee), is_op, std::move(arguments)}, start, depth);
}

// value | name=value, where the value may be any word: op=max
Argument Parser::argument() {
    Argument argument;
    if (cursor_.peek().kind == Kind::word && cursor_.peek(1).is("=")) {
        const Token& name = cursor_.take();
        argument.name = Identifier{std::string(name.text), name.span};
        cursor_.take();
        const Token& word = cursor_.peek();
        const bool alone = cursor_.peek(1).is(",") || cursor_.peek(1).is(")");
        const bool has_value = word.is("rank") || word.is("nranks") || word.is("lane") ||
                               word.is("nlanes") || word.is("inf") || word.is("nan");
        if (word.kind == Kind::word && alone && !has_value) {
            argument.value = make(Name{std::string(word.text)}, cursor_.take().span);
            return argument;
        }
    }
    argument.value = expr();
    return argument;
}

ExprPtr Parser::generation() {
    const Span start = cursor_.take().span;
    return call({std::string(ir::ops::kGeneration), start}, true);
}

ExprPtr Parser::log2() {
    const Span start = cursor_.take().span;
    cursor_.expect("(");
    ExprPtr operand = expr();
    cursor_.expect(")");
    const int depth = operand->depth;
    return make(Unary{ir::UnaryOp::log2, std::move(operand)}, start, depth);
}

ExprPtr Parser::min_or_max(ir::BinaryOp op) {
    const Span start = cursor_.take().span;
    cursor_.expect("(");
    ExprPtr left = expr();
    cursor_.expect(",");
    ExprPtr right = expr();
    cursor_.expect(")");
    const int depth = std::max(left->depth, right->depth);
    return make(Binary{op, std::move(left), std::move(right)}, start, depth);
}

// sum(k in a..b, body)
ExprPtr Parser::fold(ir::FoldOp op) {
    const Span start = cursor_.take().span;
    Fold fold{op, {}, {}, {}, {}};
    cursor_.expect("(");
    fold.counter = cursor_.expect_name("a counter, as in sum(k in 0..n, k)");
    cursor_.expect("in");
    fold.lo = expr();
    cursor_.expect("..");
    fold.hi = expr();
    cursor_.expect(",");
    fold.body = expr();
    cursor_.expect(")");
    const int depth = std::max({fold.lo->depth, fold.hi->depth, fold.body->depth});
    return make(std::move(fold), start, depth);
}

std::vector<ExprPtr> Parser::expr_list() {
    std::vector<ExprPtr> exprs;
    do {
        exprs.push_back(expr());
    } while (cursor_.accept(","));
    return exprs;
}

}  // namespace peal::language
