// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.hpp"

#include <algorithm>
#include <array>

namespace peal::base {
namespace {

struct Range {
    std::uint32_t first, last;
};

constexpr std::array kZeroWidth = {
    Range{0x0300, 0x036f}, Range{0x200b, 0x200f}, Range{0x20d0, 0x20ff},
    Range{0xfe00, 0xfe0f}, Range{0xfeff, 0xfeff},
};
constexpr std::array kDoubleWidth = {
    Range{0x1100, 0x115f},   Range{0x2e80, 0xa4cf},   Range{0xac00, 0xd7a3},
    Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},
    Range{0xffe0, 0xffe6},   Range{0x1f300, 0x1f64f}, Range{0x1f900, 0x1f9ff},
    Range{0x20000, 0x3fffd},
};

template <std::size_t N>
bool within(const std::array<Range, N>& ranges, std::uint32_t code) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
        return range.first <= code && code <= range.last;
    });
}

// The length of the sequence that a lead byte announces, 0 when it is no lead byte.
std::size_t sequence_length(unsigned char lead) {
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf) return 2;
    if (lead >= 0xe0 && lead <= 0xef) return 3;
    if (lead >= 0xf0 && lead <= 0xf4) return 4;
    return 0;
}

// Overlong forms, surrogates and codes beyond Unicode are not characters.
bool is_scalar_value(std::uint32_t code, std::size_t length) {
    constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
    return code >= kSmallest[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
}

}  // namespace

Utf8Char decode_utf8(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t length = sequence_length(lead);
    const Utf8Char broken{lead, 1, false};
    if (length == 0 || length > text.size() - at) return broken;
    if (length == 1) return {lead, 1, true};
    std::uint32_t code = lead & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        const auto next = static_cast<unsigned char>(text[at + i]);
        if ((next & 0xc0U) != 0x80U) return broken;
        code = (code << 6U) | (next & 0x3fU);
    }
    return is_scalar_value(code, length) ? Utf8Char{code, length, true} : broken;
}

int display_width(std::uint32_t code) {
    if (within(kZeroWidth, code)) return 0;
    return within(kDoubleWidth, code) ? 2 : 1;
}

}  // namespace peal::base
