// SPDX-License-Identifier: Apache-2.0
// What a rank knows of its own stores where it fences them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/pipes.hpp"

namespace peal::checker {

// Puts bytes into memory that others may look at, on a pipe: under `fenced` they see them only
// after a fence.
inline bool stores_on_pipe(const Instruction& instruction) {
    if (instruction.pipe == Pipe::none || instruction.group != 0) return false;
    bool stores = false;
    plan::for_each_access(
        instruction.action, [](const Range&) {},
        [&](const Range& range) { stores |= !plan::is_tile(range) && range.length != 0; },
        [&](const Range& range) { stores |= !plan::is_tile(range) && range.length != 0; });
    return stores;
}

// By pipe: how many of its stores. What the issuing unit itself stores counts as `scalar`.
using StoreCounts = std::array<std::uint32_t, static_cast<std::size_t>(Pipe::all) + 1>;

inline std::size_t unit_of(const Instruction& instruction) {
    const Pipe pipe = plan::pipe_of(instruction);
    return static_cast<std::size_t>(plan::is_beside(pipe) ? pipe : Pipe::scalar);
}

// For each fence of group 0 in [begin, end), in order: of how many stores of each pipe the issuing
// unit is sure when it comes to the fence, by draining and flags. They are the first ones of the
// pipe.
std::vector<StoreCounts> reach_of_fences(const Plan& plan, std::size_t begin, std::size_t end);

}  // namespace peal::checker
