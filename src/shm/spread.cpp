// SPDX-License-Identifier: Apache-2.0
#include "shm/spread.hpp"

#include <sched.h>

#include <algorithm>
#include <vector>

namespace peal::shm {
namespace {

// A look takes less than a yield; a move takes several.
constexpr unsigned kYieldsPerLook = 128;

std::vector<int> cores_of_ranks(const World& world) {
    std::vector<int> cores;
    for (int rank = 0; rank < world.nranks(); ++rank) {
        cores.push_back(world.header().ranks[rank].core.load(std::memory_order_relaxed));
    }
    return cores;
}

// Where a machine has more cores than the mask has bits, ranks stay where they are.
void look_around(World& world, int rank) {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) return;
    std::vector<int> may_use;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &mask)) may_use.push_back(core);
    }
    const int core = better_core(cores_of_ranks(world), rank, may_use);
    if (core < 0) return;
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(core, &there);
    if (sched_setaffinity(0, sizeof there, &there) != 0) return;
    sched_setaffinity(0, sizeof mask, &mask);
    world.header().ranks[rank].core.store(sched_getcpu(), std::memory_order_relaxed);
}

}  // namespace

int better_core(std::span<const int> cores, int rank, std::span<const int> may_use) {
    const int mine = cores[static_cast<std::size_t>(rank)];
    if (mine < 0) return -1;
    if (std::find(cores.begin(), cores.end(), mine) - cores.begin() != rank) return -1;
    const auto ranks_on = [&](int core) { return std::count(cores.begin(), cores.end(), core); };
    int best = -1;
    for (const int core : may_use) {
        const bool is_better =
            ranks_on(core) + 2 <= ranks_on(mine) && (best < 0 || ranks_on(core) < ranks_on(best));
        if (is_better) best = core;
    }
    return best;
}

void spread_out(World& world, int rank) {
    thread_local unsigned yields = 0;
    std::atomic<std::int32_t>& core = world.header().ranks[rank].core;
    const int now = sched_getcpu();
    if (core.load(std::memory_order_relaxed) != now) core.store(now, std::memory_order_relaxed);
    if (++yields % kYieldsPerLook == 0) look_around(world, rank);
}

}  // namespace peal::shm
