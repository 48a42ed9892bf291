// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/plan.hpp"
#include "plan/tile_blocks.hpp"

namespace peal {

// Values that only share their place in tile memory move apart:
//
//   copy t <- x; copy u <- y; reduce sum t <- t, u; copy u <- z; reduce sum t <- t, u
//
// becomes t0 <- x; u0 <- y; t1 <- t0, u0; u1 <- z; t2 <- t1, u1. Writes whose bytes are read
// together, or added to, stay together and keep their places relative to each other. So every read
// finds the bytes that the same writes left, and no instruction is added or moved.
//
// `blocks` are those of the plan, before and after.
void rename_tiles(Plan& plan, TileBlocks& blocks);

}  // namespace peal
