// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/plan.hpp"
#include "plan/tile_blocks.hpp"

namespace peal {

// Work on tiles moves down to where its result is used, and joins the user:
//
//   copy t <- x; reduce sum u <- t, y       becomes   reduce sum u <- x, y
//   reduce sum t <- x, y; reduce sum u <- t, z   becomes   reduce sum u <- x, y, z
//   reduce sum t <- x, y; copy out <- t     becomes   reduce sum out <- x, y
//
// So reads move later. They do not pass a write of the same bytes; reads of windows do not pass a
// notify or a wait either, because a peer may write there afterwards. Work that can go no further
// stays in its tile at that point. Writes do not move.
//
// The plan has no dead tiles and no pipes; `blocks` are those that it has before.
void sink(Plan& plan, const TileBlocks& blocks);

}  // namespace peal
