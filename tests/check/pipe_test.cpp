// SPDX-License-Identifier: Apache-2.0
// Tile processors: pipes that run beside each other, flags, draining, limits of devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/plans.hpp"

namespace peal {
namespace {

using namespace test;  // NOLINT
using testing::ElementsAre;
using testing::HasSubstr;

// One rank loads, doubles and stores 32 bytes.
class PipeTest : public testing::Test {
protected:
    PipeTest() : plans_(1) {
        input_ = plans_.argument("input", Direction::in, 32);
        output_ = plans_.argument("output", Direction::out, 32);
        plans_.tile_bytes(64);
    }
    RankPlan rank() { return plans_.on(0); }
    void load() { rank().copy(rank().tile(0, 32), rank().in(input_, 0, 32), Pipe::load); }
    void work() {
        rank().reduce(rank().tile(32, 32), {rank().tile(0, 32), rank().tile(0, 32)}, ReduceOp::sum,
                      Element::f32, Pipe::vector);
    }
    void store() { rank().copy(rank().in(output_, 0, 32), rank().tile(32, 32), Pipe::store); }
    void hand_over(Pipe from, Pipe to, std::uint8_t event = 0) {
        rank().set_flag(from, to, event).wait_flag(from, to, event);
    }

    // Both methods agree; what the first says.
    CheckReport run(CheckOptions options = {}) {
        CheckReport report = check_one(plans_.list(), nullptr, options);
        EXPECT_EQ(report.method, CheckMethod::linear);
        options.explore = true;
        const CheckReport explored = check_one(plans_.list(), nullptr, options);
        EXPECT_EQ(explored.verdict, report.verdict);
        if (!report.violations.empty() && !explored.violations.empty()) {
            EXPECT_EQ(explored.violations[0].kind, report.violations[0].kind);
        }
        return report;
    }

    Plans plans_;
    std::uint16_t input_ = 0, output_ = 0;
};

TEST_F(PipeTest, FlagsOrderPipes) {
    load();
    hand_over(Pipe::load, Pipe::vector);
    work();
    hand_over(Pipe::vector, Pipe::store);
    store();
    EXPECT_EQ(run().verdict, Verdict::proved);
}

TEST_F(PipeTest, DrainingOrdersAll) {
    load();
    rank().drain();
    work();
    rank().drain();
    store();
    EXPECT_EQ(run().verdict, Verdict::proved);
}

TEST_F(PipeTest, DrainingOnePipeOrdersNoOther) {
    load();
    plans_.list()[0].instructions.push_back({PipeBarrier{Pipe::load}, Pipe::load, 0});
    work();
    EXPECT_EQ(run().verdict, Verdict::violated);
}

TEST_F(PipeTest, WithoutAFlagThereIsAHazard) {
    load();
    work();
    hand_over(Pipe::vector, Pipe::store);
    store();
    const CheckReport report = run();
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::pipe_hazard);
    EXPECT_EQ(report.violations[0].message,
              "rank 0 (`copy tile[0..32) <- input[0..32) on load`, call 0) writes and rank 0 "
              "(`reduce sum f32 tile[32..64) <- tile[0..32), tile[0..32) on vector`, call 0) reads "
              "tile@0[0..32), and nothing orders them");
    EXPECT_EQ(report.violations[0].schedule.size(), 3u);
}

// The next load may overwrite the tile that the vector unit still reads.
TEST_F(PipeTest, TheWayBackNeedsAFlagToo) {
    for (const bool way_back : {false, true}) {
        plans_.list()[0].instructions.clear();
        for (std::uint8_t i = 0; i < 2; ++i) {
            load();
            hand_over(Pipe::load, Pipe::vector, i);
            work();
            if (way_back) hand_over(Pipe::vector, Pipe::load, i);
        }
        const CheckReport report = run();
        EXPECT_EQ(report.verdict, way_back ? Verdict::proved : Verdict::violated);
        if (!way_back) {
            EXPECT_EQ(report.violations[0].kind, ViolationKind::pipe_hazard);
        }
    }
}

// A wait on the scalar unit holds back everything that is issued after it.
TEST_F(PipeTest, IssueOrder) {
    load();
    hand_over(Pipe::load, Pipe::scalar);
    work();
    hand_over(Pipe::vector, Pipe::scalar);
    store();
    EXPECT_EQ(run().verdict, Verdict::proved);
}

// ---------------------------------------------------------------------------- flags

TEST_F(PipeTest, AwaitedWithoutSet) {
    load();
    rank().wait_flag(Pipe::load, Pipe::vector);
    work();
    const CheckReport report = check_one(plans_.list());
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::flag));
    EXPECT_EQ(report.violations[0].message,
              "rank 0: the flag load -> vector, event 0 is awaited 1 times and set 0 times: the "
              "last wait never ends");
}

TEST_F(PipeTest, LeftSet) {
    load();
    rank().set_flag(Pipe::load, Pipe::vector);
    const CheckReport report = check_one(plans_.list());
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::flag));
    EXPECT_EQ(report.violations[0].message,
              "rank 0: the flag load -> vector, event 0 is set 1 times and awaited 0 times: it is "
              "left set at the end");
}

TEST_F(PipeTest, NoSuchEvent) {
    rank().set_flag(Pipe::load, Pipe::vector, 8).wait_flag(Pipe::load, Pipe::vector, 8);
    const CheckReport report = check_one(plans_.list());
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::flag, ViolationKind::flag));
    EXPECT_EQ(report.violations[0].message,
              "rank 0: `set_flag load -> vector, event 8 on load`: events are numbered 0 to 7");
}

TEST_F(PipeTest, SetTwice) {
    rank().set_flag(Pipe::load, Pipe::vector).set_flag(Pipe::load, Pipe::vector);
    rank().wait_flag(Pipe::load, Pipe::vector).wait_flag(Pipe::load, Pipe::vector);
    const CheckReport report = run();
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::flag);
    EXPECT_THAT(report.violations[0].message, HasSubstr("may set its flag while it is still set"));
    EXPECT_EQ(report.violations[0].schedule.size(), 3u);
}

// Set and awaited in pairs, but the second set does not wait for the first wait.
TEST_F(PipeTest, SetTwiceWhenTheOtherPipeIsSlow) {
    hand_over(Pipe::load, Pipe::vector);
    hand_over(Pipe::load, Pipe::vector);
    const CheckReport report = run();
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::flag);
    // With an answer in between it is right.
    plans_.list()[0].instructions.clear();
    for (int i = 0; i < 2; ++i) {
        hand_over(Pipe::load, Pipe::vector);
        hand_over(Pipe::vector, Pipe::load);
    }
    EXPECT_EQ(run().verdict, Verdict::proved);
}

// The scalar unit waits for a flag that is set by an instruction it has not issued yet.
TEST_F(PipeTest, AFlagThatComesTooLate) {
    rank().wait_flag(Pipe::load, Pipe::scalar).set_flag(Pipe::load, Pipe::scalar);
    const CheckReport report = run();
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::flag);
    EXPECT_EQ(report.violations[0].message,
              "nobody can go on: rank 0 (`wait_flag load -> scalar, event 0 on scalar`, call 0)");
}

// ---------------------------------------------------------------------------- signals

// U7: the data is still in flight when the signal is raised.
Plans put(bool drained) {
    Plans plans(2);
    const std::uint16_t output = plans.argument("output", Direction::out, 32);
    const std::uint16_t data = plans.window("data", 32);
    const std::uint16_t signal = plans.signal("signal", 2, 1);
    plans.tile_bytes(32);
    RankPlan sender = plans.on(0);
    sender.fill(sender.tile(0, 32), 1);
    sender.copy(RankPlan::at(1, data, 0, 32), sender.tile(0, 32), Pipe::store);
    if (drained) sender.drain();
    sender.set(signal, 1, 0, now(1), Pipe::scalar).wait(signal, 1, now(1));
    RankPlan receiver = plans.on(1);
    receiver.wait(signal, 0, now(1));
    receiver.copy(receiver.in(output, 0, 32), receiver.in(data, 0, 32));
    receiver.set(signal, 0, 1, now(1));
    return plans;
}

TEST(PipesAndSignals, ANotifyIsNotOrderedAfterAStoreUnlessDrained) {
    EXPECT_EQ(check_one(put(true).list()).verdict, Verdict::proved);
    const CheckReport report = check_one(put(false).list());
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::data_race);
    EXPECT_EQ(report.violations[0].memory, "data@1[0..32)");
}

// U8: "I have read" is raised before the load has finished.
TEST(PipesAndSignals, ANotifyIsNotOrderedAfterALoadUnlessDrained) {
    for (const bool drained : {false, true}) {
        Plans plans(2);
        const std::uint16_t data = plans.window("data", 32);
        const std::uint16_t signal = plans.signal("signal", 2, 1);
        plans.tile_bytes(32);
        RankPlan owner = plans.on(0);
        owner.fill(owner.in(data, 0, 32), 1).set(signal, 1, 0, now(1)).wait(signal, 1, now(1));
        RankPlan reader = plans.on(1);
        reader.wait(signal, 0, now(1));
        reader.copy(reader.tile(0, 32), RankPlan::at(0, data, 0, 32), Pipe::load);
        if (drained) reader.set_flag(Pipe::load, Pipe::scalar).wait_flag(Pipe::load, Pipe::scalar);
        reader.set(signal, 0, 1, now(1));
        EXPECT_EQ(check_one(plans.list()).verdict, drained ? Verdict::proved : Verdict::violated);
    }
}

// ---------------------------------------------------------------------------- devices

TEST(Device, TileMemory) {
    Plans plans(1);
    plans.tile_bytes(200 * 1024);
    RankPlan rank = plans.on(0);
    rank.fill(rank.tile(192 * 1024, 64), 1).fill(rank.tile(40, 64), 1);
    EXPECT_EQ(check_one(plans.list()).verdict, Verdict::proved);
    CheckOptions options;
    options.device = DeviceRules::a2a3();
    const CheckReport report = check_one(plans.list(), nullptr, options);
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::tile_memory, ViolationKind::tile_memory));
    EXPECT_EQ(report.violations[0].message,
              "rank 0: `fill f32 tile[196608..196672) <- 1` needs more tile memory than the 196608 "
              "bytes of the device");
    EXPECT_EQ(
        report.violations[1].message,
        "rank 0: `fill f32 tile[40..104) <- 1` starts a tile at byte 40, which is no multiple "
        "of 32");
    options.device = DeviceRules::a5();
    EXPECT_EQ(kinds(check_one(plans.list(), nullptr, options)).size(), 1u);
}

// S4: two loads back to back.
TEST(Device, OneOutstandingLoad) {
    const auto loads = [](bool waits, bool waits_for_the_right_one) {
        Plans plans(1);
        const std::uint16_t input = plans.argument("input", Direction::in, 64);
        plans.tile_bytes(64);
        RankPlan rank = plans.on(0);
        for (std::uint8_t i = 0; i < 2; ++i) {
            const std::uint64_t at = i * std::uint64_t{32};
            if (!waits_for_the_right_one) {
                rank.set_flag(Pipe::load, Pipe::vector, i).wait_flag(Pipe::load, Pipe::vector, i);
            }
            rank.copy(rank.tile(at, 32), rank.in(input, at, 32), Pipe::load);
            if (waits && waits_for_the_right_one) {
                rank.set_flag(Pipe::load, Pipe::vector, i).wait_flag(Pipe::load, Pipe::vector, i);
            }
        }
        return plans;
    };
    CheckOptions options;
    options.device = DeviceRules::a2a3();
    EXPECT_EQ(check_one(loads(true, true).list(), nullptr, options).verdict, Verdict::proved);
    const CheckReport report = check_one(loads(false, true).list(), nullptr, options);
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::pipe_hazard));
    EXPECT_THAT(report.violations[0].message,
                HasSubstr("is issued while the load of instruction 0 is outstanding"));
    options.device = DeviceRules::a5();
    EXPECT_EQ(check_one(loads(false, true).list(), nullptr, options).verdict, Verdict::proved);
}

}  // namespace
}  // namespace peal
