// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/plan.hpp"

namespace peal {

// Moves the blocks of tile memory close together: blocks that are not needed at the same time share
// bytes. Every block begins at a cache line, or a few bytes behind it where something in it must be
// aligned. Sets Plan::tile_bytes.
void place_tiles(Plan& plan);

}  // namespace peal
