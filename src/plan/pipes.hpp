// SPDX-License-Identifier: Apache-2.0
// Which unit of a tile processor carries out an instruction: the one answer for the checker and for
// cores that have no pipes.
#pragma once

#include <algorithm>
#include <array>

#include "plan/access.hpp"

namespace peal::plan {

// Those that run beside the scalar unit, which issues everything.
inline constexpr std::array kBesidePipes = {Pipe::load, Pipe::vector,    Pipe::store,
                                            Pipe::cube, Pipe::cube_load, Pipe::cube_store};

// Events that a pipe and another one have for their flags.
inline constexpr int kEvents = 8;

inline bool is_beside(Pipe pipe) {
    return std::find(kBesidePipes.begin(), kBesidePipes.end(), pipe) != kBesidePipes.end();
}

// A flag is set on the pipe that it comes from, and stalls the one that it goes to.
inline Pipe pipe_of(const Instruction& instruction) {
    if (const auto* set = std::get_if<SetFlag>(&instruction.action)) return set->from;
    if (const auto* wait = std::get_if<WaitFlag>(&instruction.action)) return wait->to;
    if (const auto* barrier = std::get_if<PipeBarrier>(&instruction.action)) return barrier->pipe;
    return instruction.pipe;
}

// Pipes run beside each other: the order of the list is not the order of the work, and flags hold
// it together.
inline bool uses_pipes(const Plan& plan) {
    return std::any_of(
        plan.instructions.begin(), plan.instructions.end(), [](const Instruction& instruction) {
            return instruction.pipe != Pipe::none || is_pipe_sync(instruction.action);
        });
}

// Each instruction is done before the next one starts: there are no pipes, and nothing is deferred.
inline bool is_in_order(const Plan& plan) {
    return !uses_pipes(plan) && std::none_of(plan.instructions.begin(), plan.instructions.end(),
                                             [](const Instruction& instruction) {
                                                 return instruction.group != 0 ||
                                                        is_completion(instruction.action);
                                             });
}

// There are no pipes and no cache, and what is deferred leaves tile memory alone: everything else
// is in order, and fences keep the rest of the work apart from what they complete.
inline bool may_be_fused(const Plan& plan) {
    const auto touches_tiles = [](const Action& action) {
        bool touches = false;
        for_each_range(action, [&](const Range& range) { touches |= is_tile(range); });
        return touches;
    };
    return !uses_pipes(plan) &&
           std::none_of(plan.instructions.begin(), plan.instructions.end(),
                        [&](const Instruction& instruction) {
                            const auto* fence = std::get_if<Fence>(&instruction.action);
                            return instruction.group == kCached ||
                                   std::holds_alternative<Evict>(instruction.action) ||
                                   (fence != nullptr && fence->group == 0) ||
                                   (instruction.group != 0 && touches_tiles(instruction.action));
                        });
}

}  // namespace peal::plan
