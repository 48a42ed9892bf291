// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include <fmt/format.h>

#include "comm/settings.hpp"
#include "shm/backoff.hpp"
#include "shm/deadline.hpp"
#include "shm/inquiry.hpp"

namespace peal::comm {
namespace {

// Memory that rank 0 leaves for the others: where the group is, and the text of the table.
struct Foundation {
    std::uint64_t group;
    std::uint64_t origin_bytes, table_bytes;  // of the two texts that follow

    char* texts() { return reinterpret_cast<char*>(this + 1); }
};

void lay_foundation(World& world) {
    const Table table = applicable_table();
    const std::string rules = to_json(table);
    const std::uint64_t extent =
        world.allocate(sizeof(Foundation) + table.origin.size() + rules.size(), world.nranks());
    auto* foundation = reinterpret_cast<Foundation*>(world.at(extent));
    foundation->origin_bytes = table.origin.size();
    foundation->table_bytes = rules.size();
    std::memcpy(foundation->texts(), table.origin.data(), table.origin.size());
    std::memcpy(foundation->texts() + table.origin.size(), rules.data(), rules.size());
    foundation->group = world.allocate(Members::communicator_bytes(world.nranks()), world.nranks());
    world.header().meeting_point.store(extent,
                                       std::memory_order_release);  // pairs with bootstrap()
    for (int rank = 1; rank < world.nranks(); ++rank) ring_if_asleep(world, rank);
}

std::uint64_t await_foundation(World& world, int rank) {
    const std::atomic<std::uint64_t>& published = world.header().meeting_point;
    const std::atomic<RankState>& first = world.header().ranks[0].state;
    const auto is_there = [&] { return published.load(std::memory_order_acquire) != 0; };
    const auto has_left = [&] { return first.load(std::memory_order_acquire) == RankState::left; };
    const auto is_settled = [&] { return has_left() || is_there(); };
    const Clock::time_point deadline = deadline_after(Clock::now(), default_timeout());
    Waited waited = Waited::deadline;
    while (waited == Waited::deadline) {
        if (Clock::now() >= deadline) {
            throw Error(Fault::bound, fmt::format("timeout: rank {} waited too long for rank 0 to "
                                                  "connect",
                                                  rank));
        }
        if (is_asked(world, rank)) answer(world, rank, "connecting, waits for rank 0");
        waited = wait_until(world, rank, is_settled, std::min(deadline, from_now(Backoff::kNap)));
    }
    if (waited == Waited::alarm) {
        throw Error(Fault::wrong,
                    fmt::format("rank {} died; rank {} was connecting", world.failed_rank(), rank));
    }
    if (!is_there()) {
        throw Error(
            Fault::wrong,
            fmt::format("rank 0 has left without connecting; rank {} was connecting", rank));
    }
    return published.load(std::memory_order_acquire);
}

std::unique_ptr<Group> join(std::shared_ptr<World> world, std::vector<int> members, int rank,
                            std::uint64_t extent, std::shared_ptr<const Table> table) {
    auto group = std::make_unique<Group>(std::move(world), std::move(members), rank, extent,
                                         std::move(table));
    group->members().touch();
    return group;
}

}  // namespace

std::unique_ptr<Group> bootstrap(std::shared_ptr<World> world, int rank) {
    if (rank == 0) lay_foundation(*world);
    const std::uint64_t extent = await_foundation(*world, rank);
    auto* foundation = reinterpret_cast<Foundation*>(world->at(extent));
    std::string origin(foundation->texts(), foundation->origin_bytes);
    auto table = std::make_shared<const Table>(
        table_from_json({foundation->texts() + foundation->origin_bytes, foundation->table_bytes},
                        std::move(origin)));
    const std::uint64_t group = foundation->group;
    world->disown(extent);
    std::vector<int> members(static_cast<std::size_t>(world->nranks()));
    std::iota(members.begin(), members.end(), 0);
    return join(std::move(world), std::move(members), rank, group, std::move(table));
}

std::unique_ptr<Group> split(Group& group, int colour, int key, CallSite at) {
    group.meet(SyncReason::split, 0, at);
    const auto nranks = static_cast<std::size_t>(group.nranks());
    const auto gather = [&](const auto& own, auto& all) {
        group.run(call::allgather(own, all), at);
    };
    const std::array<std::int64_t, 2> own = {colour, key};
    std::vector<std::int64_t> choices(2 * nranks);
    gather(own, choices);

    std::vector<int> ranks;  // of this group that form the new one
    for (std::size_t r = 0; r < nranks; ++r) {
        if (choices[2 * r] == colour) ranks.push_back(static_cast<int>(r));
    }
    std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
        return choices[2 * static_cast<std::size_t>(a) + 1] <
               choices[2 * static_cast<std::size_t>(b) + 1];
    });

    // The first of each colour finds memory. 0: there is none.
    std::array<std::int64_t, 1> extent = {0};
    std::string why;
    const auto size = static_cast<int>(ranks.size());
    if (ranks.front() == group.rank()) {
        try {
            extent[0] = static_cast<std::int64_t>(
                group.world()->allocate(Members::communicator_bytes(size), size));
        } catch (const Error& error) {
            why = error.what();
        }
    }
    std::vector<std::int64_t> extents(nranks);
    gather(extent, extents);
    const std::int64_t mine = extents[static_cast<std::size_t>(ranks.front())];
    if (mine == 0) {
        throw Error(Fault::resource,
                    why.empty() ? fmt::format("split: rank {} found no memory", ranks.front())
                                : "split: " + why);
    }

    const auto position = std::find(ranks.begin(), ranks.end(), group.rank()) - ranks.begin();
    std::vector<int> members;
    for (const int rank : ranks) {
        members.push_back(group.members().in_world(rank));
    }
    return join(group.world(), std::move(members), static_cast<int>(position),
                static_cast<std::uint64_t>(mine), group.table());
}

}  // namespace peal::comm
