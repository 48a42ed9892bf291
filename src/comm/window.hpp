// SPDX-License-Identifier: Apache-2.0
// Symmetric memory of the user's, in the world's memory.
#pragma once

#include <cstdint>
#include <memory>

#include "comm/group.hpp"
#include "peal/communicator.hpp"

namespace peal {

struct WindowMemory::State {
    ~State() { world->disown(extent); }

    std::shared_ptr<shm::World> world;
    std::uint64_t extent = 0;
    std::uint64_t bytes = 0;        // per rank
    std::uint64_t rank_stride = 0;  // whole pages
    int nranks = 0;
    std::uint64_t group = 0;      // Group::id() of its communicator
    std::int64_t generation = 0;  // if it holds signals
};

namespace comm {

// Throws Error(usage) when the window belongs to another communicator.
Symmetric symmetric(const WindowMemory& window, const Group& group);

}  // namespace comm
}  // namespace peal
