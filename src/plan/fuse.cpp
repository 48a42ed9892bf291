// SPDX-License-Identifier: Apache-2.0
// Fewer passes over memory: work joins the work that uses it, and what is left of tile memory moves
// together. Each step keeps every byte outside tile memory what it was at every notify and wait
// where a peer could look at it.
#include "peal/compile.hpp"
#include "plan/dead_tiles.hpp"
#include "plan/hoist.hpp"
#include "plan/lanes.hpp"
#include "plan/pipes.hpp"
#include "plan/place_tiles.hpp"
#include "plan/rename_tiles.hpp"
#include "plan/sink.hpp"

namespace peal {

// Plans that are not done in order stay as their author wrote them.
Plan fuse(Plan plan) {
    if (!is_in_order(plan)) return plan;
    const Sharing sharing = sharing_of(plan);
    change_lanes(plan, [&](Plan& lane) {
        rename_tiles(lane);
        drop_dead_tiles(lane.instructions);
        sink(lane, sharing);
        hoist(lane, sharing);
        place_tiles(lane);
    });
    for (Instruction& instruction : plan.instructions) instruction.joined = false;
    return plan;
}

}  // namespace peal
