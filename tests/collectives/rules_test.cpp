// SPDX-License-Identifier: Apache-2.0
// Which recipe is taken is known for every kind, memory, number of ranks and size; a change of the
// table is a change here.
#include "collectives/rules.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "collectives/catalogue.hpp"
#include "collectives/choose.hpp"
#include "support/message_sizes.hpp"

namespace peal::collectives {
namespace rules_test {

// Where the data is; `staging` and out_of_reach differ in whether private buffers are in reach. No
// row for out_of_reach means the same as for staging.
enum Memory { target, staging, out_of_reach, window };

struct Row {
    CollectiveKind kind;
    Memory memory;
    std::vector<int> ranks;
    const char* ways;  // recipe, bytes of its stage, and the largest message
};

std::vector<Row> known_rows() {
    using enum CollectiveKind;
    return {
        {allreduce, target, {1, 2}, "mesh"},
        {allreduce, target, {3, 4, 8, 9, 16}, "mesh to 16384, two_phase"},
        {allreduce, target, {17, 64, 1024}, "halving_doubling to 262144, ring"},
        {allreduce, staging, {1, 2}, "push to 1024, pull to 393216, pipeline 1024K"},
        {allreduce,
         staging,
         {3, 4, 8, 9, 16, 17, 64, 1024},
         "push to 1024, pull to 131072, pipeline 1024K"},
        {allreduce, window, {1, 2}, "push to 512, direct"},
        {allreduce, window, {3, 4, 8, 9, 16, 17, 64, 1024}, "push to 256, pull to 4096, direct"},
        {reduce_scatter, target, {1, 2, 3, 4, 8, 9, 16}, "mesh"},
        {reduce_scatter, target, {17, 64, 1024}, "ring"},
        {reduce_scatter,
         staging,
         {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024},
         "push to 65536, pipeline 1024K"},
        {reduce_scatter, window, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "push to 1024, mesh"},
        {allgather, target, {1, 2, 3, 4, 8, 9, 16}, "mesh"},
        {allgather, target, {17, 64, 1024}, "ring"},
        {allgather,
         staging,
         {1, 2},
         "push to 1024, pull to 458752, pipeline 1024K to 786432, mesh reaching to 12582912, "
         "pipeline 1024K"},
        {allgather, staging, {3, 4}, "push to 1024, pull to 131072, pipeline 1024K"},
        {allgather,
         staging,
         {8, 9, 16, 17, 64, 1024},
         "push to 1024, pull to 131072, pipeline 256K"},
        {allgather, out_of_reach, {1, 2}, "push to 1024, pull to 458752, pipeline 1024K"},
        {allgather, window, {1, 2}, "push to 256, mesh"},
        {allgather, window, {3, 4, 8, 9, 16, 17, 64, 1024}, "push to 256, pull to 4096, mesh"},
        {broadcast, target, {1, 2}, "mesh"},
        {broadcast, target, {3, 4, 8}, "mesh to 16384, scatter_allgather"},
        {broadcast, target, {9, 16, 17, 64, 1024}, "tree to 16384, scatter_allgather"},
        {broadcast,
         staging,
         {1, 2},
         "push to 1024, stream to 524288, pipeline 768K to 1572864, joint reaching"},
        {broadcast,
         staging,
         {3, 4, 8, 9, 16, 17, 64, 1024},
         "push to 1024, pull to 131072, pipeline 1024K"},
        {broadcast,
         out_of_reach,
         {1, 2},
         "push to 1024, stream to 524288, pipeline 768K to 1572864, pipeline 1024K"},
        {broadcast, window, {1, 2}, "mesh to 2048, joint"},
        {broadcast, window, {3, 4, 8, 9, 16, 17, 64, 1024}, "mesh"},
        {all_to_all, target, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "mesh to 65536, pairwise"},
        {all_to_all,
         staging,
         {1, 2},
         "push to 262144, pipeline 1024K to 786432, mesh reaching to 6291456, pipeline 1024K"},
        {all_to_all,
         staging,
         {3, 4, 8, 9, 16, 17, 64, 1024},
         "push to 65536, pipeline 1024K to 393216, mesh reaching to 1572864, pipeline 1024K"},
        {all_to_all, out_of_reach, {1, 2}, "push to 262144, pipeline 1024K"},
        {all_to_all, out_of_reach, {3, 4, 8, 9, 16, 17, 64, 1024}, "push to 65536, pipeline 1024K"},
        {all_to_all,
         window,
         {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024},
         "push to 16384, pipeline 1024K to 1048576, mesh"},
        {all_to_all_v, target, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "mesh"},
        {all_to_all_v,
         staging,
         {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024},
         "push to 262144, pipeline 1024K"},
        {allgather_v, target, {1, 2, 3, 4, 8, 9, 16}, "mesh"},
        {allgather_v, target, {17, 64, 1024}, "ring"},
        {allgather_v, staging, {1, 2}, "push to 1024, pull to 458752, pipeline 1024K"},
        {allgather_v,
         staging,
         {3, 4, 8, 9, 16, 17, 64, 1024},
         "push to 1024, pull to 131072, pipeline 1024K"},
        {reduce_scatter_v, target, {1, 2, 3, 4, 8, 9, 16}, "mesh"},
        {reduce_scatter_v, target, {17, 64, 1024}, "ring"},
        {reduce_scatter_v,
         staging,
         {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024},
         "push to 65536, pipeline 1024K"},
        {reduce, target, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "mesh"},
        {reduce, staging, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "push to 65536, pipeline 1024K"},
        {gather, target, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "mesh"},
        {gather, staging, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "push to 65536, pipeline 1024K"},
        {scatter, target, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "mesh"},
        {scatter, staging, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "push to 65536, pipeline 1024K"},
        {scan, target, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "mesh"},
        {scan, staging, {1, 2, 3, 4}, "push to 1024, pull to 131072, pipeline 1024K"},
        {scan, staging, {8, 9, 16, 17, 64, 1024}, "push to 1024, pull to 32768, pipeline 1024K"},
        {exscan, target, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "mesh"},
        {exscan, staging, {1, 2, 3, 4}, "push to 1024, pull to 131072, pipeline 1024K"},
        {exscan, staging, {8, 9, 16, 17, 64, 1024}, "push to 1024, pull to 32768, pipeline 1024K"},
        {barrier, target, {1, 2, 3, 4, 8}, "mesh"},
        {barrier, target, {9, 16, 17, 64, 1024}, "dissemination"},
        {barrier, staging, {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024}, "mesh"},
    };
}

const std::vector<int> kRanks = {1, 2, 3, 4, 8, 9, 16, 17, 64, 1024};

std::string way_of(const Rule& rule) {
    std::string text = rule.recipe;
    if (rule.reach) text += " reaching";
    if (rule.stage_bytes != 0) text += " " + std::to_string(rule.stage_bytes >> 10) + "K";
    return text;
}

std::string ways_of(CollectiveKind kind, Memory memory, int nranks) {
    const Where where = memory == target   ? Where::target
                        : memory == window ? Where::window
                                           : Where::staging;
    if (fitting(rules(), kind, where, 0, nranks).empty()) return "";
    static const std::vector<std::uint64_t> sizes = test::message_sizes(1, std::uint64_t{1} << 34);
    return test::ways(sizes, [&](std::uint64_t bytes) -> std::string {
        for (const Rule* rule : fitting(rules(), kind, where, bytes, nranks)) {
            if (memory != out_of_reach || !rule->reach) return way_of(*rule);
        }
        return "nothing";
    });
}

TEST(Rules, TakeWhatTheyHaveAlwaysTaken) {
    std::map<std::tuple<CollectiveKind, Memory, int>, std::string> known;
    for (const Row& row : known_rows()) {
        for (const int nranks : row.ranks) known[{row.kind, row.memory, nranks}] = row.ways;
    }
    for (const CollectiveKind kind : kCollectives) {
        for (const int nranks : kRanks) {
            for (const Memory memory : {target, staging, out_of_reach, window}) {
                const auto row = known.find({kind, memory, nranks});
                const std::string expected = row != known.end() ? row->second
                                             : memory == out_of_reach
                                                 ? known[{kind, staging, nranks}]
                                                 : "";
                EXPECT_EQ(ways_of(kind, memory, nranks), expected)
                    << name(kind) << ", memory " << memory << ", " << nranks << " ranks";
            }
        }
    }
}

// Ranks on several hosts; the first number is the most that one host has.
TEST(Rules, OfHostsGoBySizeHostsAndRanksOfAHost) {
    const auto ways_between = [](CollectiveKind kind, const Spread& spread) {
        return test::ways(test::message_sizes(1, std::uint64_t{1} << 34), [&](std::uint64_t bytes) {
            return way_of(*fitting(rules(), kind, Where::hosts, bytes, 8, spread).front());
        });
    };
    using enum CollectiveKind;
    const Spread alone{8, 1}, together{2, 4};
    EXPECT_EQ(ways_between(allreduce, alone), "push to 16384, hosts 4096K");
    EXPECT_EQ(ways_between(allreduce, together), "leaders to 16384, hosts 4096K");
    EXPECT_EQ(ways_between(broadcast, alone), "push to 16384, hosts 4096K");
    EXPECT_EQ(ways_between(broadcast, together), "leaders to 16384, hosts 4096K");
    EXPECT_EQ(ways_between(barrier, alone), "mesh");
    EXPECT_EQ(ways_between(barrier, together), "hosts");
    for (const CollectiveKind kind : {reduce_scatter, allgather, reduce_scatter_v, allgather_v}) {
        EXPECT_EQ(ways_between(kind, together), "push to 4096, hosts 4096K") << name(kind);
    }
    EXPECT_EQ(ways_between(all_to_all, together), "push to 16384, hosts 4096K");
    EXPECT_EQ(ways_between(all_to_all_v, together), "push to 65536, hosts 4096K");
    for (const CollectiveKind kind : {reduce, gather, scatter, scan, exscan}) {
        EXPECT_EQ(ways_between(kind, together), "push to 65536, pipeline 1024K") << name(kind);
    }
}

TEST(Rules, KnowHowRanksAreSpread) {
    const auto spread = [](const std::vector<std::int64_t>& hosts) {
        const Spread found = spread_of(hosts);
        return std::pair(found.hosts, found.per_host);
    };
    EXPECT_EQ(spread({}), std::pair(1, 0));
    EXPECT_EQ(spread({4, 4, 4}), std::pair(1, 0));
    EXPECT_EQ(spread({0, 1}), std::pair(2, 1));
    EXPECT_EQ(spread({7, 2, 7, 7, 2, 5, 2, 2}), std::pair(3, 4));
}

TEST(Rules, OfAutoAreThoseOfTheTarget) {
    for (const CollectiveKind kind : kCollectives) {
        for (const int nranks : kRanks) {
            for (const std::uint64_t bytes : test::message_sizes(1, 1 << 20)) {
                EXPECT_EQ(choose_recipe(kind, bytes, nranks),
                          fitting(rules(), kind, Where::target, bytes, nranks).front()->recipe);
            }
        }
    }
}

// Which is all the memory that a kernel has.
TEST(Rules, OfAutoNeedNothingButTheTarget) {
    for (const CollectiveKind kind : kCollectives) {
        const Entry& first = entry(kind, "auto");
        for (const Rule& rule : rules_of_auto(kind)) {
            const Entry& recipe = entry(kind, rule.recipe);
            EXPECT_EQ(recipe.row.name, rule.recipe);
            EXPECT_EQ(recipe.row.reuse, Reuse::at_once) << name(kind) << " " << rule.recipe;
            EXPECT_EQ(recipe.use, TargetUse::any) << name(kind) << " " << rule.recipe;
            EXPECT_EQ(recipe.target_size, first.target_size) << name(kind) << " " << rule.recipe;
            EXPECT_FALSE(rule.reach);
            EXPECT_EQ(rule.stage_bytes, 0u);
        }
    }
}

TEST(Rules, OfAKindAndMemoryFollowEachOtherAndTakeEverything) {
    std::vector<std::pair<CollectiveKind, Where>> seen;
    for (const Rule& rule : rules()) {
        const std::pair where(rule.kind, rule.where);
        if (!seen.empty() && seen.back() == where) continue;
        EXPECT_EQ(std::count(seen.begin(), seen.end(), where), 0) << name(rule.kind);
        seen.push_back(where);
        const auto any =
            fitting(rules(), rule.kind, rule.where, Rule::kAny, kMaxRanks, {kMaxRanks, kMaxRanks});
        EXPECT_TRUE(std::any_of(any.begin(), any.end(), [](const Rule* r) { return !r->reach; }))
            << name(rule.kind);
    }
    for (const CollectiveKind kind : kCollectives) EXPECT_FALSE(rules_of_auto(kind).empty());
}

TEST(Rules, NameRecipesThatThereAre) {
    for (const Rule& rule : rules()) {
        const auto& list = recipes(rule.kind);
        const bool knows = knows_hosts(rule.kind, rule.recipe);
        EXPECT_TRUE(knows ||
                    std::any_of(list.begin(), list.end(),
                                [&](const Recipe& recipe) { return recipe.name == rule.recipe; }))
            << name(rule.kind) << " " << rule.recipe;
        EXPECT_TRUE(!knows || rule.where == Where::hosts) << name(rule.kind);
        const Placement asked =
            rule.where == Where::window ? Placement::window : Placement::separate;
        EXPECT_TRUE(offers(rule.kind, rule.recipe, carried_placement(rule, asked)))
            << name(rule.kind) << " " << rule.recipe;
        if (rule.reach) {
            EXPECT_TRUE(may_reach(rule.kind, rule.recipe)) << name(rule.kind) << " " << rule.recipe;
        }
    }
}

}  // namespace rules_test
}  // namespace peal::collectives
