// SPDX-License-Identifier: Apache-2.0
// Just enough UTF-8 to count columns and to say where a text is not UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace peal::base {

// One character of a text. A byte that belongs to no valid sequence is a character of its own.
struct Utf8Char {
    std::uint32_t code = 0;  // the byte itself when it is not valid
    std::size_t bytes = 1;
    bool valid = true;
};

Utf8Char decode_utf8(std::string_view text, std::size_t at);  // at < text.size()

// Columns that a terminal gives to a character: 0, 1 or 2.
int display_width(std::uint32_t code);

}  // namespace peal::base
