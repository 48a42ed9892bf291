// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "check/plans.hpp"
#include "plan/text.hpp"

namespace peal::draw {
namespace label_test {

using test::fixed;
using test::now;

// Rank 1 of 4, with inp and out (64 bytes), data (128 bytes), sig and 32 bytes of tile memory.
struct LabelTest : testing::Test {
    test::Plans plans{4};
    std::uint16_t inp = plans.argument("inp", Direction::in, 64);
    std::uint16_t out = plans.argument("out", Direction::out, 64);
    std::uint16_t data = plans.window("data", 128);
    std::uint16_t sig = plans.signal("sig", 4, 1);
    test::RankPlan rank = plans.on(1);

    LabelTest() { plans.tile_bytes(32); }

    std::string label(std::int64_t generation = 0) const {
        const Plan& plan = plans.list()[1];
        return plan::brief_text(plan.instructions.back(), plan, generation);
    }
};

TEST_F(LabelTest, BytesAreLeftOutWhenTheyAreTheWholeBuffer) {
    rank.copy(rank.in(out, 0, 64), rank.in(inp, 0, 64));
    EXPECT_EQ(label(), "copy out <- inp");
    rank.copy(rank.at(2, data, 64, 64), rank.in(inp, 0, 64));
    EXPECT_EQ(label(), "copy data@2[64..128) <- inp");
    rank.copy(rank.tile(0, 32), rank.in(data, 0, 32), Pipe::load);
    EXPECT_EQ(label(), "copy tile <- data[0..32) on MTE2");
}

TEST_F(LabelTest, TheSameBytesOfConsecutiveRanksAreOneSource) {
    const auto at = [&](int peer) { return rank.at(peer, data, 0, 64); };
    rank.reduce(rank.in(out, 0, 64), {at(0), at(1), at(2), at(3)});
    EXPECT_EQ(label(), "sum out <- data@0..3[0..64)");
    rank.reduce(rank.in(out, 0, 64), {at(1), at(3)}, ReduceOp::max);
    EXPECT_EQ(label(), "max out <- data[0..64), data@3[0..64)");
    rank.reduce(rank.in(out, 0, 64), {at(0), rank.at(1, data, 64, 64), at(2), at(3)});
    EXPECT_EQ(label(), "sum out <- data@0[0..64), data[64..128), data@2..3[0..64)");
}

TEST_F(LabelTest, ValuesAreThoseOfTheGeneration) {
    rank.set(sig, 3, 2, now(1));
    EXPECT_EQ(label(4), "notify sig[2]@3 = 5");
    rank.increase(sig, 1, 0, fixed(2));
    EXPECT_EQ(label(4), "notify sig[0] += 2");
    rank.wait(sig, 2, Compare::eq, now(1));
    EXPECT_EQ(label(2), "wait sig[2] == 3");
}

TEST_F(LabelTest, AdditionsConversionsAndSumsOfRows) {
    rank.accumulate(rank.at(2, data, 64, 64), rank.in(inp, 0, 64));
    EXPECT_EQ(label(), "accumulate data@2[64..128) <- inp");
    rank.convert(rank.tile(0, 32), Element::f16, rank.in(inp, 0, 64), Element::f32);
    EXPECT_EQ(label(), "convert tile <- inp");
    rank.row_sum(rank.tile(0, 4), rank.in(inp, 0, 64));
    EXPECT_EQ(label(), "row_sum tile[0..4) <- inp");
    rank.clobber(rank.tile(0, 32));
    EXPECT_EQ(label(), "clobber tile <- anything");
}

TEST_F(LabelTest, ScalarsFlagsAndBarriers) {
    rank.fill(rank.in(out, 0, 64), 1.5);
    EXPECT_EQ(label(), "fill out <- 1.5");
    rank.set_flag(Pipe::load, Pipe::vector, 3);
    EXPECT_EQ(label(), "set_flag MTE2 -> V #3 on MTE2");
    rank.wait_flag(Pipe::load, Pipe::vector, 3);
    EXPECT_EQ(label(), "wait_flag MTE2 -> V #3 on V");
    rank.drain();
    EXPECT_EQ(label(), "pipe_barrier ALL on ALL");
}

TEST_F(LabelTest, PlansThatAreNotValidHaveLabelsToo) {
    rank.copy(rank.in(9, 0, 64), rank.in(inp, 0, 80));
    EXPECT_EQ(label(), "copy buffer#9[0..64) <- inp[0..80)");
}

}  // namespace label_test
}  // namespace peal::draw
