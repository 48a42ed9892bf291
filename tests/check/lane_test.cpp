// SPDX-License-Identifier: Apache-2.0
// Ranks of several lanes: they share memory, and only signals order them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/possible.hpp"
#include "check/recipes.hpp"
#include "peal/compile.hpp"
#include "plan/for_host.hpp"

namespace peal {
namespace lane_test {

using namespace test;  // NOLINT
using testing::ElementsAre;
using testing::HasSubstr;

// By both methods.
Violation found(const Plans& plans, const Meaning* meaning = nullptr) {
    const std::vector<CheckStage> stages = {{&plans.list(), meaning, {}}};
    CheckOptions options;
    const CheckReport report = check(stages, options);
    options.explore = true;
    const CheckReport explored = check(stages, options);
    EXPECT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(explored.verdict, Verdict::violated);
    if (report.violations.empty() || explored.violations.empty()) return {};
    EXPECT_EQ(explored.violations[0].kind, report.violations[0].kind);
    for (const Violation& violation : report.violations) expect_possible(stages, violation);
    expect_possible(stages, explored.violations[0]);
    return report.violations[0];
}

void expect_proved(const Plans& plans, const Meaning* meaning = nullptr) {
    CheckOptions options;
    for (const bool explores : {false, true}) {
        options.explore = explores;
        const CheckReport report = check_one(plans.list(), meaning, options);
        EXPECT_EQ(report.verdict, Verdict::proved)
            << (report.violations.empty() ? report.bound : report.violations[0].message);
    }
}

// One rank: its first lane writes an argument, its second copies that to the output.
struct HandOver {
    explicit HandOver(bool is_told) : plans(1) {
        const std::uint16_t input = plans.argument("input", Direction::in, 8);
        const std::uint16_t between = plans.argument("between", Direction::inout, 8);
        const std::uint16_t output = plans.argument("output", Direction::out, 8);
        const std::uint16_t signal = plans.signal("signal", 1, 1);
        RankPlan first = plans.on(0);
        first.copy(first.in(between, 0, 8), first.in(input, 0, 8));
        if (is_told) first.set(signal, 0, 0, now(1));
        RankPlan second = plans.next_lane(0);
        if (is_told) second.wait(signal, 0, now(1));
        second.copy(second.in(output, 0, 8), second.in(between, 0, 8));
        Expected copied;
        copied.buffer = output;
        copied.length = 8;
        copied.of = std::make_shared<const std::vector<Contribution>>(
            std::vector<Contribution>{{0, input, 0}});
        meaning.outputs = {copied};
    }
    Plans plans;
    Meaning meaning;
};

TEST(Lanes, RaceWithEachOther) {
    const HandOver hand_over(false);
    const Violation violation = found(hand_over.plans, &hand_over.meaning);
    EXPECT_EQ(violation.kind, ViolationKind::data_race);
    EXPECT_EQ(violation.message,
              "rank 0, lane 0 (`copy between[0..8) <- input[0..8)`, call 0) writes and rank 0, "
              "lane 1 (`copy output[0..8) <- between[0..8)`, call 0) reads between@0[0..8), and no "
              "signal orders the two lanes");
    const std::vector<CheckStage> stages = {{&hand_over.plans.list(), nullptr, {}}};
    EXPECT_EQ(to_text(violation.schedule.back(), stages),
              "rank 0, lane 1, call 0: copy output[0..8) <- between[0..8)");
}

// The next call begins when both lanes have ended, so nobody need be told to write again.
TEST(Lanes, MeetByCellsOfTheirOwnRank) {
    const HandOver hand_over(true);
    expect_proved(hand_over.plans, &hand_over.meaning);
}

TEST(Lanes, FusedTheyAreStillInOrder) {
    HandOver hand_over(true);
    for (Plan& plan : hand_over.plans.list()) plan = fuse(plan);
    expect_proved(hand_over.plans, &hand_over.meaning);
}

TEST(Lanes, HaveTileMemoryOfTheirOwn) {
    Plans plans(1);
    const std::uint16_t input = plans.argument("input", Direction::in, 16);
    const std::uint16_t output = plans.argument("output", Direction::out, 16);
    plans.tile_bytes(8);
    for (std::uint64_t lane = 0; lane < 2; ++lane) {
        RankPlan plan = lane == 0 ? plans.on(0) : plans.next_lane(0);
        plan.copy(plan.tile(0, 8), plan.in(input, 8 * lane, 8));
        plan.copy(plan.in(output, 8 * lane, 8), plan.tile(0, 8));
    }
    expect_proved(plans);
    // What one wrote, the other has not.
    plans.list()[0].instructions.erase(plans.list()[0].instructions.begin() + 2);
    const Violation violation = found(plans);
    EXPECT_EQ(violation.kind, ViolationKind::unwritten_read);
    EXPECT_EQ(violation.message,
              "rank 0, lane 1 (`copy output[8..16) <- tile[0..8)`, call 0) reads tile@0[0..8), "
              "which nobody wrote");
}

TEST(Lanes, WithoutInstructionsAreDone) {
    Plans plans(1);
    const std::uint16_t output = plans.argument("output", Direction::out, 8);
    plans.next_lane(0);
    plans.next_lane(0).fill({output, 0, 0, 8}, 1);
    plans.next_lane(0);
    expect_proved(plans);
}

// All lanes end before the caller looks, and begin after it has staged.
TEST(Lanes, EndBeforeTheCallerLooks) {
    Plans plans(2);
    const std::uint16_t output = plans.argument("output", Direction::out, 16);
    for (int rank = 0; rank < 2; ++rank) {
        plans.on(rank).fill({output, rank, 0, 8}, 1);
        plans.next_lane(rank).fill({output, rank, 8, 8}, 2);
    }
    expect_proved(plans);
}

TEST(Lanes, WaitForEachOtherForEver) {
    Plans plans(1);
    const std::uint16_t signal = plans.signal("signal", 2, 1);
    plans.on(0).wait(signal, 0, now(1)).set(signal, 0, 1, now(1));
    plans.next_lane(0).wait(signal, 1, now(1)).set(signal, 0, 0, now(1));
    const Violation violation = found(plans);
    EXPECT_EQ(violation.kind, ViolationKind::deadlock);
    EXPECT_EQ(
        violation.message,
        "nobody can go on: rank 0, lane 0 (`wait signal[0] >= generation + 1`, call 0) sees 0 "
        "in signal[0]@0; rank 0, lane 1 (`wait signal[1] >= generation + 1`, call 0) sees 0 "
        "in signal[1]@0");
}

// One signal for all lanes of a peer: the first lane that rings lets the waiter go, and it reads
// what the other has not yet written.
TEST(Lanes, OneSignalForAllIsTooFew) {
    const auto plans_with = [](bool counts) {
        Plans plans(2);
        const std::uint16_t output = plans.argument("output", Direction::out, 16);
        const std::uint16_t data = plans.window("data", 16);
        const std::uint16_t ready = plans.signal("ready", 1, counts ? 2 : 1);
        const std::uint16_t taken = plans.signal("taken", 2, 1);
        for (std::uint64_t lane = 0; lane < 2; ++lane) {
            RankPlan plan = lane == 0 ? plans.on(0) : plans.next_lane(0);
            plan.wait(taken, lane, now(0)).fill(RankPlan::at(1, data, 8 * lane, 8), 1);
            if (counts) {
                plan.increase(ready, 1, 0, fixed(1));
            } else {
                plan.set(ready, 1, 0, now(1));
            }
        }
        RankPlan reader = plans.on(1);
        reader.wait(ready, 0, now(counts ? 2 : 1));
        reader.copy(reader.in(output, 0, 16), reader.in(data, 0, 16));
        reader.set(taken, 0, 0, now(1)).set(taken, 0, 1, now(1));
        return plans;
    };
    expect_proved(plans_with(true));
    EXPECT_THAT(found(plans_with(false)).message,
                HasSubstr("reads data@1[8..16), and nothing orders them"));
}

// Flags belong to a lane, and so does the order of its pipes.
TEST(Lanes, HavePipesAndFlagsOfTheirOwn) {
    const auto plans_with = [](bool awaits) {
        Plans plans(1);
        const std::uint16_t input = plans.argument("input", Direction::in, 16);
        const std::uint16_t output = plans.argument("output", Direction::out, 16);
        plans.tile_bytes(8);
        for (std::uint64_t lane = 0; lane < 2; ++lane) {
            RankPlan plan = lane == 0 ? plans.on(0) : plans.next_lane(0);
            plan.copy(plan.tile(0, 8), plan.in(input, 8 * lane, 8), Pipe::load);
            if (awaits || lane == 0) {
                plan.set_flag(Pipe::load, Pipe::store).wait_flag(Pipe::load, Pipe::store);
            }
            plan.copy(plan.in(output, 8 * lane, 8), plan.tile(0, 8), Pipe::store);
        }
        return plans;
    };
    const Plans right = plans_with(true);
    EXPECT_EQ(check_one(right.list()).verdict, Verdict::proved);
    const CheckReport wrong = check_one(plans_with(false).list());
    ASSERT_EQ(wrong.verdict, Verdict::violated);
    EXPECT_EQ(wrong.violations[0].kind, ViolationKind::pipe_hazard);
    EXPECT_THAT(wrong.violations[0].message, HasSubstr("rank 0, lane 1 (`copy tile[0..8) <- "));
    const std::vector<Plan> host = plan::for_host(right.list());
    EXPECT_EQ(host[0].lane_count(), 2u);
    EXPECT_EQ(check_one(host).verdict, Verdict::proved);
}

// A flag of one lane does nothing for another.
TEST(Lanes, DoNotTakeEachOthersFlags) {
    Plans plans(1);
    plans.on(0).set_flag(Pipe::load, Pipe::store);
    plans.next_lane(0).wait_flag(Pipe::load, Pipe::store);
    const CheckReport report = check_one(plans.list());
    ASSERT_EQ(report.violations.size(), 2u);
    EXPECT_EQ(report.violations[0].message,
              "rank 0, lane 0: the flag MTE2 -> MTE3, event 0 is set 1 times and awaited 0 times: "
              "it is left set at the end");
    EXPECT_EQ(report.violations[1].message,
              "rank 0, lane 1: the flag MTE2 -> MTE3, event 0 is awaited 1 times and set 0 times: "
              "the last wait never ends");
}

// Stages need not have the same number.
TEST(Lanes, NeedNotBeAsManyInEveryCall) {
    Plans one(1), two(1);
    for (Plans* plans : {&one, &two}) plans->window("data", 8);
    one.on(0).fill({0, 0, 0, 8}, 1);
    two.on(0).fill({0, 0, 0, 4}, 1);
    two.next_lane(0).fill({0, 0, 4, 4}, 1);
    EXPECT_EQ(check({{&one.list(), nullptr, {}}, {&two.list(), nullptr, {}}}).verdict,
              Verdict::proved);
}

// 64 ranks of 31 lanes; each lane passes a block around the ring of all ranks.
TEST(Lanes, TwoThousandAgentsAreDecidedByOneRun) {
    constexpr int kRanks = 64, kLanes = 31;
    Plans plans(kRanks);
    const std::uint16_t data = plans.window("data", 4 * kLanes);
    const std::uint16_t ready = plans.signal("ready", kLanes, 1);
    const std::uint16_t taken = plans.signal("taken", kLanes, 1);
    for (int rank = 0; rank < kRanks; ++rank) {
        const int right = (rank + 1) % kRanks, left = (rank + kRanks - 1) % kRanks;
        for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
            RankPlan plan = lane == 0 ? plans.on(rank) : plans.next_lane(rank);
            plan.wait(taken, lane, now(0));
            plan.fill(RankPlan::at(right, data, 4 * lane, 4), rank);
            plan.set(ready, right, lane, now(1)).wait(ready, lane, now(1));
            plan.clobber(plan.in(data, 4 * lane, 4)).set(taken, left, lane, now(1));
        }
    }
    const CheckReport report = check_one(plans.list());
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
    EXPECT_EQ(report.why_explored, "");
}

}  // namespace lane_test
}  // namespace peal
