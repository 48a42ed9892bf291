// SPDX-License-Identifier: Apache-2.0
#include "draw/svg_text.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace peal::draw {

std::string escape_xml(std::string_view text) {
    std::string escaped;
    for (std::size_t at = 0; at < text.size();) {
        const base::Utf8Char next = base::decode_utf8(text, at);
        const bool is_text = next.valid && next.code >= 0x20 && next.code < 0xfffe;
        switch (next.code) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            case '\'': escaped += "&#39;"; break;
            default: escaped += is_text ? text.substr(at, next.bytes) : "\ufffd";
        }
        at += next.bytes;
    }
    return escaped;
}

std::string svg_text(double x, double y, std::string_view css_class, std::string_view anchor,
                     std::string_view text) {
    return fmt::format(
        "<text x=\"{:g}\" y=\"{:g}\" class=\"{}\" text-anchor=\"{}\" xml:space=\"preserve\">{}"
        "</text>\n",
        x, y, css_class, anchor, escape_xml(text));
}

std::string svg_box(const Box& box, double radius, std::string_view css_class) {
    return fmt::format(
        "<rect x=\"{:g}\" y=\"{:g}\" width=\"{:g}\" height=\"{:g}\" rx=\"{:g}\" class=\"{}\"/>\n",
        box.left, box.top, box.width, box.height, radius, css_class);
}

}  // namespace peal::draw
