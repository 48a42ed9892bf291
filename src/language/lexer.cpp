// SPDX-License-Identifier: Apache-2.0
#include "language/stages.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace peal::language {
namespace {

constexpr std::string_view kMarks = "{}()[],;:.@=<>+-*/%";
constexpr auto kDoubleMarks = std::to_array<std::string_view>(
    {"..", "==", "!=", "<=", ">=", "<<", ">>", "+=", "-=", "*=", "/=", "%="});

constexpr std::uint64_t kMaxInteger = std::uint64_t{1} << 63U;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// What to write instead of an operator of other languages.
std::string_view instead_of(char c) {
    switch (c) {
        case '^': return "write 'xor'";
        case '&': return "write 'and'";
        case '|': return "write 'or'";
        case '!': return "write 'not'";
        case '"': return "there are no strings in the language";
        default: return "";
    }
}

bool is_control(std::uint32_t code) { return code < 0x20 || code == 0x7f; }

class Lexer {
public:
    Lexer(std::string_view text, Report& report) : text_(text), report_(report) {}

    std::vector<Token> run() {
        while (at_ < text_.size()) step();
        tokens_.push_back(take(Token::Kind::end, at_));
        return std::move(tokens_);
    }

private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    std::string_view rest() const { return text_.substr(at_); }

    void step() {
        const char c = peek();
        if (c == '\n') return new_line();
        if (c == ' ' || c == '\t' || c == '\r') return skip(1);
        if (c == '#') return comment();
        if (is_letter(c)) return word();
        if (is_digit(c)) return number();
        if (rest().starts_with("//")) return foreign_comment();
        if (!mark()) stranger();
    }

    // Moves on by one-column characters.
    void skip(std::size_t bytes) {
        at_ += bytes;
        column_ += static_cast<std::uint32_t>(bytes);
    }

    void new_line() {
        ++at_;
        ++line_;
        column_ = 1;
        first_on_line_ = true;
    }

    void comment() {
        while (at_ < text_.size() && peek() != '\n') {
            const base::Utf8Char character = base::decode_utf8(text_, at_);
            if (character.valid && character.code != 0) {
                at_ += character.bytes;
                ++column_;
            } else {
                report_garbage();
            }
        }
    }

    void word() {
        const std::size_t begin = at_;
        std::size_t end = at_;
        while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
        skip(end - begin);
        tokens_.push_back(take(Token::Kind::word, begin));
    }

    bool mark() {
        const std::string_view two = text_.substr(at_, 2);
        const bool is_double =
            std::find(kDoubleMarks.begin(), kDoubleMarks.end(), two) != kDoubleMarks.end();
        if (!is_double && kMarks.find(peek()) == std::string_view::npos) return false;
        const std::size_t begin = at_;
        skip(is_double ? 2 : 1);
        tokens_.push_back(take(Token::Kind::mark, begin));
        return true;
    }

    void digits() {
        while (is_digit(peek())) skip(1);
    }

    // digits ['.' digits] ['e' ['+'|'-'] digits]; "0..n" is an integer and a range.
    void number() {
        const std::size_t begin = at_;
        bool real = false;
        digits();
        if (peek() == '.' && is_digit(peek(1))) {
            real = true;
            skip(1);
            digits();
        }
        if (peek() == 'e' || peek() == 'E') {
            const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 1 : 0;
            if (is_digit(peek(1 + sign))) {
                real = true;
                skip(1 + sign);
                digits();
            }
        }
        if (is_letter(peek())) return malformed_number(begin);
        if (real) return real_number(begin);
        integer_number(begin);
    }

    void malformed_number(std::size_t begin) {
        while (is_letter(peek()) || is_digit(peek())) skip(1);
        const Token token = take(Token::Kind::bad, begin);
        bad(token, fmt::format("'{}' is neither a number nor a name", token.text),
            "names begin with a letter; numbers are decimal");
    }

    void integer_number(std::size_t begin) {
        Token token = take(Token::Kind::integer, begin);
        const char* last = token.text.data() + token.text.size();
        const auto result = std::from_chars(token.text.data(), last, token.integer);
        if (result.ec != std::errc{} || token.integer > kMaxInteger) {
            return bad(token, fmt::format("the integer {} does not fit in 64 bits", token.text));
        }
        tokens_.push_back(token);
    }

    void real_number(std::size_t begin) {
        Token token = take(Token::Kind::real, begin);
        const char* last = token.text.data() + token.text.size();
        if (std::from_chars(token.text.data(), last, token.real).ec != std::errc{}) {
            return bad(token, fmt::format("the number {} is outside the range of f64", token.text));
        }
        tokens_.push_back(token);
    }

    void foreign_comment() {
        const std::size_t begin = at_;
        skip(2);
        bad(take(Token::Kind::bad, begin), "unexpected '//'", "a comment begins with '#'");
        comment();
    }

    // A character that begins no token.
    void stranger() {
        const std::size_t begin = at_;
        const base::Utf8Char character = base::decode_utf8(text_, at_);
        if (!character.valid || is_control(character.code)) {
            report_garbage();
            tokens_.push_back(take(Token::Kind::bad, begin));
            return;
        }
        at_ += character.bytes;
        ++column_;
        if (character.code == 0xfeff && begin == 0) return;  // a byte order mark
        Token token = take(Token::Kind::bad, begin);
        token.span = {line_, column_ - 1, 1};
        bad(token, fmt::format("unexpected character '{}'", token.text),
            std::string(instead_of(text_[begin])));
        if (token.text == "\"") return comment();  // the rest of the line is not program text
        while (peek() == text_[begin] && !instead_of(peek()).empty()) skip(1);
    }

    // Reports a run of bytes that are no text, and skips it.
    void report_garbage() {
        const std::uint32_t begin = column_;
        const base::Utf8Char first = base::decode_utf8(text_, at_);
        while (at_ < text_.size()) {
            const base::Utf8Char next = base::decode_utf8(text_, at_);
            if (next.valid != first.valid || (next.valid && next.code != first.code)) break;
            at_ += next.bytes;
            ++column_;
        }
        report_.error({line_, begin, column_ - begin},
                      first.valid
                          ? fmt::format("control character 0x{:02x} in the text", first.code)
                          : fmt::format("byte 0x{:02x} is not valid UTF-8", first.code));
    }

    void bad(Token token, std::string message, std::string hint = {}) {
        token.kind = Token::Kind::bad;
        tokens_.push_back(token);
        report_.error(token.span, std::move(message), std::move(hint));
    }

    // The token from `begin` to here, all of one-column characters.
    Token take(Token::Kind kind, std::size_t begin) {
        const auto length = static_cast<std::uint32_t>(at_ - begin);
        Token token{kind, text_.substr(begin, length), {line_, column_ - length, length}};
        token.first_on_line = std::exchange(first_on_line_, false);
        return token;
    }

    std::string_view text_;
    Report& report_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    std::uint32_t line_ = 1;
    std::uint32_t column_ = 1;
    bool first_on_line_ = true;
};

}  // namespace

std::vector<Token> lex(const Source& source, Report& report) {
    return Lexer(source.text(), report).run();
}

}  // namespace peal::language
