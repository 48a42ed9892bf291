// SPDX-License-Identifier: Apache-2.0
#include "peal/diagnostic.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace peal {
namespace {

constexpr std::uint32_t kMaxShown = 120;  // characters of a source line
constexpr std::uint32_t kShownBefore = 80;
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// The part of a source line that is shown, and the line that marks a span below it. Both are built
// character by character, so that the mark stands where the terminal puts the text.
struct Excerpt {
    std::string text;
    std::string mark;
};

bool is_control(std::uint32_t code) { return code < 0x20 || code == 0x7f; }

void add_character(Excerpt& excerpt, std::string_view bytes, const base::Utf8Char& character,
                   char mark) {
    const bool printable =
        character.valid && (character.code == '\t' || !is_control(character.code));
    excerpt.text += printable ? bytes : kReplacement;
    if (character.code == '\t' && mark == ' ') {
        excerpt.mark += '\t';
    } else {
        const int width = printable ? base::display_width(character.code) : 1;
        for (int i = 0; i < width; ++i) excerpt.mark += i > 0 && mark == '^' ? '~' : mark;
    }
}

char mark_at(std::uint32_t column, const Span& span) {
    if (column == span.column) return '^';
    return column > span.column && column - span.column < span.length ? '~' : ' ';
}

Excerpt excerpt_of(std::string_view line, const Span& span) {
    const std::uint32_t first = span.column > kShownBefore ? span.column - kShownBefore + 1 : 1;
    Excerpt excerpt;
    if (first > 1) excerpt = {"...", "   "};
    std::uint32_t column = 1;
    for (std::size_t at = 0; at < line.size(); ++column) {
        const base::Utf8Char character = base::decode_utf8(line, at);
        if (column >= first + kMaxShown) {
            excerpt.text += "...";
            break;
        }
        if (column >= first) {
            add_character(excerpt, line.substr(at, character.bytes), character,
                          mark_at(column, span));
        }
        at += character.bytes;
    }
    if (span.column >= column) excerpt.mark += '^';  // behind the last character of the line
    excerpt.mark.erase(excerpt.mark.find_last_not_of(" \t") + 1);
    return excerpt;
}

std::string place_of(const Span& span, const Source* source) {
    std::string place = source ? source->name() + ":" : "";
    if (span.line > 0) place += fmt::format("{}:{}:", span.line, span.column);
    return place.empty() ? place : place + " ";
}

std::string_view name(Diagnostic::Severity severity) {
    return severity == Diagnostic::Severity::error ? "error" : "warning";
}

}  // namespace

std::string to_text(const Diagnostic& diagnostic, const Source* source) {
    const Span& span = diagnostic.span;
    std::string text = fmt::format("{}{}: {}", place_of(span, source), name(diagnostic.severity),
                                   diagnostic.message);
    if (source && span.line > 0) {
        const Excerpt excerpt = excerpt_of(source->line(span.line), span);
        const std::string number = fmt::format("{:>5}", span.line);
        text += fmt::format("\n{} | {}\n{:>{}} | {}", number, excerpt.text, "", number.size(),
                            excerpt.mark);
    }
    if (!diagnostic.hint.empty()) text += "\nhint: " + diagnostic.hint;
    return text;
}

std::string to_text(const std::vector<Diagnostic>& diagnostics, const Source* source) {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics) {
        if (!text.empty()) text += '\n';
        text += to_text(diagnostic, source);
    }
    return text;
}

}  // namespace peal
