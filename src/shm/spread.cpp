// SPDX-License-Identifier: Apache-2.0
#include "shm/spread.hpp"

#include <sched.h>

#include <algorithm>
#include <tuple>
#include <utility>
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

// The core that this rank is on, for others to know.
int note_core(World& world, int rank) {
    std::atomic<std::int32_t>& noted = world.header().ranks[rank].core;
    const int core = sched_getcpu();
    if (noted.load(std::memory_order_relaxed) != core) {
        noted.store(core, std::memory_order_relaxed);
    }
    return core;
}

bool is_on(std::span<const int> cores, int rank, int core) {
    return rank != kNoPartner && cores[static_cast<std::size_t>(rank)] == core;
}

bool has_company(const World& world, int rank, int core) {
    for (int other = 0; other < world.nranks(); ++other) {
        const RankRecord& record = world.header().ranks[other];
        if (other != rank && record.core.load(std::memory_order_relaxed) == core &&
            record.state.load(std::memory_order_relaxed) == RankState::here) {
            return true;
        }
    }
    return false;
}

// Of the ranks on a core that yield to each other one goes at a time: of two partners the first, or
// else the first of all.
bool may_go(std::span<const int> cores, int rank, int partner) {
    const int mine = cores[static_cast<std::size_t>(rank)];
    if (is_on(cores, partner, mine)) return rank < partner;
    return std::find(cores.begin(), cores.end(), mine) - cores.begin() == rank;
}

// True if this rank has gone to a better core. Where a machine has more cores than the mask has
// bits, ranks stay where they are.
bool look_around(World& world, int rank, int partner) {
    cpu_set_t mask;
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) return false;
    std::vector<int> may_use;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(core, &mask)) may_use.push_back(core);
    }
    static const Topology topology = topology_of_machine();
    const int core = better_core(cores_of_ranks(world), rank, may_use, topology, partner);
    if (core < 0) return false;
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(core, &there);
    if (sched_setaffinity(0, sizeof there, &there) != 0) return false;
    sched_setaffinity(0, sizeof mask, &mask);
    note_core(world, rank);
    return true;
}

}  // namespace

int better_core(std::span<const int> cores, int rank, std::span<const int> may_use,
                const Topology& topology, int partner) {
    const int mine = cores[static_cast<std::size_t>(rank)];
    if (mine < 0) return -1;
    const bool is_with_partner = is_on(cores, partner, mine);
    const auto ranks_on = [&](int core) { return std::count(cores.begin(), cores.end(), core); };
    // Less is better.
    const auto merit = [&](int core) {
        const auto beside = std::count_if(cores.begin(), cores.end(), [&](int other) {
            return other >= 0 && topology.same_physical(core, other);
        });
        return std::tuple(ranks_on(core), !topology.same_node(core, mine), beside);
    };
    int best = -1;
    for (const int core : may_use) {
        if (is_on(cores, partner, core)) continue;
        if (!is_with_partner && ranks_on(core) + 2 > ranks_on(mine)) continue;
        if (best < 0 || merit(core) < merit(best)) best = core;
    }
    return best;
}

void spread_out(World& world, int rank, int partner) {
    thread_local unsigned yields = 0;
    thread_local int last_partner = kNoPartner;
    thread_local bool is_same_partner = true;  // since the last look
    note_core(world, rank);
    if (std::exchange(last_partner, partner) != partner) is_same_partner = false;
    if (++yields % kYieldsPerLook != 0) return;
    if (!std::exchange(is_same_partner, true)) partner = kNoPartner;
    if (may_go(cores_of_ranks(world), rank, partner)) look_around(world, rank, partner);
}

bool part(World& world, int rank) {
    return !has_company(world, rank, note_core(world, rank)) ||
           look_around(world, rank, kNoPartner);
}

}  // namespace peal::shm
