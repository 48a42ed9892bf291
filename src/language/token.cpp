// SPDX-License-Identifier: Apache-2.0
#include "language/token.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "peal/element.hpp"

namespace peal::language {
namespace {

constexpr auto kKeywords = std::to_array<std::string_view>(
    {"kernel", "let", "for",     "yield",      "if",    "else",   "notify", "wait",
     "put",    "get", "advance", "require",    "rank",  "nranks", "peers",  "and",
     "or",     "not", "xor",     "generation", "epoch", "log2",   "min",    "max",
     "sum",    "inf", "nan",     "lane",       "nlanes"});

}  // namespace

bool Token::is_name() const { return kind == Kind::word && !is_keyword(text); }

bool is_keyword(std::string_view word) {
    return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end() ||
           element_from(word).has_value();
}

std::string describe(const Token& token) {
    if (token.kind == Token::Kind::end) return "the end of the file";
    if (token.kind == Token::Kind::word && is_keyword(token.text)) {
        return fmt::format("the keyword '{}'", token.text);
    }
    return fmt::format("'{}'", token.text);
}

Span join(const Span& from, const Span& to) {
    if (from.line != to.line || to.column < from.column) return from;
    return {from.line, from.column, to.column + to.length - from.column};
}

}  // namespace peal::language
