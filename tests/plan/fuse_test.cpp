// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "peal/compile.hpp"
#include "plan/faults.hpp"
#include "plan/random_plan.hpp"
#include "plan/reference.hpp"
#include "plan/support.hpp"
#include "plan/tile_blocks.hpp"
#include "plan/turns.hpp"

namespace peal::plan {
namespace fuse_test {

using namespace peal::testing;

// ---------------------------------------------------------------------------- property

void expect_no_more_work(const Plan& plan, const Plan& fused, std::uint64_t seed) {
    const Traffic before = traffic(plan), after = traffic(fused);
    ASSERT_LE(fused.instructions.size(), plan.instructions.size()) << seed;
    ASSERT_LE(after.bytes_read + after.bytes_written, before.bytes_read + before.bytes_written)
        << "seed " << seed << '\n'
        << to_text(plan) << to_text(fused);
    ASSERT_LE(after.remote_bytes_read, before.remote_bytes_read) << "seed " << seed << '\n'
                                                                 << to_text(plan) << to_text(fused);
    ASSERT_LE(after.remote_bytes_written, before.remote_bytes_written) << seed;
}

TEST(Fuse, RandomPlansKeepTheirEffect) {
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        const Plan plan = RandomPlan(seed, 4 + seed % 40).plan();
        ASSERT_NO_THROW(validate(plan)) << seed;
        const Plan fused = fuse(plan);
        ASSERT_NO_THROW(validate(fused)) << seed;
        ASSERT_NO_FATAL_FAILURE(expect_same_effect(plan, fused, seed));
        ASSERT_NO_FATAL_FAILURE(expect_no_more_work(plan, fused, seed));
        if (TileBlocks(plan.instructions).are_values()) {
            ASSERT_LE(fused.tile_bytes, plan.tile_bytes) << seed;
        }
    }
}

TEST(Fuse, FusingTwiceKeepsTheEffectToo) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        const Plan plan = RandomPlan(seed, 30).plan();
        const Plan twice = fuse(fuse(plan));
        ASSERT_NO_FATAL_FAILURE(expect_same_effect(plan, twice, seed));
    }
}

TEST(Fuse, PlansThatReuseTheirTilesKeepTheirEffect) {
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        const Plan plan = RandomPlan(seed, 4 + seed % 40, 2 + seed % 4).plan();
        ASSERT_NO_THROW(validate(plan)) << seed;
        const Plan fused = fuse(plan);
        ASSERT_NO_THROW(validate(fused)) << seed;
        ASSERT_NO_FATAL_FAILURE(expect_same_effect(plan, fused, seed));
        ASSERT_NO_FATAL_FAILURE(expect_no_more_work(plan, fused, seed));
    }
}

// Places move from turn to turn, some together and some each on its own: in each turn the fused
// plan does what the plan does.
TEST(Fuse, PlansThatTakeTurnsKeepTheirEffectInEach) {
    for (std::uint64_t seed = 0; seed < 1500; ++seed) {
        Plan plan = RandomPlan(seed, 4 + seed % 40).plan();
        std::mt19937_64 random(seed);
        plan.turns = {4, 1, 2, {}};
        for (std::uint16_t b = 0; b < 4; ++b) {
            const std::uint64_t bytes = plan.buffers[b].bytes;
            plan.turns.shifts.push_back({b, {0, bytes}});
            plan.turns.shifts.push_back({b, {bytes, 0}});
            plan.buffers[b].bytes = 2 * bytes;
        }
        const std::uint64_t others = seed % 3 * 20;  // in a hundred
        for (Instruction& instruction : plan.instructions) {
            for_each_range(instruction.action, [&](Range& range) {
                if (is_tile(range)) return;
                const bool is_other = random() % 100 < others;
                range.shift = static_cast<std::uint16_t>(
                    is_other ? random() % 2 * (2U * range.buffer + 2) : 2U * range.buffer + 1);
            });
        }
        if (!faults_of(plan).empty()) continue;  // a copy meets itself
        const Plan fused = fuse(plan);
        ASSERT_NO_THROW(validate(fused)) << seed;
        ASSERT_NO_FATAL_FAILURE(expect_no_more_work(plan, fused, seed));
        for (const std::uint32_t turn : {0U, 1U}) {
            ASSERT_NO_FATAL_FAILURE(
                expect_same_effect(in_turn(plan, turn), in_turn(fused, turn), seed));
        }
    }
}

// ---------------------------------------------------------------------------- exact shapes

// Rank 1 of 3 with the buffers of sample_plan, 64 bytes each.
class FuseShape : public ::testing::Test {
protected:
    FuseShape() : plan_(sample_plan()) {
        plan_.instructions.clear();
        plan_.tile_bytes = 0;
        plan_.source = nullptr;
    }

    Range tile(int number, std::uint64_t bytes = 64, std::uint64_t offset = 0) {
        const Range range{kTile, 1, static_cast<std::uint64_t>(number) * 64 + offset, bytes};
        plan_.tile_bytes = std::max(plan_.tile_bytes, range.offset + bytes);
        return range;
    }
    static Range inp(std::uint64_t offset = 0, std::uint64_t bytes = 64) {
        return {kInp, 1, offset, bytes};
    }
    static Range out(std::uint64_t offset = 0, std::uint64_t bytes = 64) {
        return {kOut, 1, offset, bytes};
    }
    static Range data(int rank, std::uint64_t offset = 0, std::uint64_t bytes = 64) {
        return {kData, rank, offset, bytes};
    }
    void copy(const Range& dst, const Range& src) { add(Copy{dst, src}); }
    void sum(const Range& dst, const Range& a, const Range& b) {
        add(Reduce{ReduceOp::sum, Element::f32, dst, {a, b}});
    }
    void add(Action action) {
        plan_.instructions.push_back({std::move(action), Pipe::none, next_line_++});
    }
    void notify() { add(Notify{NotifyOp::set, {kSig, 2, 1}, {1, 0}}); }
    void wait() { add(Wait{Compare::ge, {kSig, 1, 0}, {1, 0}}); }

    // The instructions of the fused plan, one a line.
    std::string fused() {
        validate(plan_);
        const Plan result = fuse(plan_);
        validate(result);
        std::string text;
        for (const Instruction& instruction : result.instructions) {
            text += to_text(instruction, result) + '\n';
        }
        return text;
    }

    Plan plan_;
    std::uint32_t next_line_ = 1;
};

// ---- deferred work

TEST_F(FuseShape, WorkAroundAPutIsFused) {
    copy(tile(0), inp());
    copy(data(1), tile(0));
    add(Copy{data(2), data(1)});
    plan_.instructions.back().group = 1;
    add(Fence{1});
    notify();
    EXPECT_EQ(fused(),
              "copy data[0..64) <- inp[0..64)\n"
              "copy data@2[0..64) <- data[0..64), deferred #1\n"
              "fence #1\n"
              "notify sig[1]@2 = 1\n");
}

// What is put may still be read until its fence.
TEST_F(FuseShape, NoStoreMovesUpPastAFence) {
    add(Copy{data(2, 32, 32), data(1, 32, 32)});
    plan_.instructions.back().group = 1;
    sum(tile(0, 32), data(0, 0, 32), data(2, 0, 32));
    add(Fence{1});
    copy(data(1, 32, 32), tile(0, 32));
    EXPECT_EQ(fused(),
              "copy data@2[32..64) <- data[32..64), deferred #1\n"
              "reduce sum f32 tile[0..32) <- data@0[0..32), data@2[0..32)\n"
              "fence #1\n"
              "copy data[32..64) <- tile[0..32)\n");
}

// Nobody knows when it is done with its tile.
TEST_F(FuseShape, WhatIsDeferredFromATileStays) {
    copy(tile(0), inp());
    add(Copy{data(2), tile(0)});
    plan_.instructions.back().group = 1;
    add(Fence{1});
    EXPECT_EQ(fused(),
              "copy tile[0..64) <- inp[0..64)\n"
              "copy data@2[0..64) <- tile[0..64), deferred #1\n"
              "fence #1\n");
}

TEST_F(FuseShape, LoadAndStoreBecomeACopy) {
    copy(tile(0), data(2));
    copy(out(), tile(0));
    EXPECT_EQ(fused(), "copy out[0..64) <- data@2[0..64)\n");
    EXPECT_EQ(fuse(plan_).tile_bytes, 0u);
    EXPECT_EQ(fuse(plan_).instructions[0].line, 2u);
}

TEST_F(FuseShape, MeshAllreduceReadsEachPeerOnceAndWritesOnce) {
    copy(tile(0), inp());
    copy(data(1), tile(0));
    notify();
    wait();
    copy(tile(1), data(0));
    copy(tile(2), data(1));
    sum(tile(3), tile(1), tile(2));
    copy(tile(4), data(2));
    sum(tile(5), tile(3), tile(4));
    copy(out(), tile(5));
    EXPECT_EQ(fused(),
              "copy data[0..64) <- inp[0..64)\n"
              "notify sig[1]@2 = 1\n"
              "wait sig[0] >= 1\n"
              "reduce sum f32 out[0..64) <- data@0[0..64), data[0..64), data@2[0..64)\n");
    const Traffic total = traffic(fuse(plan_));
    EXPECT_EQ(total.bytes_read, 64u + 3 * 64);
    EXPECT_EQ(total.remote_bytes_read, 2u * 64);
    EXPECT_EQ(total.bytes_written, 64u + 64);
    EXPECT_EQ(fuse(plan_).instructions[3].line, 9u);  // where the sum is
}

TEST_F(FuseShape, AWindowReadStaysBeforeTheNotify) {
    copy(tile(0), data(2));
    notify();
    copy(out(), tile(0));
    EXPECT_EQ(fused(),
              "copy out[0..64) <- data@2[0..64)\n"
              "notify sig[1]@2 = 1\n");
}

TEST_F(FuseShape, AWindowWriteStaysBehindTheWait) {
    sum(tile(0), data(0), data(2));
    wait();
    copy(data(1), tile(0));
    EXPECT_EQ(fused(),
              "reduce sum f32 tile[0..64) <- data@0[0..64), data@2[0..64)\n"
              "wait sig[0] >= 1\n"
              "copy data[0..64) <- tile[0..64)\n");
}

TEST_F(FuseShape, PrivateReadsPassSyncs) {
    copy(tile(0), inp());
    notify();
    wait();
    sum(tile(1), tile(0), data(2));
    copy(out(), tile(1));
    EXPECT_EQ(fused(),
              "notify sig[1]@2 = 1\n"
              "wait sig[0] >= 1\n"
              "reduce sum f32 out[0..64) <- inp[0..64), data@2[0..64)\n");
}

// Another lane may read what this one writes, and write what it reads; inputs nobody writes.
TEST_F(FuseShape, WithLanesOnlyInputsPassSyncs) {
    copy(tile(0), inp());
    copy(tile(1), out());
    notify();
    copy(data(1), tile(0));
    copy(data(2), tile(1));
    plan_.lanes = {static_cast<std::uint32_t>(plan_.instructions.size())};
    add(Map{MapOp::fill, Element::f32, 1, tile(0), {}});
    wait();
    copy(out(), tile(0));
    EXPECT_EQ(fused(),
              "copy tile[0..64) <- out[0..64)\n"
              "notify sig[1]@2 = 1\n"
              "copy data[0..64) <- inp[0..64)\n"
              "copy data@2[0..64) <- tile[0..64)\n"
              "wait sig[0] >= 1\n"
              "fill f32 out[0..64) <- 1\n");
    const Plan result = fuse(plan_);
    EXPECT_EQ(result.lanes, std::vector<std::uint32_t>{4});
    EXPECT_EQ(result.tile_bytes, 64u);
}

TEST_F(FuseShape, AResultIsWrittenBeforeTheNotifyThatReleasesItsSources) {
    copy(tile(0), data(0));
    copy(tile(1), data(2));
    sum(tile(2), tile(0), tile(1));
    notify();
    wait();
    copy(out(), tile(2));
    EXPECT_EQ(fused(),
              "reduce sum f32 out[0..64) <- data@0[0..64), data@2[0..64)\n"
              "notify sig[1]@2 = 1\n"
              "wait sig[0] >= 1\n");
}

TEST_F(FuseShape, AReadDoesNotPassAWriteOfTheSameBytes) {
    copy(tile(0, 32), data(1, 0, 32));
    copy(tile(1, 32), data(1, 32, 32));
    copy(data(1, 0, 32), tile(1, 32));
    copy(data(1, 32, 32), tile(0, 32));
    EXPECT_EQ(fused(),
              "copy tile[0..32) <- data[0..32)\n"
              "copy data[0..32) <- data[32..64)\n"
              "copy data[32..64) <- tile[0..32)\n");
}

TEST_F(FuseShape, AWriteDoesNotPassAReadOfTheSameBytes) {
    sum(tile(0), data(0), data(2));
    notify();
    copy(data(2), out());
    copy(out(), tile(0));
    EXPECT_EQ(fused(),
              "reduce sum f32 tile[0..64) <- data@0[0..64), data@2[0..64)\n"
              "notify sig[1]@2 = 1\n"
              "copy data@2[0..64) <- out[0..64)\n"
              "copy out[0..64) <- tile[0..64)\n");
}

TEST_F(FuseShape, WorkOnTilesPassesSyncs) {
    copy(tile(0), data(2));
    sum(tile(1), tile(0), tile(0));
    wait();
    copy(data(1), tile(1));
    EXPECT_EQ(fused(),
              "copy tile[0..64) <- data@2[0..64)\n"
              "wait sig[0] >= 1\n"
              "reduce sum f32 data[0..64) <- tile[0..64), tile[0..64)\n");
}

TEST_F(FuseShape, ALocalLoadIsReadInPlaceAsOftenAsItIsUsed) {
    copy(tile(0), inp());
    copy(data(0), tile(0));
    copy(data(2), tile(0));
    EXPECT_EQ(fused(),
              "copy data@0[0..64) <- inp[0..64)\n"
              "copy data@2[0..64) <- inp[0..64)\n");
}

TEST_F(FuseShape, APeerIsReadOnceHoweverOftenTheLoadIsUsed) {
    copy(tile(0), data(2));
    copy(out(), tile(0));
    copy(data(1), tile(0));
    EXPECT_EQ(fused(),
              "copy tile[0..64) <- data@2[0..64)\n"
              "copy out[0..64) <- tile[0..64)\n"
              "copy data[0..64) <- tile[0..64)\n");
}

TEST_F(FuseShape, SlicesOfALoadAreReadWhereTheyAre) {
    copy(tile(0), inp());
    copy(data(0, 0, 16), tile(0, 16, 48));
    EXPECT_EQ(fused(), "copy data@0[0..16) <- inp[48..64)\n");
}

TEST_F(FuseShape, ASumIsComputedOnce) {
    sum(tile(0), inp(), data(0));
    copy(out(), tile(0));
    copy(data(1), tile(0));
    EXPECT_EQ(fused(),
              "reduce sum f32 tile[0..64) <- inp[0..64), data@0[0..64)\n"
              "copy out[0..64) <- tile[0..64)\n"
              "copy data[0..64) <- tile[0..64)\n");
}

TEST_F(FuseShape, OnlyLeftNestedChainsOfOneOperationJoin) {
    sum(tile(0), inp(), data(0));
    sum(tile(1), data(2), tile(0));  // not the first source: the order would change
    add(Reduce{ReduceOp::max, Element::f32, out(), {tile(1), data(0)}});
    EXPECT_EQ(fused(),
              "reduce sum f32 tile[0..64) <- inp[0..64), data@0[0..64)\n"
              "reduce sum f32 tile[64..128) <- data@2[0..64), tile[0..64)\n"
              "reduce max f32 out[0..64) <- tile[64..128), data@0[0..64)\n");
}

TEST_F(FuseShape, OnlyOneElementTypeJoins) {
    copy(tile(0), inp());
    add(Reduce{ReduceOp::sum, Element::i32, out(), {tile(0), data(0)}});
    EXPECT_EQ(fused(),
              "copy tile[0..64) <- inp[0..64)\n"
              "reduce sum i32 out[0..64) <- tile[0..64), data@0[0..64)\n");
}

TEST_F(FuseShape, TheDestinationMayBeASource) {
    copy(tile(0), data(2));
    copy(tile(1), data(1));
    sum(tile(2), tile(0), tile(1));
    copy(data(1), tile(2));
    EXPECT_EQ(fused(), "reduce sum f32 data[0..64) <- data@2[0..64), data[0..64)\n");
}

TEST_F(FuseShape, TheDestinationDoesNotOverlapASourceInPart) {
    copy(tile(0, 32), data(1, 16, 32));
    copy(tile(1, 32), inp(0, 32));
    sum(tile(2, 32), tile(0, 32), tile(1, 32));
    copy(data(1, 0, 32), tile(2, 32));
    EXPECT_EQ(fused(),
              "reduce sum f32 tile[0..32) <- data[16..48), inp[0..32)\n"
              "copy data[0..32) <- tile[0..32)\n");
}

TEST_F(FuseShape, AStoreOfWhatIsThereAlreadyGoesAway) {
    copy(tile(0), data(1));
    copy(data(1), tile(0));
    EXPECT_EQ(fused(), "");
}

TEST_F(FuseShape, ScalarWorkWritesToItsPlace) {
    add(Map{MapOp::fill, Element::f32, 3, tile(0), {}});
    copy(out(), tile(0));
    copy(tile(1), inp());
    add(Map{MapOp::mul_scalar, Element::f32, 2, tile(2), tile(1)});
    copy(data(1), tile(2));
    EXPECT_EQ(fused(),
              "fill f32 out[0..64) <- 3\n"
              "mul_scalar f32 data[0..64) <- inp[0..64), 2\n");
}

TEST_F(FuseShape, WorkThatNobodyReadsGoesAway) {
    copy(tile(0), data(2));
    copy(tile(1), data(0));
    sum(tile(2), tile(0), tile(1));
    copy(out(), inp());
    EXPECT_EQ(fused(), "copy out[0..64) <- inp[0..64)\n");
}

TEST_F(FuseShape, TilesShareMemoryWhenTheirTimesDoNotOverlap) {
    // Three rounds of: read a peer, wait, write the own window.
    for (int round = 0; round < 3; ++round) {
        copy(tile(round), data(2));
        wait();
        copy(data(1), tile(round));
    }
    EXPECT_EQ(fused(),
              "copy tile[0..64) <- data@2[0..64)\n"
              "wait sig[0] >= 1\n"
              "copy data[0..64) <- tile[0..64)\n"
              "copy tile[0..64) <- data@2[0..64)\n"
              "wait sig[0] >= 1\n"
              "copy data[0..64) <- tile[0..64)\n"
              "copy tile[0..64) <- data@2[0..64)\n"
              "wait sig[0] >= 1\n"
              "copy data[0..64) <- tile[0..64)\n");
    EXPECT_EQ(fuse(plan_).tile_bytes, 64u);
}

TEST_F(FuseShape, PlansWithPipesStayAsTheyAre) {
    copy(tile(0), data(2));
    copy(out(), tile(0));
    plan_.instructions[0].pipe = Pipe::load;
    EXPECT_EQ(fuse(plan_), plan_);
}

// ---------------------------------------------------------------------------- hand-placed tiles

TEST_F(FuseShape, ATileThatIsAddedToInPlaceIsSeenThrough) {
    copy(tile(0), data(0));
    copy(tile(1), data(2));
    sum(tile(0), tile(0), tile(1));
    copy(out(), tile(0));
    EXPECT_EQ(fused(), "reduce sum f32 out[0..64) <- data@0[0..64), data@2[0..64)\n");
}

TEST_F(FuseShape, ALoopOverPeersThatAddsUpInOneTileBecomesOneReduction) {
    copy(tile(0), inp());
    copy(data(1), tile(0));
    notify();
    wait();
    copy(tile(0), data(0));
    for (int peer = 1; peer < 3; ++peer) {
        copy(tile(1), data(peer));
        sum(tile(0), tile(0), tile(1));
    }
    copy(out(), tile(0));
    notify();
    EXPECT_EQ(fused(),
              "copy data[0..64) <- inp[0..64)\n"
              "notify sig[1]@2 = 1\n"
              "wait sig[0] >= 1\n"
              "reduce sum f32 out[0..64) <- data@0[0..64), data[0..64), data@2[0..64)\n"
              "notify sig[1]@2 = 1\n");
}

TEST_F(FuseShape, ChunksThroughOnePairOfTilesStayInTheirOrder) {
    for (std::uint64_t chunk = 0; chunk < 64; chunk += 32) {
        copy(tile(0, 32), data(0, chunk, 32));
        copy(tile(1, 32), data(2, chunk, 32));
        sum(tile(0, 32), tile(0, 32), tile(1, 32));
        copy(data(1, chunk, 32), tile(0, 32));
    }
    EXPECT_EQ(fused(),
              "reduce sum f32 data[0..32) <- data@0[0..32), data@2[0..32)\n"
              "reduce sum f32 data[32..64) <- data@0[32..64), data@2[32..64)\n");
}

TEST_F(FuseShape, ASumThatIsNeededAgainStaysInItsTile) {
    copy(tile(0), data(0));
    wait();
    copy(tile(1), data(2));
    sum(tile(0), tile(0), tile(1));
    copy(out(), tile(0));
    EXPECT_EQ(fused(),
              "copy tile[0..64) <- data@0[0..64)\n"
              "wait sig[0] >= 1\n"
              "reduce sum f32 out[0..64) <- tile[0..64), data@2[0..64)\n");
}

// Halves that are written apart and read together are one value.
TEST_F(FuseShape, WhatIsReadTogetherStaysTogether) {
    copy(tile(0, 32, 0), data(0, 0, 32));
    copy(tile(0, 32, 32), data(2, 0, 32));
    add(Map{MapOp::mul_scalar, Element::f32, 2, out(), tile(0)});
    copy(tile(0, 32, 0), data(2, 32, 32));
    copy(data(1, 0, 32), tile(0, 32, 0));
    EXPECT_EQ(fused(),
              "copy tile[0..32) <- data@0[0..32)\n"
              "copy tile[32..64) <- data@2[0..32)\n"
              "mul_scalar f32 out[0..64) <- tile[0..64), 2\n"
              "copy data[0..32) <- data@2[32..64)\n");
}

// ---------------------------------------------------------------------------- accumulate, convert

TEST_F(FuseShape, AnAccumulateTakesItsSourceFromWhereItIs) {
    copy(tile(0), inp());
    add(Accumulate{Element::f32, data(2), tile(0)});
    EXPECT_EQ(fused(), "accumulate f32 data@2[0..64) <- inp[0..64)\n");
}

TEST_F(FuseShape, AnAccumulateStaysBehindTheReadsOfItsBytes) {
    copy(tile(0), data(2));
    add(Accumulate{Element::f32, data(2), inp()});
    copy(out(), tile(0));
    add(Accumulate{Element::f32, data(2), inp()});
    EXPECT_EQ(fused(),
              "copy out[0..64) <- data@2[0..64)\n"
              "accumulate f32 data@2[0..64) <- inp[0..64)\n"
              "accumulate f32 data@2[0..64) <- inp[0..64)\n");
}

TEST_F(FuseShape, AnAccumulateIsNoOverwrite) {
    copy(tile(0), data(0));
    add(Accumulate{Element::f32, tile(0), inp()});
    copy(out(), tile(0));
    EXPECT_EQ(fused(),
              "copy tile[0..64) <- data@0[0..64)\n"
              "accumulate f32 tile[0..64) <- inp[0..64)\n"
              "copy out[0..64) <- tile[0..64)\n");
}

TEST_F(FuseShape, AnAccumulateDoesNotBecomeItsOwnSource) {
    copy(tile(0), data(2));
    add(Accumulate{Element::f32, data(2), tile(0)});
    EXPECT_EQ(fused(),
              "copy tile[0..64) <- data@2[0..64)\n"
              "accumulate f32 data@2[0..64) <- tile[0..64)\n");
}

TEST_F(FuseShape, ConversionsAndRowSumsReadAndWriteInPlace) {
    copy(tile(0), data(0));
    add(Map{MapOp::convert, Element::f16, 0, tile(1, 32), tile(0), Element::f32});
    copy(out(0, 32), tile(1, 32));
    copy(tile(2), data(0));
    add(Map{MapOp::row_sum, Element::f32, 0, tile(3, 4), tile(2)});
    copy(out(32, 4), tile(3, 4));
    EXPECT_EQ(fused(),
              "convert f16 out[0..32) <- f32 data@0[0..64)\n"
              "row_sum f32 out[32..36) <- data@0[0..64)\n");
}

// The block begins at byte 2, so that it is no longer aligned when it is moved to a cache line.
TEST_F(FuseShape, WhatIsAddedToStaysAligned) {
    copy(tile(0, 6, 2), inp(0, 6));
    add(Accumulate{Element::f32, tile(0, 4, 4), inp(8, 4)});
    copy(out(0, 6), tile(0, 6, 2));
    EXPECT_EQ(fused(),
              "copy tile[2..8) <- inp[0..6)\n"
              "accumulate f32 tile[4..8) <- inp[8..12)\n"
              "copy out[0..6) <- tile[2..8)\n");
    // Behind a value of three bytes.
    plan_.instructions.clear();
    copy(tile(0, 3, 1), inp(0, 3));
    copy(tile(0, 6, 2), inp(0, 6));
    add(Accumulate{Element::f32, tile(0, 4, 4), tile(0, 4, 0)});
    copy(out(0, 6), tile(0, 6, 2));
    EXPECT_NO_THROW(fused());
}

TEST_F(FuseShape, FusedInstructionsAreNotJoined) {
    copy(data(0, 0, 16), inp(0, 16));
    copy(data(0, 32, 16), inp(16, 16));
    plan_.instructions[1].joined = true;
    EXPECT_FALSE(fuse(plan_).instructions[1].joined);
}

TEST_F(FuseShape, LongChainsBecomeOneReduction) {
    copy(tile(0), data(0));
    constexpr int kTerms = 300;
    for (int i = 1; i < kTerms; ++i) {
        copy(tile(2 * i - 1), data(i % 3));
        sum(tile(2 * i), tile(2 * (i - 1)), tile(2 * i - 1));
    }
    copy(out(), tile(2 * (kTerms - 1)));
    const Plan result = fuse(plan_);
    ASSERT_EQ(result.instructions.size(), 1u);
    const auto& reduce = std::get<Reduce>(result.instructions[0].action);
    ASSERT_EQ(reduce.src.size(), static_cast<std::size_t>(kTerms));
    for (int i = 0; i < kTerms; ++i) EXPECT_EQ(reduce.src[static_cast<std::size_t>(i)].rank, i % 3);
}

}  // namespace fuse_test
}  // namespace peal::plan
