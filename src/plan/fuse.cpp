// SPDX-License-Identifier: Apache-2.0
// Fewer passes over memory: work joins the work that uses it, and what is left of tile memory moves
// together. Each step keeps every byte outside tile memory what it was at every notify and wait
// where a peer could look at it.
#include "peal/compile.hpp"
#include "plan/dead_tiles.hpp"
#include "plan/hoist.hpp"
#include "plan/pipes.hpp"
#include "plan/place_tiles.hpp"
#include "plan/rename_tiles.hpp"
#include "plan/sink.hpp"

namespace peal {

// Plans with pipes stay as their author wrote them.
Plan fuse(Plan plan) {
    if (uses_pipes(plan)) return plan;
    TileBlocks blocks(plan.instructions);
    rename_tiles(plan, blocks);
    drop_dead_tiles(plan.instructions, blocks);
    sink(plan, blocks);
    hoist(plan);
    place_tiles(plan);
    for (Instruction& instruction : plan.instructions) instruction.joined = false;
    return plan;
}

}  // namespace peal
