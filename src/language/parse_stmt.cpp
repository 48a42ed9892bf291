// SPDX-License-Identifier: Apache-2.0
// Statements.
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "language/parser.hpp"
#include "peal/ops.hpp"

namespace peal::language {
namespace {

using namespace syntax;

constexpr auto kUpdates = std::to_array<std::string_view>({"+=", "-=", "*=", "/=", "%="});

constexpr const char* kNoStatement =
    "a statement assigns or calls something; a block hands out a value with yield";

Argument positional(ExprPtr value) { return {std::nullopt, std::move(value)}; }

}  // namespace

StmtPtr Parser::statement() {
    using Rule = StmtPtr (Parser::*)();
    constexpr std::array<std::pair<std::string_view, Rule>, 7> kRules = {{
        {"let", &Parser::let},
        {"notify", &Parser::notify},
        {"wait", &Parser::wait},
        {"put", &Parser::put},
        {"get", &Parser::get},
        {"advance", &Parser::advance},
        {"require", &Parser::require},
    }};
    for (const auto& [keyword, rule] : kRules) {
        if (cursor_.at(keyword)) return (this->*rule)();
    }
    if (cursor_.at("for")) return for_loop({});
    if (cursor_.at("if")) return if_else({});
    if (cursor_.peek().is_name()) return assign_or_call();
    if (cursor_.at(";")) {
        cursor_.fail_expected("a statement", "statements are not separated by ';'");
    }
    if (cursor_.at("else")) cursor_.fail_expected("a statement", "there is no 'if' before it");
    const bool is_value = cursor_.peek().kind == Token::Kind::integer ||
                          cursor_.peek().kind == Token::Kind::real ||
                          cursor_.peek().kind == Token::Kind::word || cursor_.at("(");
    cursor_.fail_expected("a statement", is_value ? kNoStatement : "");
}

// let x = expr | let x = for ... | let (x, y) = if ...
StmtPtr Parser::let() {
    const Span start = cursor_.take().span;
    std::vector<Identifier> names = let_names();
    cursor_.expect("=");
    if (cursor_.at("for")) return for_loop(std::move(names));
    if (cursor_.at("if")) return if_else(std::move(names));
    if (names.size() != 1) {
        cursor_.fail_expected("'for' or 'if'", "only a loop or a condition gives several values");
    }
    ExprPtr value = expr();
    return make_stmt(Let{std::move(names.front()), std::move(value)}, start);
}

std::vector<Identifier> Parser::let_names() {
    std::vector<Identifier> names;
    if (!cursor_.accept("(")) {
        names.push_back(cursor_.expect_name("a name"));
        return names;
    }
    do {
        names.push_back(cursor_.expect_name("a name"));
    } while (cursor_.accept(","));
    cursor_.expect(")");
    return names;
}

StmtPtr Parser::notify() {
    const Span start = cursor_.take().span;
    ExprPtr cell = postfix();
    NotifyOp op = NotifyOp::set;
    if (cursor_.accept("+=")) {
        op = NotifyOp::add;
    } else if (!cursor_.accept("=")) {
        cursor_.fail_expected("'=' or '+='", "a notify sets or adds: notify sig[i]@peer += 1");
    }
    ExprPtr value = expr();
    return make_stmt(Notify{std::move(cell), op, std::move(value)}, start);
}

StmtPtr Parser::wait() {
    const Span start = cursor_.take().span;
    ExprPtr cell = postfix();
    const Compare compare = comparison("as in wait sig[i] >= 1");
    ExprPtr value = right_side();
    return make_stmt(Wait{std::move(cell), compare, std::move(value)}, start);
}

Compare Parser::comparison(std::string hint) {
    const auto compare =
        cursor_.peek().kind == Token::Kind::mark ? compare_from(cursor_.peek().text) : std::nullopt;
    if (!compare) cursor_.fail_expected("a comparison", std::move(hint));
    cursor_.take();
    return *compare;
}

// What a statement's one comparison compares with.
ExprPtr Parser::right_side() {
    ExprPtr value = expr(tighter(Precedence::compare));
    if (infix_at(cursor_.peek())) {
        report_.fail(
            cursor_.peek().span,
            fmt::format("one comparison is enough here, found {}", describe(cursor_.peek())),
            "write a statement for each comparison");
    }
    return value;
}

StmtPtr Parser::put() {
    const Span start = cursor_.take().span;
    ExprPtr target = postfix();
    const bool adds = cursor_.accept("+=");
    if (!adds) cursor_.expect("=", "as in put data@peer[0; k] = src[0; k]");
    ExprPtr value = expr();
    return make_stmt(Put{std::move(target), std::move(value), adds}, start);
}

StmtPtr Parser::get() {
    const Span start = cursor_.take().span;
    ExprPtr target = postfix();
    cursor_.expect("=", "as in get dst[0; k] = data@peer[0; k]");
    ExprPtr value = expr();
    return make_stmt(Get{std::move(target), std::move(value)}, start);
}

StmtPtr Parser::advance() {
    const Span start = cursor_.take().span;
    Call call{{std::string(ir::ops::kAdvance), start}, true, {}};
    call.arguments.push_back(positional(postfix()));
    cursor_.expect("by", "as in advance sig by 1");
    call.arguments.push_back(positional(expr()));
    return make_stmt(Evaluate{make(std::move(call), start)}, start);
}

// require left >= right
StmtPtr Parser::require() {
    const Span start = cursor_.take().span;
    Call call{{std::string(ir::ops::kRequire), start}, true, {}};
    call.arguments.push_back(positional(expr(tighter(Precedence::compare))));
    Name compare{std::string(name(comparison("as in require nranks >= 2")))};
    call.arguments.push_back(positional(right_side()));
    call.arguments.push_back({Identifier{"cmp", start}, make(std::move(compare), start)});
    return make_stmt(Evaluate{make(std::move(call), start)}, start);
}

// for i in a..b [carry p = a, ...] { ... } | for p in peers { ... }
StmtPtr Parser::for_loop(std::vector<Identifier> results) {
    const Span start = cursor_.take().span;
    For loop;
    loop.results = std::move(results);
    loop.counter = cursor_.expect_name("the name of the loop counter");
    cursor_.expect("in");
    if (!cursor_.accept("peers")) {
        ExprPtr lo = expr();
        cursor_.expect("..", "a loop runs over a range, as in 0..nranks, or over peers");
        loop.range = Range{std::move(lo), expr()};
    }
    const Span header = join(start, cursor_.last_span());
    loop.carried = carries();
    loop.body = block();
    return std::make_unique<Stmt>(Stmt{header, std::move(loop)});
}

std::vector<Carry> Parser::carries() {
    std::vector<Carry> carried;
    if (!cursor_.accept("carry")) return carried;
    do {
        Identifier name = cursor_.expect_name("the name of a carried value");
        cursor_.expect("=");
        carried.push_back({std::move(name), expr()});
    } while (cursor_.accept(","));
    return carried;
}

StmtPtr Parser::if_else(std::vector<Identifier> results) {
    const Span start = cursor_.take().span;
    If branch;
    branch.condition = expr();
    const Span header = join(start, cursor_.last_span());
    branch.then_block = block();
    if (cursor_.accept("else")) {
        branch.has_else = true;
        branch.else_block = cursor_.at("if") ? else_if(results) : block();
    }
    branch.results = std::move(results);
    return std::make_unique<Stmt>(Stmt{header, std::move(branch)});
}

// A block around the inner condition that hands its values on.
Block Parser::else_if(const std::vector<Identifier>& results) {
    const Nested nested(*this);
    Block block;
    block.stmts.push_back(if_else(results));
    block.end = block.stmts.back()->span;
    for (const Identifier& result : results) {
        block.yields.push_back(make(Name{result.text}, block.end));
    }
    return block;
}

StmtPtr Parser::assign_or_call() {
    const Span start = cursor_.peek().span;
    ExprPtr target = postfix();
    if (cursor_.accept("=")) {
        if (cursor_.at("for")) {
            cursor_.fail_expected("a value",
                                  "a loop with a value needs 'let': let x = for i in 0..n carry y "
                                  "= 0 { yield y + i }");
        }
        if (cursor_.at("if")) {
            cursor_.fail_expected("a value",
                                  "a condition with a value needs 'let': let x = if c { yield 1 } "
                                  "else { yield 2 }");
        }
        ExprPtr value = expr();
        return make_stmt(Assign{std::move(target), std::move(value)}, start);
    }
    for (const std::string_view update : kUpdates) {
        if (cursor_.at(update)) {
            cursor_.fail_expected("'='",
                                  fmt::format("only notify updates in place; write x = x {} ...",
                                              update.substr(0, update.size() - 1)));
        }
    }
    if (as<Call>(*target)) return make_stmt(Evaluate{std::move(target)}, start);
    cursor_.fail_expected(
        "'='", cursor_.at("==") ? "an assignment is written with one '='" : kNoStatement);
}

}  // namespace peal::language
