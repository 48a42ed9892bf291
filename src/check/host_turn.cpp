// SPDX-License-Identifier: Apache-2.0
#include "peal/check.hpp"
#include "peal/compile.hpp"

namespace peal {

std::vector<Plan> host_turn(int nranks) {
    Collective barrier;
    barrier.kind = CollectiveKind::barrier;
    std::vector<Plan> plans = compile(barrier, nranks);
    for (Plan& plan : plans) {
        plan.source = nullptr;
        plan.notes = nullptr;
        for (Instruction& instruction : plan.instructions) {
            instruction.line = instruction.round = instruction.origins = 0;
        }
    }
    return plans;
}

CheckStage host_turn_stage(const std::vector<Plan>& turn) {
    return {&turn, nullptr, {"the host's turn"}, {}};
}

}  // namespace peal
