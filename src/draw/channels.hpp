// SPDX-License-Identifier: Apache-2.0
// Where arrows run down beside a lane.
#pragma once

#include <cstddef>
#include <vector>

#include "draw/diagram.hpp"

namespace peal::draw {

// For each arrow its channel on the side of the lane that waits, 0 being nearest to the lane. Two
// arrows never share a stretch of a channel. The shortest run nearest, longer ones around them.
std::vector<std::size_t> arrow_channels(const Diagram& diagram);

}  // namespace peal::draw
