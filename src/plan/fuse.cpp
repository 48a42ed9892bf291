// SPDX-License-Identifier: Apache-2.0
// Fewer passes over memory: work joins the work that uses it, and what is left of tile memory moves
// together. Each step keeps every byte outside tile memory what it was at every notify and wait
// where a peer could look at it.
#include "peal/compile.hpp"
#include "plan/fuse_steps.hpp"
#include "plan/lanes.hpp"
#include "plan/pipes.hpp"

namespace peal {

// Plans of tile processors stay as their author wrote them.
Plan fuse(Plan plan) {
    if (!plan::may_be_fused(plan)) return plan;
    const plan::Sharing sharing = plan::sharing_of(plan);
    plan::Origins origins(plan);
    plan::change_lanes(plan, [&](Plan& lane) {
        plan::TileBlocks blocks(lane.instructions);
        plan::rename_tiles(lane, blocks);
        plan::drop_dead_tiles(lane.instructions, blocks);
        plan::sink(lane, sharing, blocks, origins);
        plan::hoist(lane, sharing, origins);
        plan::place_tiles(lane);
    });
    std::move(origins).attach(plan);
    for (Instruction& instruction : plan.instructions) instruction.joined = false;
    return plan;
}

}  // namespace peal
