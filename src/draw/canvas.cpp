// SPDX-License-Identifier: Apache-2.0
#include "draw/canvas.hpp"

#include <algorithm>
#include <array>

#include "base/utf8.hpp"

namespace peal::draw {
namespace {

std::string_view escape(Style style) {
    constexpr std::array<std::string_view, 5> kEscapes = {"\x1b[0m", "\x1b[0;2m", "\x1b[0;1m",
                                                          "\x1b[0;36m", "\x1b[0;1;31m"};
    return kEscapes[static_cast<std::size_t>(style)];
}

}  // namespace

void Canvas::put(std::size_t line, std::size_t column, std::string_view text, Style style) {
    if (lines_.size() <= line) lines_.resize(line + 1);
    std::vector<Glyph>& glyphs = lines_[line];
    for (std::size_t at = 0; at < text.size(); ++column) {
        const std::size_t bytes = base::decode_utf8(text, at).bytes;
        if (glyphs.size() <= column) glyphs.resize(column + 1);
        glyphs[column] = {std::string(text.substr(at, bytes)), style};
        at += bytes;
    }
}

void Canvas::fill(std::size_t line, std::size_t first, std::size_t end, std::string_view glyph,
                  Style style) {
    for (std::size_t column = first; column < end; ++column) put(line, column, glyph, style);
}

bool Canvas::is_empty(std::size_t line, std::size_t column) const {
    return line >= lines_.size() || column >= lines_[line].size() ||
           lines_[line][column].text.empty();
}

std::string Canvas::to_string(bool color) const {
    std::string text;
    for (const std::vector<Glyph>& line : lines_) {
        Style current = Style::plain;
        for (const Glyph& glyph : line) {
            const bool blank = glyph.text.empty();
            const Style style = blank ? Style::plain : glyph.style;
            if (color && style != current) text += escape(style);
            current = style;
            text += blank ? " " : glyph.text;
        }
        if (color && current != Style::plain) text += escape(Style::plain);
        text += '\n';
    }
    return text;
}

}  // namespace peal::draw
