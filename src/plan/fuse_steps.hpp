// SPDX-License-Identifier: Apache-2.0
// The steps of fuse() (peal/plan.hpp). Each leaves a plan that does the same.
#pragma once

#include "plan/access.hpp"
#include "plan/draft.hpp"
#include "plan/origins.hpp"
#include "plan/tile_blocks.hpp"

namespace peal::plan {

// As peal::fuse, of what is written out.
Plan fuse(Draft draft);

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

// Without the work whose result nobody reads: writes of tile blocks that are never read, and what
// only they needed; and without work on no bytes. `blocks` are those of the instructions, before
// and after.
void drop_dead_tiles(std::vector<Instruction>& instructions, TileBlocks& blocks);

// Work on tiles moves down to where its result is used, and joins the user:
//
//   copy t <- x; reduce sum u <- t, y       becomes   reduce sum u <- x, y
//   reduce sum t <- x, y; reduce sum u <- t, z   becomes   reduce sum u <- x, y, z
//   reduce sum t <- x, y; copy out <- t     becomes   reduce sum out <- x, y
//
// So reads move later. They do not pass a write of the same bytes; reads of memory that is
// shared do not pass a notify or a wait either, because somebody may write there afterwards. Work
// that can go no further stays in its tile at that point. Writes do not move. A fence stops the
// same reads.
//
// The plan has one lane, or is one of several, no dead tiles and no pipes; `blocks` are those that
// it has before. A range keeps the line of the load or store that it was of.
void sink(Plan& plan, Sharing sharing, const TileBlocks& blocks, Origins& origins);

// Stores of whole tiles move up to the work that yields the tile, which then writes to memory
// itself:
//
//   reduce sum t <- x, y; notify ...; copy out <- t   becomes   reduce sum out <- x, y; notify ...
//
// So writes move earlier. They do not pass an access to the same bytes; writes to memory
// that is shared do not pass a notify or a wait either, because somebody may use those bytes until
// then. No write passes a fence: what that completes may use the bytes until then. The tile must
// have no other use. The plan has one lane, or is one of several.
void hoist(Plan& plan, Sharing sharing, Origins& origins);

// Moves the blocks of tile memory close together: blocks that are not needed at the same time share
// bytes. Every block begins at a cache line, or a few bytes behind it where something in it must be
// aligned. Sets Plan::tile_bytes.
void place_tiles(Plan& plan);

}  // namespace peal::plan
