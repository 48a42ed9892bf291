// SPDX-License-Identifier: Apache-2.0
#include "plan/compile_rank.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "peal/error.hpp"
#include "peal/lower.hpp"
#include "plan/specialise.hpp"

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

// Among many ranks and in many chunks rounds are repeated; with a source each is carried out.
TEST(CompileRank, GivesAPlanOfManyRoundsAsWell) {
    int repeated = 0;
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            const Placement placement = offers(kind, recipe.name, Placement::separate)
                                            ? Placement::separate
                                            : Placement::in_place;
            if (!offers(kind, recipe.name, placement)) continue;
            for (const int nranks : {2, 18}) {
                const std::uint64_t count =
                    facts_of(kind).has_blocks() ? 65536U / static_cast<unsigned>(nranks) : 65536U;
                Collective collective = collective_of(kind, recipe.name, placement, count, nranks);
                collective.stage_bytes = 1024;
                if (facts_of(kind).counts_ranks()) {
                    for (std::int64_t& count : collective.counts) count *= 50;
                }
                CompileOptions options;
                options.lanes = lanes_of(collective);
                const Bindings bindings = bindings_of(collective);
                const LoweredKernel with_source(program_of(collective), name(kind));
                const ir::Program bare = lower(program_of(collective));
                const ResolvedKernel kernel = resolve(bare, name(kind));
                for (const int rank : {0, nranks - 1}) {
                    const Plan expected =
                        compile_rank(with_source, bindings, rank, nranks, options);
                    ASSERT_EQ(compile_rank(collective, rank, nranks), without_lines(expected))
                        << name(kind) << " " << recipe.name << ", rank " << rank << " of "
                        << nranks;
                    repeated +=
                        !specialise(kernel, bindings, rank, nranks, options).repeats.empty();
                }
            }
        }
    }
    EXPECT_GE(repeated, 80);
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
