// SPDX-License-Identifier: Apache-2.0
// A domain from inside: one piece of memory, carved into windows. A window's parts follow each
// other, each on cache lines of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "peal/worker_domain.hpp"
#include "worker/arena.hpp"

namespace peal::worker {

struct DomainState {
    struct Window {
        WindowSpec spec;
        std::uint64_t bytes = 0;        // of a part
        std::uint64_t offset = 0;       // of rank 0's part in the arena
        std::uint64_t rank_stride = 0;  // from one part to the next
        // Signals, by rank: a task of one rank moves on only that rank's. Guarded by the scheduler.
        std::vector<std::int64_t> generations;
    };

    // Throws Error(usage) if the spec cannot be, Error(resource) if there is not enough memory.
    DomainState(const Arena& arena, DomainSpec spec);

    std::byte* part(const Window& window, int rank) const {
        return base + window.offset + static_cast<std::uint64_t>(rank) * window.rank_stride;
    }
    int rank_of(int device) const;  // -1: it is not in it
    // As new. Only while no task uses it.
    void reset();

    const std::string name;
    const std::vector<int> ranks;  // devices
    std::byte* base = nullptr;     // of the arena
    std::shared_ptr<DeviceMemory> memory;
    std::vector<Window> windows;
    std::atomic<bool> released = false;
    // A task ended in the middle: by what. Empty while all is well. Guarded by the scheduler.
    std::string broken;
};

}  // namespace peal::worker
