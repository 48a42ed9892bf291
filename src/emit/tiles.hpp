// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "emit/steps.hpp"
#include "emit/trouble.hpp"
#include "peal/pto.hpp"

namespace peal::emitter {

// Events a pair of pipes has.
inline constexpr int kEvents = 8;

// Gives tiles their place in tile memory, if somebody needs them. Values that are never needed at
// the same time become one tile; a tile that is new in each round of a loop takes turns between two
// places, so that one is filled while the other is in use; tiles that do not live at the same time
// share places.
void place_tiles(DeviceProgram& program, pto::Device device, const Trouble& trouble);

}  // namespace peal::emitter
