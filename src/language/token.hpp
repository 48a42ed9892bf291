// SPDX-License-Identifier: Apache-2.0
// The words of the language.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "peal/source.hpp"

namespace peal::language {

struct Token {
    enum class Kind : std::uint8_t {
        end,      // of the file
        bad,      // already reported by the lexer
        word,     // a name or a keyword
        integer,  //
        real,     //
        mark,     // operators and punctuation
    };
    Kind kind = Kind::end;
    std::string_view text;
    Span span;
    bool first_on_line = false;
    std::uint64_t integer = 0;  // at most 2^63: a minus sign may stand before it
    double real = 0;

    bool is(std::string_view expected) const {
        return (kind == Kind::word || kind == Kind::mark) && text == expected;
    }
    bool is_name() const;
};

// Words that cannot be names. `in`, `out`, `inout`, `window`, `index`, `carry` and `by` mean
// something in one place only, where no name can stand; elsewhere they are names.
bool is_keyword(std::string_view word);

std::string describe(const Token& token);  // "'}'", "the keyword 'for'", "the end of the file"

// From the start of one span to the end of another; on several lines, to the end of the first span.
Span join(const Span& from, const Span& to);

}  // namespace peal::language
