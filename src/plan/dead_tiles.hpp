// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/plan.hpp"
#include "plan/tile_blocks.hpp"

namespace peal {

// Without the work whose result nobody reads: writes of tile blocks that are never read, and what
// only they needed; and without work on no bytes. `blocks` are those of the instructions, before
// and after.
void drop_dead_tiles(std::vector<Instruction>& instructions, TileBlocks& blocks);

}  // namespace peal
