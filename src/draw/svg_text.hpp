// SPDX-License-Identifier: Apache-2.0
// The smallest pieces of an SVG document.
#pragma once

#include <string>
#include <string_view>

namespace peal::draw {

// Text between tags or in an attribute. What XML has no place for becomes U+FFFD.
std::string escape_xml(std::string_view text);

// One line of text. `anchor` says which end is at x: "start", "middle" or "end".
std::string svg_text(double x, double y, std::string_view css_class, std::string_view anchor,
                     std::string_view text);

struct Box {
    double left = 0, top = 0, width = 0, height = 0;

    double right() const { return left + width; }
    double bottom() const { return top + height; }
    double center() const { return left + width / 2; }
    double middle() const { return top + height / 2; }
};
std::string svg_box(const Box& box, double radius, std::string_view css_class);

}  // namespace peal::draw
