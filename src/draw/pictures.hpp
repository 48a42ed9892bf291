// SPDX-License-Identifier: Apache-2.0
// A diagram as text, or as a drawing.
//
//     rank 0                          rank 1
//     ● copy data <- inp              │
//     ● notify sig[0]@1 += 1 ────────▶┃
//     │                               ● wait sig[0] >= 1
//     ✗ copy data <- inp              ✗ sum out <- data@0..1
//     ╰━━ data race: data@0[0..64) ━━━╯
#pragma once

#include <cstddef>
#include <string>

#include "draw/diagram.hpp"

namespace peal::draw {

struct TerminalOptions {
    std::size_t width = 100;
    bool color = false;
    bool unicode = true;
};

// Lines of at most `width` columns. Where the rails do not fit beside each other, only those with a
// clash are drawn; where these do not fit either, the steps are listed one per line.
std::string to_terminal(const Diagram& diagram, const TerminalOptions& options = {});

// A picture that needs nothing but itself: one SVG document.
std::string to_svg(const Diagram& diagram);

}  // namespace peal::draw
