// SPDX-License-Identifier: Apache-2.0
// From tokens to the syntax tree, by recursive descent.
//
// A statement ends where its grammar ends; line breaks matter only for finding the next statement
// after an error.
#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "language/limits.hpp"
#include "language/precedence.hpp"
#include "language/report.hpp"
#include "language/syntax.hpp"
#include "language/token.hpp"

namespace peal::language {

class Cursor {
public:
    // The last token is Kind::end.
    Cursor(const std::vector<Token>& tokens, Report& report) : tokens_(tokens), report_(report) {}

    const Token& peek(std::size_t ahead = 0) const;
    bool at(std::string_view text) const { return peek().is(text); }
    bool at_end() const { return peek().kind == Token::Kind::end; }
    std::size_t position() const { return position_; }
    const Span& last_span() const { return tokens_[position_ == 0 ? 0 : position_ - 1].span; }

    // The words from a position up to here.
    std::set<std::string> words_since(std::size_t position) const;

    const Token& take();
    bool accept(std::string_view text);
    const Token& expect(std::string_view text, std::string hint = {});
    syntax::Identifier expect_name(std::string_view what);

    // "expected <what>, found <token>", at the current token. What the lexer has reported already
    // is not reported again.
    [[noreturn]] void fail_expected(std::string_view what, std::string hint = {});

private:
    const std::vector<Token>& tokens_;
    Report& report_;
    std::size_t position_ = 0;
};

class Parser {
public:
    Parser(const std::vector<Token>& tokens, Report& report)
        : report_(report), cursor_(tokens, report) {}

    syntax::File file();

private:
    class Nested;

    // parser.cpp
    syntax::Kernel kernel();
    std::vector<syntax::Param> params();
    syntax::Param param();
    void param_type(syntax::Param& param);
    Element element();
    syntax::Block block();
    void statement_or_recover(syntax::Block& block);
    void yields(syntax::Block& block);
    void skip_to_kernel();
    void skip_to_statement(std::size_t started);

    // parse_stmt.cpp
    syntax::StmtPtr statement();
    syntax::StmtPtr let();
    syntax::StmtPtr notify();
    syntax::StmtPtr wait();
    syntax::StmtPtr put();
    syntax::StmtPtr get();
    syntax::StmtPtr advance();
    syntax::StmtPtr require();
    syntax::ExprPtr right_side();
    Compare comparison(std::string hint);
    syntax::StmtPtr for_loop(std::vector<syntax::Identifier> results);
    syntax::StmtPtr if_else(std::vector<syntax::Identifier> results);
    syntax::Block else_if(const std::vector<syntax::Identifier>& results);
    syntax::StmtPtr assign_or_call();
    std::vector<syntax::Carry> carries();
    std::vector<syntax::Identifier> let_names();

    // parse_expr.cpp
    syntax::ExprPtr expr(Precedence loosest = Precedence::logical_or);
    void reject_chain();
    syntax::ExprPtr prefix(Precedence loosest);
    syntax::ExprPtr negated();
    syntax::ExprPtr postfix();
    syntax::ExprPtr at_rank(syntax::ExprPtr base);
    syntax::ExprPtr brackets(syntax::ExprPtr base);
    syntax::ExprPtr atom();
    syntax::ExprPtr word_atom();
    syntax::ExprPtr parenthesised();
    syntax::ExprPtr name_or_call();
    syntax::ExprPtr call(syntax::Identifier callee, bool is_op);
    syntax::ExprPtr generation();
    syntax::ExprPtr log2();
    syntax::ExprPtr min_or_max(ir::BinaryOp op);
    syntax::ExprPtr fold(ir::FoldOp op);
    syntax::ExprPtr number(bool negative);
    syntax::Argument argument();
    std::vector<syntax::ExprPtr> expr_list();

    template <class Node>
    syntax::ExprPtr make(Node node, const Span& from, int depth_below = 0);
    template <class Node>
    syntax::StmtPtr make_stmt(Node node, const Span& from) {
        return std::make_unique<syntax::Stmt>(
            syntax::Stmt{join(from, cursor_.last_span()), std::move(node)});
    }
    void check_depth(int depth, const Span& span);

    Report& report_;
    Cursor cursor_;
    int nesting_ = 0;
    bool broken_ = false;  // the kernel at hand has an error
};

// Too deep to go on: reported, and nothing after it is read.
struct TooDeep {};

// One more level while it lives.
class Parser::Nested {
public:
    explicit Nested(Parser& parser) : parser_(parser) {
        parser.check_depth(parser.nesting_ + 1, parser.cursor_.peek().span);
        ++parser.nesting_;
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

private:
    Parser& parser_;
};

template <class Node>
syntax::ExprPtr Parser::make(Node node, const Span& from, int depth_below) {
    const Span span = join(from, cursor_.last_span());
    check_depth(depth_below + 1, span);
    return std::make_unique<syntax::Expr>(syntax::Expr{span, depth_below + 1, std::move(node)});
}

}  // namespace peal::language
