// SPDX-License-Identifier: Apache-2.0
// A diagram as a picture that needs nothing but itself: one SVG document.
#pragma once

#include <string>

#include "draw/diagram.hpp"

namespace peal::draw {

std::string to_svg(const Diagram& diagram);

}  // namespace peal::draw
