// SPDX-License-Identifier: Apache-2.0
// The one table of which recipe is taken when.
//
// A recipe needs memory, and who calls it decides what memory there is. So a rule says for which
// memory it is, and there are two views of the table: recipe=auto takes the rules for `target`
// (collectives/choose.hpp), a communicator those for `staging` and `window`, unless a profile
// replaces them (comm/profile.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "peal/collective.hpp"
#include "peal/limits.hpp"

namespace peal::collectives {

// What memory the recipe works with.
enum class Where : std::uint8_t {
    // In a kernel: the target that it was given, wherever the data is. There is no second set to
    // use in turn, so the recipe must leave the target free at once. A kernel may run anywhere:
    // these rules go by steps and signals, not by measured times.
    target,
    // In a communicator, private data: staged in the lines, boxes, ring and bulk memory that the
    // communicator has, or reached where it is.
    staging,
    // In a communicator, data on a window: nothing is staged, unless the recipe has no form on
    // windows; then a rank's part of the window is its private data, in place.
    window,
    // In a communicator whose ranks are on several hosts, wherever the data is: staged as above;
    // what is on a window is private data, in place. Nothing is reached.
    hosts,
};

// How ranks are spread over hosts, as far as rules ask.
struct Spread {
    int hosts = 1;
    int per_host = 0;  // the most that are on one host; 0: all
};
// By the host of each rank; empty: they are on one.
Spread spread_of(std::span<const std::int64_t> hosts);

// For messages of up to max_bytes (`count` elements) among up to max_ranks ranks.
struct Rule {
    static constexpr std::uint64_t kAny = std::uint64_t{1} << 62;

    CollectiveKind kind = CollectiveKind::barrier;
    Where where = Where::staging;
    int max_ranks = kMaxRanks;
    std::uint64_t max_bytes = kAny;
    std::string recipe;
    std::uint64_t stage_bytes = 0;  // of a pipeline: of a rank's staging window
    // The private buffers are the windows of the recipe: the system copies between them. Only taken
    // where it can.
    bool reach = false;
    // Where::hosts: among up to so many hosts, with up to so many ranks on each.
    int max_hosts = kMaxRanks, max_per_host = kMaxRanks;

    bool operator==(const Rule&) const = default;
};

// The table. For each kind, the rules of each `where` that it has follow each other; the last one
// takes any message.
std::span<const Rule> rules();

// The rules for such a message, best first.
std::vector<const Rule*> fitting(std::span<const Rule> rules, CollectiveKind kind, Where where,
                                 std::uint64_t bytes, int nranks, const Spread& spread = {});

// Where the recipe of this rule has the data of a call that has it at `asked`.
Placement carried_placement(const Rule& rule, Placement asked);

// Whether the recipe does nothing with its peers' data but copy it, in one lane, so that a rule may
// reach.
bool may_reach(CollectiveKind kind, std::string_view recipe);

}  // namespace peal::collectives
