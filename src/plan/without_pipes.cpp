// SPDX-License-Identifier: Apache-2.0
#include "plan/without_pipes.hpp"

#include <algorithm>

#include "plan/access.hpp"

namespace peal {

bool uses_pipes(const Plan& plan) {
    return std::any_of(
        plan.instructions.begin(), plan.instructions.end(), [](const Instruction& instruction) {
            return instruction.pipe != Pipe::none || is_pipe_sync(instruction.action);
        });
}

Plan without_pipes(const Plan& plan) {
    Plan result = plan;
    std::erase_if(result.instructions,
                  [](const Instruction& instruction) { return is_pipe_sync(instruction.action); });
    for (Instruction& instruction : result.instructions) {
        instruction.pipe = Pipe::none;
        instruction.joined = false;
    }
    return result;
}

}  // namespace peal
