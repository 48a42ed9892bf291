// SPDX-License-Identifier: Apache-2.0
// Symmetric memory of the user's, in the world's memory.
#pragma once

#include <cstdint>
#include <memory>

#include "comm/group.hpp"
#include "peal/communicator.hpp"

namespace peal::comm {

struct WindowState {
    ~WindowState() { world->disown(extent); }

    std::shared_ptr<World> world;
    std::uint64_t extent = 0;
    std::uint64_t bytes = 0;        // per rank
    std::uint64_t rank_stride = 0;  // whole pages
    int nranks = 0;
    std::uint64_t group = 0;      // Group::id() of its communicator
    std::uint64_t number = 0;     // among the windows of its communicator, from 1
    std::int64_t generation = 0;  // if it holds signals
};

// What is behind the handles that users have.
struct Inside {
    static WindowState& of(const WindowMemory& window) { return *window.state_; }
    static const KernelState& of(const Kernel& kernel) { return *kernel.state_; }
};

// Throws Error(usage) when the window belongs to another communicator.
Symmetric symmetric(const WindowMemory& window, const Group& group);

}  // namespace peal::comm
