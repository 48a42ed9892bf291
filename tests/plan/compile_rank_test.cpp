// SPDX-License-Identifier: Apache-2.0
#include "plan/compile_rank.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "peal/error.hpp"

namespace peal::plan {
namespace compile_rank_test {

Collective collective_of(CollectiveKind kind, std::string_view recipe, Placement placement,
                         std::uint64_t count, int nranks) {
    Collective collective;
    collective.kind = kind;
    collective.recipe = recipe;
    collective.placement = placement;
    collective.stage_bytes = 4096;
    for (std::size_t i = 0; i < table_entries(kind, nranks); ++i) {
        collective.counts.push_back(static_cast<std::int64_t>(i * 7 % (count + 1)));
    }
    if (kind != CollectiveKind::barrier) {
        collective.count = count;
    }
    if (has_root(kind)) collective.root = nranks - 1;
    return collective;
}

Plan without_lines(Plan plan) {
    for (Instruction& instruction : plan.instructions) instruction.line = 0;
    return plan;
}

// One set of arguments after the other, so that each is made from what the one before has left.
TEST(CompileRank, GivesThePlanOfEachRank) {
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            for (const Placement placement : kPlacements) {
                if (!offers(kind, recipe.name, placement)) continue;
                for (const int nranks : {1, 2, 5}) {
                    for (const std::uint64_t count : {0, 1, 700, 3001}) {
                        const Collective collective =
                            collective_of(kind, recipe.name, placement, count, nranks);
                        const std::vector<Plan> plans = compile(collective, nranks);
                        for (int rank = 0; rank < nranks; ++rank) {
                            const Plan plan = compile_rank(collective, rank, nranks);
                            const Plan& expected = plans[static_cast<std::size_t>(rank)];
                            ASSERT_EQ(plan, without_lines(expected))
                                << name(kind) << " " << recipe.name << " " << name(placement)
                                << ", count " << count << ", rank " << rank << " of " << nranks;
                            ASSERT_EQ(plan.source, nullptr);
                        }
                    }
                }
            }
        }
    }
}

TEST(CompileRank, KnowsFormsApart) {
    Collective collective =
        collective_of(CollectiveKind::allreduce, "mesh", Placement::separate, 10, 2);
    const Plan sum = compile_rank(collective, 0, 2);
    collective.op = ReduceOp::max;
    const Plan max = compile_rank(collective, 0, 2);
    collective.element = Element::i32;
    const Plan integers = compile_rank(collective, 0, 2);
    EXPECT_NE(sum, max);
    EXPECT_EQ(integers, without_lines(compile(collective, 2)[0]));
    EXPECT_NE(max, integers);
}

TEST(CompileRank, KnowsSetsApart) {
    Collective collective =
        collective_of(CollectiveKind::allreduce, "push", Placement::separate, 10, 2);
    for (const int sets : {1, 2, 3, 1}) {
        collective.sets = sets;
        EXPECT_EQ(compile_rank(collective, 1, 2), without_lines(compile(collective, 2)[1])) << sets;
    }
}

TEST(CompileRank, RejectsWhatTheCollectiveRejects) {
    Collective collective =
        collective_of(CollectiveKind::broadcast, "mesh", Placement::separate, 10, 4);
    collective.root = 4;
    try {
        compile_rank(collective, 0, 4);
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_STREQ(error.what(), "broadcast: root must be 0..3, found 4");
    }
    collective.root = 0;
    EXPECT_THROW(compile_rank(collective, 4, 4), Error);
}

TEST(CompileRank, ServesSeveralThreads) {
    constexpr int kRanks = 4;
    Collective collective =
        collective_of(CollectiveKind::allgather, "ring", Placement::separate, 100, kRanks);
    collective.element = Element::f16;
    std::vector<Plan> plans(kRanks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank) {
        threads.emplace_back([&, rank] {
            plans[static_cast<std::size_t>(rank)] = compile_rank(collective, rank, kRanks);
        });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<Plan> expected = compile(collective, kRanks);
    for (Plan& plan : expected) plan = without_lines(std::move(plan));
    EXPECT_EQ(plans, expected);
}

}  // namespace compile_rank_test
}  // namespace peal::plan
