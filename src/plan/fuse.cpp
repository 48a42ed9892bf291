// SPDX-License-Identifier: Apache-2.0
// Fewer passes over memory: work joins the work that uses it, and what is left of tile memory moves
// together. Each step keeps every byte outside tile memory what it was at every notify and wait
// where a peer could look at it.
#include "peal/compile.hpp"
#include "plan/access.hpp"
#include "plan/dead_tiles.hpp"
#include "plan/hoist.hpp"
#include "plan/place_tiles.hpp"
#include "plan/sink.hpp"

namespace peal {
namespace {

// Pipes run beside each other: the order of the list is not the order of the work, and flags hold
// it together. Such plans stay as their author wrote them.
bool uses_pipes(const Plan& plan) {
    for (const Instruction& instruction : plan.instructions) {
        const bool is_flag = std::holds_alternative<SetFlag>(instruction.action) ||
                             std::holds_alternative<WaitFlag>(instruction.action) ||
                             std::holds_alternative<PipeBarrier>(instruction.action);
        if (is_flag || instruction.pipe != Pipe::none) return true;
    }
    return false;
}

}  // namespace

Plan fuse(Plan plan) {
    if (uses_pipes(plan)) return plan;
    drop_dead_tiles(plan.instructions);
    sink(plan);
    hoist(plan);
    place_tiles(plan);
    return plan;
}

}  // namespace peal
