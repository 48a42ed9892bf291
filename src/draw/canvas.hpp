// SPDX-License-Identifier: Apache-2.0
// A terminal screen to draw on, in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace peal::draw {

enum class Style : std::uint8_t { plain, dim, bold, signal, clash };

class Canvas {
public:
    // One character per column, from (line, column) to the right.
    void put(std::size_t line, std::size_t column, std::string_view text, Style style);
    void fill(std::size_t line, std::size_t first, std::size_t end, std::string_view glyph,
              Style style);
    bool is_empty(std::size_t line, std::size_t column) const;

    // Lines end with their last visible character.
    std::string to_string(bool color) const;

private:
    struct Glyph {
        std::string text;  // empty: nothing was drawn here
        Style style = Style::plain;
    };

    std::vector<std::vector<Glyph>> lines_;
};

}  // namespace peal::draw
