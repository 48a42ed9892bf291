// SPDX-License-Identifier: Apache-2.0
// Plans as they run where some ranks are on other hosts.
#include "plan/between_hosts.hpp"

#include <gtest/gtest.h>

#include "plan/support.hpp"

namespace peal::plan {
namespace between_hosts_test {

using namespace peal::testing;

// Rank 1 of 3 with the buffers of sample_plan, 64 bytes each. Rank 2 is on another host.
class BetweenHosts : public ::testing::Test {
protected:
    BetweenHosts() : plan_(sample_plan()) { plan_.instructions.clear(); }

    static Range inp() { return {kInp, 1, 0, 64}; }
    static Range out() { return {kOut, 1, 0, 64}; }
    static Range data(int rank, std::uint64_t offset = 0, std::uint64_t length = 64) {
        return {kData, rank, offset, length};
    }
    static Range part_of_inp(std::uint64_t offset, std::uint64_t length) {
        return {kInp, 1, offset, length};
    }
    static Range tile() { return {kTile, 1, 0, 64}; }

    void add(Action action, std::uint16_t group = 0) {
        plan_.instructions.push_back({std::move(action), Pipe::none, 2});
        plan_.instructions.back().group = group;
    }
    void notify(int rank) { add(Notify{NotifyOp::set, {kSig, rank, 1}, {1, 0}}); }
    void wait() { add(Wait{Compare::ge, {kSig, 1, 0}, {1, 0}}); }

    // What becomes of the plan, which stays valid.
    Plan result() const {
        validate(plan_);
        Plan plan = between_hosts(plan_, kFar);
        validate(plan);
        EXPECT_EQ(between_hosts(plan, kFar), plan);
        return plan;
    }
    std::string text() const {
        const Plan plan = result();
        std::string text;
        for (const Instruction& instruction : plan.instructions) {
            text += to_text(instruction, plan) + '\n';
        }
        return text;
    }

    inline static const Far kFar = far_from(1, {4, 4, 7});
    Plan plan_;
};

TEST_F(BetweenHosts, OthersAreFarWhoseHostIsAnother) {
    EXPECT_EQ(kFar, (Far{false, false, true}));
    EXPECT_EQ(far_from(2, {4, 4, 7}), (Far{true, true, false}));
    EXPECT_EQ(far_from(0, {}), Far{});
}

TEST_F(BetweenHosts, OnOneHostAPlanStaysAsItIs) {
    add(Copy{data(2), inp()});
    notify(2);
    EXPECT_EQ(between_hosts(plan_, {}), plan_);
    EXPECT_EQ(between_hosts(plan_, {false, false, false}), plan_);
    EXPECT_EQ(between_hosts(std::vector<Plan>{plan_, plan_}, {}),
              (std::vector<Plan>{plan_, plan_}));
}

TEST_F(BetweenHosts, WhatIsWrittenElsewhereIsCompleteBeforeANotify) {
    add(Copy{data(0), inp()});
    add(Copy{data(2), inp()});
    wait();
    notify(0);
    notify(2);
    EXPECT_EQ(text(),
              "copy data@0[0..64) <- inp[0..64)\n"
              "copy data@2[0..64) <- inp[0..64), deferred #1\n"
              "wait sig[0] >= 1\n"
              "fence #1\n"
              "notify sig[1]@0 = 1\n"
              "notify sig[1]@2 = 1\n");
}

TEST_F(BetweenHosts, WhateverWritesThereIsDeferred) {
    add(Reduce{ReduceOp::sum, Element::f32, data(2), {data(1), inp()}});
    notify(2);
    add(Map{MapOp::fill, Element::f32, 0, data(2), {}});
    notify(2);
    EXPECT_EQ(text(),
              "reduce sum f32 data@2[0..64) <- data[0..64), inp[0..64), deferred #1\n"
              "fence #1\n"
              "notify sig[1]@2 = 1\n"
              "fill f32 data@2[0..64) <- 0, deferred #1\n"
              "fence #1\n"
              "notify sig[1]@2 = 1\n");
}

TEST_F(BetweenHosts, WhatNobodyIsToldOfNeedsNoFence) {
    notify(2);
    add(Copy{data(2), inp()});
    wait();
    EXPECT_EQ(text(),
              "notify sig[1]@2 = 1\n"
              "copy data@2[0..64) <- inp[0..64), deferred #1\n"
              "wait sig[0] >= 1\n");
}

// Nothing is written, or nothing is elsewhere.
TEST_F(BetweenHosts, NothingIsDeferredWithoutNeed) {
    add(Copy{data(2, 8, 0), part_of_inp(0, 0)});
    add(Copy{data(1), data(2)});
    notify(2);
    EXPECT_EQ(result(), plan_);
}

TEST_F(BetweenHosts, WhatIsReadBackIsCompleteBefore) {
    add(Copy{data(2, 0, 16), part_of_inp(0, 16)});
    add(Copy{data(1, 0, 16), data(2, 16, 16)});
    add(Copy{data(1, 0, 16), data(2, 8, 16)});
    EXPECT_EQ(text(),
              "copy data@2[0..16) <- inp[0..16), deferred #1\n"
              "copy data[0..16) <- data@2[16..32)\n"
              "fence #1\n"
              "copy data[0..16) <- data@2[8..24)\n");
}

TEST_F(BetweenHosts, WhatIsWrittenOverIsCompleteBefore) {
    add(Copy{data(2, 0, 16), part_of_inp(0, 16)});
    add(Copy{data(2, 16, 16), part_of_inp(0, 16)});
    add(Copy{data(2, 8, 16), part_of_inp(0, 16)});
    notify(2);
    EXPECT_EQ(text(),
              "copy data@2[0..16) <- inp[0..16), deferred #1\n"
              "copy data@2[16..32) <- inp[0..16), deferred #1\n"
              "fence #1\n"
              "copy data@2[8..24) <- inp[0..16), deferred #1\n"
              "fence #1\n"
              "notify sig[1]@2 = 1\n");
}

TEST_F(BetweenHosts, ASourceStaysAsItIsUntilAFence) {
    plan_.tile_bytes = 64;
    for (int round = 0; round < 2; ++round) {
        add(Copy{tile(), inp()});
        add(Copy{data(2, 32 * static_cast<std::uint64_t>(round), 32), {kTile, 1, 0, 32}});
    }
    EXPECT_EQ(text(),
              "copy tile[0..64) <- inp[0..64)\n"
              "copy data@2[0..32) <- tile[0..32), deferred #1\n"
              "fence #1\n"
              "copy tile[0..64) <- inp[0..64)\n"
              "copy data@2[32..64) <- tile[0..32), deferred #1\n");
}

TEST_F(BetweenHosts, ReadingASourceDisturbsNobody) {
    add(Copy{data(2), data(1)});
    add(Copy{out(), data(1)});
    EXPECT_EQ(text(),
              "copy data@2[0..64) <- data[0..64), deferred #1\n"
              "copy out[0..64) <- data[0..64)\n");
}

// Those of the plan have a group of their own, which says nothing of what is deferred here.
TEST_F(BetweenHosts, WhatThePlanDefersStaysAsItIs) {
    add(Copy{data(2, 0, 32), part_of_inp(0, 32)}, 1);
    add(Copy{data(2, 32, 32), part_of_inp(32, 32)});
    add(Fence{1});
    notify(2);
    EXPECT_EQ(text(),
              "copy data@2[0..32) <- inp[0..32), deferred #1\n"
              "copy data@2[32..64) <- inp[32..64), deferred #2\n"
              "fence #1\n"
              "fence #2\n"
              "notify sig[1]@2 = 1\n");
}

TEST_F(BetweenHosts, EachLaneHasFencesOfItsOwn) {
    add(Copy{data(2, 0, 32), part_of_inp(0, 32)});
    plan_.lanes = {1};
    notify(2);
    add(Copy{data(2, 32, 32), part_of_inp(0, 32)});
    notify(2);
    const Plan plan = result();
    EXPECT_EQ(plan.lanes, (std::vector<std::uint32_t>{1}));
    EXPECT_EQ(text(),
              "copy data@2[0..32) <- inp[0..32), deferred #1\n"
              "notify sig[1]@2 = 1\n"
              "copy data@2[32..64) <- inp[0..32), deferred #1\n"
              "fence #1\n"
              "notify sig[1]@2 = 1\n");
}

// Where an error says that somebody is at the fence, it is at the line of what comes behind it.
TEST_F(BetweenHosts, AFenceIsAtTheLineOfWhatItIsFor) {
    add(Copy{data(2), inp()});
    notify(2);
    plan_.instructions.back().line = 3;
    EXPECT_EQ(result().instructions[1].line, 3U);
}

// Where the parts of two turns may meet, they are taken to.
TEST_F(BetweenHosts, TurnsAreFencedForAllOfThem) {
    plan_.turns = {kSig, 2, 2, {{kData, {0, 32}}}};
    const auto half = [](int rank, std::uint16_t shift) {
        return Range{kData, rank, 0, 32, shift};
    };
    add(Copy{half(2, 1), part_of_inp(0, 32)});
    add(Copy{{kOut, 1, 0, 32}, half(2, 0)});
    EXPECT_EQ(text(),
              "copy data@2[0..32)|[32..64) <- inp[0..32), deferred #1\n"
              "fence #1\n"
              "copy out[0..32) <- data@2[0..32)\n");
}

}  // namespace between_hosts_test
}  // namespace peal::plan
