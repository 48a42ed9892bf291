// SPDX-License-Identifier: Apache-2.0
#include "language/parser.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace peal::language {

const Token& Cursor::peek(std::size_t ahead) const {
    return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

std::set<std::string> Cursor::words_since(std::size_t position) const {
    std::set<std::string> words;
    for (std::size_t i = position; i < position_; ++i) {
        if (tokens_[i].kind == Token::Kind::word) words.emplace(tokens_[i].text);
    }
    return words;
}

const Token& Cursor::take() {
    const Token& token = peek();
    if (!at_end()) ++position_;
    return token;
}

bool Cursor::accept(std::string_view text) {
    if (!at(text)) return false;
    take();
    return true;
}

const Token& Cursor::expect(std::string_view text, std::string hint) {
    if (!at(text)) fail_expected(fmt::format("'{}'", text), std::move(hint));
    return take();
}

syntax::Identifier Cursor::expect_name(std::string_view what) {
    if (!peek().is_name()) fail_expected(what);
    const Token& token = take();
    return {std::string(token.text), token.span};
}

void Cursor::fail_expected(std::string_view what, std::string hint) {
    if (peek().kind == Token::Kind::bad) throw Abandoned{};
    report_.fail(peek().span, fmt::format("expected {}, found {}", what, describe(peek())),
                 std::move(hint));
}

}  // namespace peal::language
