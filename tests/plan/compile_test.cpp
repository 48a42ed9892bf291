// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "peal/builder.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "plan/reference.hpp"
#include "plan/support.hpp"

namespace peal::plan {
namespace compile_test {

using namespace peal::testing;

ir::Program copy_left() {
    ir::KernelBuilder k("copy_left");
    const auto n = k.Symbol("n");
    const auto out = k.Tensor("out", Element::f32, {n});
    const auto data = k.Window("data", Element::f32, {n});
    auto& b = k.Body();
    const auto left = (ir::rank() + ir::nranks() - 1) % ir::nranks();
    b.Store(b.RemoteLoad(data, left, ir::integer(0), n), out, ir::integer(0));
    return std::move(k).Finish();
}

Collective collective_of(CollectiveKind kind, std::string_view recipe, std::uint64_t count,
                         Placement placement = Placement::separate) {
    Collective collective;
    collective.kind = kind;
    collective.recipe = recipe;
    collective.count = count;
    collective.placement = placement;
    collective.stage_bytes = 256;  // several chunks
    return collective;
}

// Pairs that send nothing, and pairs that send more than others.
// None where no table says how much.
std::vector<std::int64_t> uneven_counts(CollectiveKind kind, int nranks) {
    std::vector<std::int64_t> counts(table_entries(kind, nranks));
    for (std::size_t i = 0; i < counts.size(); ++i) {
        counts[i] = static_cast<std::int64_t>(i * 5 % 7);
    }
    return counts;
}

Bindings of_size(std::int64_t n) { return {{{"n", n}}, {}, {}}; }

TEST(Compile, MakesAPlanForEachRank) {
    const std::vector<Plan> plans = compile(copy_left(), "copy_left", of_size(2), 3);
    ASSERT_EQ(plans.size(), 3u);
    for (const Plan& plan : plans) {
        ASSERT_EQ(plan.instructions.size(), 1u);
        EXPECT_EQ(std::get<Copy>(plan.instructions[0].action),
                  (Copy{{0, plan.rank, 0, 8}, {1, (plan.rank + 2) % 3, 0, 8}}));
    }
}

TEST(Compile, ProgramsBuiltInCppReferToTheirLoweredText) {
    const Plan plan = compile(copy_left(), "copy_left", of_size(2), 3).front();
    ASSERT_TRUE(plan.source);
    EXPECT_EQ(plan.source->name(), "copy_left.peal (lowered)");
    const std::string line(plan.source->line(plan.instructions[0].line));
    EXPECT_NE(line.find("tile.store"), std::string::npos) << line;
}

TEST(Compile, WithoutFusingTilesStayButArePlaced) {
    CompileOptions options;
    options.fuse = false;
    const Collective collective = collective_of(CollectiveKind::allreduce, "mesh", 16);
    for (const Plan& plan : compile(collective, 8, options)) {
        EXPECT_EQ(plan.tile_bytes, 3u * 64);  // two terms and their sum
        EXPECT_GT(plan.instructions.size(), 2u * 8);
    }
}

TEST(Compile, RefusesRankCountsThatCannotBe) {
    EXPECT_EQ(error_of([] { compile(copy_left(), "copy_left", of_size(2), 0); }, Fault::usage),
              "expected 1..1024 ranks, found 0");
}

// ---------------------------------------------------------------------------- what fusing is for

TEST(Compile, AMeshAllreduceReadsEachPeerOnceAndWritesTheOutputOnce) {
    for (const int nranks : {2, 3, 8, 17}) {
        const Collective collective = collective_of(CollectiveKind::allreduce, "mesh", 100);
        const std::uint64_t bytes = 400;
        const auto ranks = static_cast<std::uint64_t>(nranks);
        for (const Plan& plan : compile(collective, nranks)) {
            const Traffic total = traffic(plan);
            EXPECT_EQ(total.bytes_read, bytes + ranks * bytes);  // the input, and each window
            EXPECT_EQ(total.remote_bytes_read, (ranks - 1) * bytes);
            EXPECT_EQ(total.bytes_written, 2 * bytes);  // the own window, and the output
            EXPECT_EQ(total.remote_bytes_written, 0u);
            EXPECT_EQ(plan.tile_bytes, 0u);
            std::size_t reductions = 0;
            for (const Instruction& instruction : plan.instructions) {
                const auto* reduce = std::get_if<Reduce>(&instruction.action);
                if (!reduce) continue;
                ++reductions;
                ASSERT_EQ(reduce->src.size(), ranks);
                for (std::size_t r = 0; r < ranks; ++r) {
                    EXPECT_EQ(reduce->src[r].rank, static_cast<std::int32_t>(r));
                }
            }
            EXPECT_EQ(reductions, 1u);
        }
    }
}

TEST(Compile, FusingKeepsTheEffectOfEveryRecipe) {
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            for (const int nranks : {1, 2, 5}) {
                for (const Placement placement : kPlacements) {
                    if (!offers(kind, recipe.name, placement)) continue;
                    Collective collective = collective_of(kind, recipe.name, 13, placement);
                    collective.counts = uneven_counts(kind, nranks);
                    SCOPED_TRACE(std::string(name(kind)) + " " + collective.recipe);
                    CompileOptions unfused;
                    unfused.fuse = false;
                    const std::vector<Plan> before = compile(collective, nranks, unfused);
                    const std::vector<Plan> after = compile(collective, nranks);
                    for (std::size_t r = 0; r < before.size(); ++r) {
                        ASSERT_NO_FATAL_FAILURE(expect_same_effect(before[r], after[r], r));
                    }
                }
            }
        }
    }
}

// The block that is both input and output is the rank's own.
TEST(Compile, InPlaceTheInputIsABlockOfTheOutput) {
    const Collective collective =
        collective_of(CollectiveKind::allgather, "pull", 3, Placement::in_place);
    const Plan plan = compile(collective, 2)[1];
    EXPECT_EQ(plan.buffers[0].name, "buffer");
    EXPECT_EQ(plan.buffers[0].direction, Direction::inout);
    ASSERT_EQ(plan.instructions.size(), 4u);
    EXPECT_EQ(to_text(plan.instructions[0], plan), "copy data[0..12) <- buffer[12..24)");
    EXPECT_EQ(to_text(plan.instructions[3], plan), "copy buffer[0..12) <- data@0[0..12)");
}

}  // namespace compile_test
}  // namespace peal::plan
