// SPDX-License-Identifier: Apache-2.0
#include "comm/bootstrap.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm/settings.hpp"
#include "hosts/text_wire.hpp"
#include "peal/watch.hpp"
#include "shm/backoff.hpp"
#include "shm/deadline.hpp"
#include "shm/inquiry.hpp"
#include "shm/timeout.hpp"

namespace peal::comm {
namespace {

// Memory that rank 0 leaves for the others: where the group is, and the text of the table.
struct BootstrapRecord {
    std::uint64_t group;
    std::uint64_t origin_bytes, table_bytes;  // of the two texts that follow

    char* texts() { return reinterpret_cast<char*>(this + 1); }
};

void publish_record(World& world) {
    const Table table = applicable_table();
    const std::string rules = to_json(table);
    const std::uint64_t extent = world.allocate(
        sizeof(BootstrapRecord) + table.origin.size() + rules.size(), world.nranks());
    auto* record = reinterpret_cast<BootstrapRecord*>(world.at(extent));
    record->origin_bytes = table.origin.size();
    record->table_bytes = rules.size();
    std::memcpy(record->texts(), table.origin.data(), table.origin.size());
    std::memcpy(record->texts() + table.origin.size(), rules.data(), rules.size());
    record->group =
        world.allocate(Members::communicator_bytes(world.nranks(), false), world.nranks());
    world.header().meeting_point.store(extent,
                                       std::memory_order_release);  // pairs with bootstrap()
    for (int rank = 1; rank < world.nranks(); ++rank) ring_if_asleep(world, rank);
}

std::uint64_t await_record(World& world, int rank) {
    const std::atomic<std::uint64_t>& published = world.header().meeting_point;
    const std::atomic<RankState>& first = world.header().ranks[0].state;
    const auto is_there = [&] { return published.load(std::memory_order_acquire) != 0; };
    const auto has_left = [&] { return first.load(std::memory_order_acquire) == RankState::left; };
    const auto is_settled = [&] { return has_left() || is_there(); };
    const Clock::time_point deadline = shm::deadline_after(Clock::now(), default_timeout());
    Waited waited = Waited::deadline;
    while (waited == Waited::deadline) {
        Watch::look_up();
        if (Clock::now() >= deadline) {
            throw Error(Fault::bound, fmt::format("timeout: rank {} waited too long for rank 0 to "
                                                  "connect",
                                                  rank));
        }
        if (is_asked(world, rank)) answer(world, rank, "connecting, waits for rank 0");
        waited =
            wait_until(world, rank, is_settled, std::min(deadline, shm::from_now(Backoff::kNap)));
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

std::vector<int> all_ranks(const World& world) {
    std::vector<int> members(static_cast<std::size_t>(world.nranks()));
    std::iota(members.begin(), members.end(), 0);
    return members;
}

// ---- on several hosts

// What a rank says when it comes: the first of a host, where the group's memory is there; rank 0,
// the table.
struct Arrival {
    std::uint64_t extent = 0;
    std::string origin, rules;
};

std::string pack(const Arrival& arrival) {
    hosts::Packer packer;
    return packer.wide(arrival.extent).text(arrival.origin).text(arrival.rules).bytes();
}

Arrival arrival_in(const std::string& text, const hosts::Job& job, int rank) {
    hosts::Unpacker unpacker(text);
    Arrival arrival;
    arrival.extent = unpacker.wide();
    arrival.origin = unpacker.text();
    arrival.rules = unpacker.text();
    if (unpacker.is_over()) return arrival;
    throw Error(Fault::wrong, fmt::format("cannot connect: {} says nothing that is understood",
                                          job.name_of(rank)));
}

// Of the ranks, those on this host.
std::vector<int> ranks_here(const hosts::Job& job, std::vector<int> ranks) {
    std::erase_if(ranks, [&](int rank) { return job.is_far(rank); });
    return ranks;
}

Arrival arrive(const hosts::Job& job, const std::vector<int>& here) {
    Arrival arrival;
    if (job.rank() == 0) {
        const Table table = applicable_table();
        arrival.origin = table.origin;
        arrival.rules = to_json(table);
    }
    if (job.rank() == here.front()) {
        arrival.extent = job.world()->allocate(
            Members::communicator_bytes(job.world()->nranks(), job.spans_hosts()),
            static_cast<int>(here.size()));
    }
    return arrival;
}

}  // namespace

std::unique_ptr<Group> bootstrap(const std::shared_ptr<hosts::Job>& job) {
    const std::vector<int> here = ranks_here(*job, all_ranks(*job->world()));
    const std::vector<std::string> texts = job->meeting().exchange(pack(arrive(*job, here)));
    const auto said_by = [&](int rank) {
        return arrival_in(texts[static_cast<std::size_t>(rank)], *job, rank);
    };
    const Arrival first = said_by(0);
    auto table = std::make_shared<const Table>(table_from_json(first.rules, first.origin));
    const auto exchange = [&](const std::string& own) { return job->meeting().exchange(own); };
    return std::make_unique<Group>(job->world(), all_ranks(*job->world()), job->rank(),
                                   said_by(here.front()).extent, std::move(table), job, exchange);
}

std::unique_ptr<Group> bootstrap(std::shared_ptr<World> world, int rank) {
    if (rank == 0) publish_record(*world);
    const std::uint64_t extent = await_record(*world, rank);
    auto* record = reinterpret_cast<BootstrapRecord*>(world->at(extent));
    std::string origin(record->texts(), record->origin_bytes);
    auto table = std::make_shared<const Table>(table_from_json(
        {record->texts() + record->origin_bytes, record->table_bytes}, std::move(origin)));
    const std::uint64_t group = record->group;
    world->disown(extent);
    std::vector<int> members = all_ranks(*world);
    return std::make_unique<Group>(std::move(world), std::move(members), rank, group,
                                   std::move(table));
}

namespace {

// The ranks of the group that gave this colour, ordered by key, then by rank.
std::vector<int> ranks_of_colour(Group& group, int colour, int key, CallSite at) {
    const auto nranks = static_cast<std::size_t>(group.nranks());
    const std::array<std::int64_t, 2> own = {colour, key};
    std::vector<std::int64_t> choices(2 * nranks);
    group.run(call::allgather(own, choices), at);
    std::vector<int> ranks;
    for (std::size_t r = 0; r < nranks; ++r) {
        if (choices[2 * r] == colour) ranks.push_back(static_cast<int>(r));
    }
    std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
        return choices[2 * static_cast<std::size_t>(a) + 1] <
               choices[2 * static_cast<std::size_t>(b) + 1];
    });
    return ranks;
}

// What each rank of the group found for its part.
struct FoundMemory {
    std::vector<std::int64_t> extents;  // by rank; 0: none, or another rank of its host finds it
    std::string why;                    // this rank should have found memory, and did not

    std::uint64_t of(int rank) const {
        return static_cast<std::uint64_t>(extents[static_cast<std::size_t>(rank)]);
    }
};

// On each host the first of each colour, here `first`, finds memory.
FoundMemory find_memory(Group& group, const std::vector<int>& ranks, int first, CallSite at) {
    const Members& parent = group.members();
    FoundMemory found;
    std::array<std::int64_t, 1> extent = {0};
    if (first == group.rank()) {
        const auto size = static_cast<int>(ranks.size());
        const auto here = static_cast<int>(std::count_if(
            ranks.begin(), ranks.end(), [&](int rank) { return !parent.is_far(rank); }));
        try {
            extent[0] = static_cast<std::int64_t>(
                group.world()->allocate(Members::communicator_bytes(size, here < size), here));
        } catch (const Error& error) {
            found.why = error.what();
        }
    }
    found.extents.resize(static_cast<std::size_t>(group.nranks()));
    group.run(call::allgather(extent, found.extents), at);
    return found;
}

// Of the ranks of a new group, those that had to find memory on their host: the first that did not.
std::optional<int> first_without(const std::vector<int>& ranks, const Members& parent,
                                 const FoundMemory& found) {
    std::vector<int> hosts;
    for (const int rank : ranks) {
        const int host = parent.job == nullptr ? 0 : parent.job->host_of(parent.in_world(rank));
        if (std::find(hosts.begin(), hosts.end(), host) != hosts.end()) continue;
        hosts.push_back(host);
        if (found.of(rank) == 0) return rank;
    }
    return std::nullopt;
}

}  // namespace

std::unique_ptr<Group> split(Group& group, int colour, int key, CallSite at,
                             std::shared_ptr<const Table> table) {
    if (table == nullptr) table = group.table();
    group.meet(SyncReason::split, 0, at);
    const Members& parent = group.members();
    const std::vector<int> ranks = ranks_of_colour(group, colour, key, at);
    const int first =
        *std::find_if(ranks.begin(), ranks.end(), [&](int rank) { return !parent.is_far(rank); });
    const FoundMemory found = find_memory(group, ranks, first, at);
    const auto exchange = [&](const std::string& own) {
        const std::vector<std::string> all = group.exchange(own, at);
        std::vector<std::string> texts;
        for (const int rank : ranks) texts.push_back(all[static_cast<std::size_t>(rank)]);
        return texts;
    };
    if (const auto lacks = first_without(ranks, parent, found)) {
        if (parent.span_hosts()) exchange("");  // others may have found memory
        if (found.of(first) != 0) group.world()->disown(found.of(first));
        throw Error(Fault::resource, found.why.empty()
                                         ? fmt::format("split: rank {} found no memory", *lacks)
                                         : "split: " + found.why);
    }

    const auto position = std::find(ranks.begin(), ranks.end(), group.rank()) - ranks.begin();
    std::vector<int> members;
    for (const int rank : ranks) members.push_back(parent.in_world(rank));
    auto part =
        std::make_unique<Group>(group.world(), std::move(members), static_cast<int>(position),
                                found.of(first), std::move(table), parent.job, exchange);
    if (parent.span_hosts() && !part->members().span_hosts()) exchange("");
    return part;
}

}  // namespace peal::comm
