// SPDX-License-Identifier: Apache-2.0
#include "plan/for_host.hpp"

#include "peal/compile.hpp"
#include "plan/pipe_order.hpp"
#include "plan/pipes.hpp"

namespace peal::plan {

Plan for_host(const Plan& plan) {
    if (is_in_order(plan)) return plan;
    validate(plan);
    Plan result = plan;
    result.instructions.clear();
    result.lanes.clear();
    for (std::size_t lane = 0; lane < plan.lane_count(); ++lane) {
        if (lane > 0)
            result.lanes.push_back(static_cast<std::uint32_t>(result.instructions.size()));
        for (const std::uint32_t index : pipe_order(plan, lane)) {
            const Instruction& instruction = plan.instructions[index];
            if (is_pipe_sync(instruction.action) || is_completion(instruction.action)) continue;
            result.instructions.push_back(instruction);
            result.instructions.back().pipe = Pipe::none;
            result.instructions.back().joined = false;
            result.instructions.back().group = 0;
        }
    }
    result = fuse(std::move(result));
    validate(result);
    return result;
}

std::vector<Plan> for_host(const std::vector<Plan>& plans) {
    std::vector<Plan> result;
    result.reserve(plans.size());
    for (const Plan& plan : plans) result.push_back(for_host(plan));
    return result;
}

}  // namespace peal::plan
