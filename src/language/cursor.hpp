// SPDX-License-Identifier: Apache-2.0
// A place in the token list, and what is said when something else was expected there.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace peal::language
