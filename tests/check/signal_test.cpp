// SPDX-License-Identifier: Apache-2.0
// Values of signals: overflow in some order, exact waits, cells that nobody awaits, and calls that
// drift apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "check/possible.hpp"
#include "check/recipes.hpp"
#include "peal/error.hpp"

namespace peal {
namespace signal_test {

using namespace test;  // NOLINT
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kMost = 2147483647;

// By both methods, which agree; the schedules are possible.
CheckReport checked(const Plans& plans, int calls = 3, const Meaning* meaning = nullptr) {
    CheckOptions options;
    options.calls = calls;
    const std::vector<CheckStage> stages = {{&plans.list(), meaning, {}}};
    CheckReport report = check(stages, options);
    options.explore = true;
    const CheckReport explored = check(stages, options);
    EXPECT_EQ(explored.verdict, report.verdict);
    for (const CheckReport* each : {&std::as_const(report), &explored}) {
        for (const Violation& violation : each->violations) expect_possible(stages, violation);
    }
    return report;
}

// ---------------------------------------------------------------------------- overflow

// 3 * 715827882 = 2^31 - 2: it fits unless the 2 of rank 0 is in it when the last third comes.
TEST(Overflow, InSomeOrderOfAdditionsIsFound) {
    constexpr std::int64_t kThird = 715827882;
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    plans.on(0)
        .increase(signal, 0, 0, fixed(2))
        .increase(signal, 0, 0, fixed(-2))
        .wait(signal, 0, {kThird, kThird});
    plans.on(1).increase(signal, 0, 0, fixed(kThird));
    EXPECT_EQ(checked(plans, 2).verdict, Verdict::proved);
    const CheckReport report = checked(plans, 3);
    EXPECT_THAT(kinds(report), ElementsAre(ViolationKind::overflow));
    EXPECT_EQ(report.violations[0].found, "2147483648");
}

TEST(Overflow, OfACellThatNobodyAwaitsIsFound) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 0);
    plans.on(0).increase(signal, 0, 0, fixed(kMost)).increase(signal, 0, 0, fixed(-kMost));
    plans.on(1).increase(signal, 0, 0, fixed(1));
    EXPECT_THAT(kinds(checked(plans, 1)), ElementsAre(ViolationKind::overflow));
}

// Rank 1 takes away what rank 0 added before rank 0 adds again.
TEST(Overflow, ThatNoOrderHasIsNotInvented) {
    Plans plans(2);
    const std::uint16_t counted = plans.signal("counted", 1, 0);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    plans.on(0)
        .increase(counted, 0, 0, fixed(kMost))
        .set(signal, 1, 0, now(1))
        .wait(signal, 0, now(1))
        .increase(counted, 0, 0, fixed(kMost))
        .increase(counted, 0, 0, fixed(-kMost));
    plans.on(1)
        .wait(signal, 0, now(1))
        .increase(counted, 0, 0, fixed(-kMost))
        .set(signal, 0, 0, now(1));
    const CheckReport report = checked(plans, 3);
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
}

// Rank 1 has not rung again when rank 0 goes on, though its next notify is all that it has left.
TEST(Overflow, IsShownWithoutNotifiesOfPackedCellsThatHaveNotCome) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 0, 8);
    plans.on(0).set(signal, 1, 0, fixed(kMost)).wait(signal, 0, Compare::eq, fixed(1));
    plans.on(0).increase(signal, 1, 0, fixed(1));
    plans.on(1).increase(signal, 0, 0, fixed(1)).set(signal, 0, 0, fixed(7));
    CheckOptions options;
    options.calls = 1;
    options.explore = true;
    const std::vector<CheckStage> stages = {{&plans.list(), nullptr, {}}};
    const CheckReport report = check(stages, options);
    EXPECT_THAT(kinds(report), ElementsAre(ViolationKind::overflow));
    expect_possible(stages, report.violations[0]);
}

TEST(Overflow, OfASumIsShownWithAllThatIsInIt) {
    Plans plans(3);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    plans.on(0).wait(signal, 0, {kMost - 1, kMost - 1});
    for (const int rank : {1, 2}) plans.on(rank).increase(signal, 0, 0, fixed(kMost / 2));
    EXPECT_EQ(checked(plans, 1).verdict, Verdict::proved);
    const CheckReport report = checked(plans, 2);
    EXPECT_EQ(kinds(report)[0], ViolationKind::overflow);
}

// ---------------------------------------------------------------------------- sums

// In the run that the linear method makes, rank 1 adds what rank 0 waits for, and rank 2, whom rank
// 3 keeps waiting, adds later. It might have been rank 2, and rank 1 may still be writing.
TEST(Sums, OfWhichAWaitTakesNotAllAreExplored) {
    Plans plans(4);
    const std::uint16_t input = plans.argument("input", Direction::in, 4);
    const std::uint16_t output = plans.argument("output", Direction::out, 4);
    const std::uint16_t data = plans.window("data", 4);
    const std::uint16_t sum = plans.signal("sum", 1, 0);
    const std::uint16_t pace = plans.signal("pace", 1, 0);
    plans.on(0).wait(sum, 0, fixed(1));
    plans.on(0).copy(plans.on(0).in(output, 0, 4), RankPlan::at(1, data, 0, 4));
    plans.on(1).copy(plans.on(1).in(data, 0, 4), plans.on(1).in(input, 0, 4));
    plans.on(1).increase(sum, 0, 0, fixed(1));
    plans.on(2).set(pace, 3, 0, fixed(1)).wait(pace, 0, fixed(1)).increase(sum, 0, 0, fixed(1));
    plans.on(3).wait(pace, 0, fixed(1)).set(pace, 2, 0, fixed(1));
    CheckOptions options;
    options.calls = 1;
    const std::vector<CheckStage> stages = {{&plans.list(), nullptr, {}}};
    const CheckReport report = check(stages, options);
    EXPECT_EQ(report.method, CheckMethod::exploration);
    EXPECT_THAT(kinds(report), ElementsAre(ViolationKind::data_race));
    EXPECT_EQ(report.why_explored,
              "assumption 4 (each cell has writers in a fixed order, or one waiter that takes all "
              "their additions): "
              "rank 2 (`notify sum[0]@0 += 1`, call 0): the cell has several writers "
              "that are not ordered, and a wait that does not take all their additions");
}

// ---------------------------------------------------------------------------- exact waits

// Nobody changes the cell again before the wait has passed.
TEST(ExactWaits, StayInTheLinearMethodWhenLaterNotifiesComeAfterThem) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    for (int me = 0; me < 2; ++me) {
        RankPlan rank = plans.on(me);
        if (me == 0) rank.set(signal, 1, 0, now(1)).wait(signal, 0, Compare::eq, now(1));
        if (me == 1) rank.wait(signal, 0, Compare::eq, now(1)).set(signal, 0, 0, now(1));
    }
    const CheckReport report = checked(plans);
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
}

TEST(ExactWaits, OnASumStayInTheLinearMethod) {
    Plans plans(3);
    const std::uint16_t signal = plans.signal("signal", 2, 2);
    plans.on(0).wait(signal, 0, Compare::eq, now(2));
    for (const int rank : {1, 2}) {
        plans.on(0).set(signal, rank, 1, now(1));
        plans.on(rank).increase(signal, 0, 0, fixed(1)).wait(signal, 1, now(1));
    }
    const CheckReport report = checked(plans);
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
}

TEST(ExactWaits, ThatAPeerMayRunPastAreExplored) {
    const Plans plans = mesh_barrier(2, NotifyOp::set, now(1), Compare::eq, now(1), 1);
    const CheckReport report = checked(plans);
    EXPECT_EQ(report.method, CheckMethod::exploration);
    EXPECT_THAT(kinds(report), ElementsAre(ViolationKind::deadlock));
}

// ---------------------------------------------------------------------------- no waits

TEST(UnawaitedCells, NeedNoOrder) {
    constexpr int kRanks = 10;
    Plans plans(kRanks);
    const std::uint16_t signal = plans.signal("signal", 1, 0);
    for (int rank = 0; rank < kRanks; ++rank) plans.on(rank).set(signal, 0, 0, fixed(rank));
    const CheckReport report = check_one(plans.list());
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
}

TEST(UnawaitedCells, ThatMayOverflowAreExploredForThatReason) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 0);
    plans.on(0).set(signal, 0, 0, fixed(kMost)).increase(signal, 0, 0, fixed(-1));
    plans.on(1).increase(signal, 0, 0, fixed(1));
    const CheckReport report = checked(plans, 1);
    EXPECT_THAT(kinds(report), ElementsAre(ViolationKind::overflow));
    EXPECT_EQ(report.why_explored,
              "assumption 4 (each cell has writers in a fixed order, or one waiter that takes all "
              "their additions): "
              "rank 1 (`notify signal[0]@0 += 1`, call 0): the cell has several "
              "writers that are not ordered, and it may overflow");
}

// ---------------------------------------------------------------------------- drift

// Proved for three and four calls, a race in the fifth: four ranks whose senders ring
// generation * 4 + 4 and whose receivers wait for generation * 3 + 4.
TEST(Drift, OfWaitsAndSetsIsRefutedWhateverTheNumberOfCalls) {
    const Plans plans = mesh_barrier(4, NotifyOp::set, {4, 4}, Compare::ge, {4, 3}, 1);
    EXPECT_EQ(checked(plans, 1).verdict, Verdict::proved);
    const CheckReport report = checked(plans, 3);
    EXPECT_EQ(report.verdict, Verdict::violated);
    EXPECT_THAT(kinds(report), Each(ViolationKind::signal_state));
    EXPECT_EQ(report.violations.front().message,
              "rank 1 (`wait signal[0] >= 3*generation + 4`, call 0) counts on signal[0]@1 to "
              "grow by 3 in each round of calls, rank 0 (`notify signal[0]@1 = 4*generation + "
              "4`, call 0) on 4: the calls drift apart");
}

TEST(Drift, OfTwoWaitsIsRefuted) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    plans.on(0).set(signal, 1, 0, {1, 1});
    plans.on(1).wait(signal, 0, {1, 1}).wait(signal, 0, {1, 0});
    EXPECT_EQ(kinds(checked(plans, 2)).back(), ViolationKind::signal_state);
    EXPECT_EQ(checked(plans, 1).verdict, Verdict::proved);
}

TEST(Drift, OfWhatIsAddedIsRefuted) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    plans.on(0).increase(signal, 1, 0, {1, 1});
    plans.on(1).wait(signal, 0, {1, 1});
    EXPECT_EQ(kinds(checked(plans, 2)).back(), ViolationKind::signal_state);
}

// Plain numbers do not grow, and neither does a generation that does not advance.
TEST(Drift, IsNotSeenWhereNothingGrows) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 2, 0);
    plans.on(0).increase(signal, 1, 0, {1, 5}).wait(signal, 1, {1, 3});
    plans.on(0).increase(signal, 0, 1, {-1, 2});
    plans.on(1)
        .wait(signal, 0, {1, 7})
        .increase(signal, 1, 0, {-1, 0})
        .increase(signal, 0, 1, fixed(1));
    EXPECT_THAT(checked(plans, 3).violations, IsEmpty());
}

// ---------------------------------------------------------------------------- sequences

// What the next call of a sequence expects matters when it is run again.
TEST(SignalState, OfASequenceMattersWhenItIsRunAgain) {
    Plans adds(2), sets(2);
    const std::uint16_t signal = adds.signal("signal", 1, 1);
    sets.signal("signal", 1, 0);
    adds.on(0).increase(signal, 1, 0, fixed(2));
    adds.on(1).wait(signal, 0, now(1));
    const std::vector<CheckStage> stages = {{&adds.list(), nullptr, {}},
                                            {&sets.list(), nullptr, {}}};
    CheckOptions options;
    options.calls = 1;
    EXPECT_EQ(check(stages, options).verdict, Verdict::proved);
    options.calls = 2;
    EXPECT_THAT(kinds(check(stages, options)), Contains(ViolationKind::signal_state));
}

// Rank 0 passes a barrier that rank 1 never comes to: the deadlock is the cause.
TEST(Sequences, WithABarrierThatSomebodyNeverComesToDeadlock) {
    Plans blocks(2), barrier(2);
    const std::uint16_t signal = blocks.signal("signal", 1, 1);
    blocks.on(1).wait(signal, 0, now(1));
    barrier.signal("signal", 1, 1);
    Meaning meaning;
    meaning.name = "barrier";
    meaning.meets = true;
    const std::vector<CheckStage> stages = {{&blocks.list(), nullptr, {}},
                                            {&barrier.list(), &meaning, {}}};
    CheckOptions options;
    options.calls = 1;
    EXPECT_THAT(kinds(check(stages, options)), ElementsAre(ViolationKind::deadlock));
}

// Rank 1 is let through a barrier to which rank 0 has come, but from which it does not return, and
// reads what rank 0 would have written. That it was let through early is no reason not to say so.
TEST(Sequences, WhoPassesABarrierAndReadsNothingIsShown) {
    Plans barrier(2), reads(2);
    const std::uint16_t signal = barrier.signal("signal", 2, 0);
    barrier.on(0).wait(signal, 0, fixed(1));
    const std::uint16_t output = reads.argument("output", Direction::out, 4);
    const std::uint16_t data = reads.window("data", 4);
    reads.on(1).copy(reads.on(1).in(output, 0, 4), RankPlan::at(0, data, 0, 4));
    Meaning meaning;
    meaning.name = "barrier";
    meaning.meets = true;
    const std::vector<CheckStage> stages = {{&barrier.list(), &meaning, {}},
                                            {&reads.list(), nullptr, {}}};
    CheckOptions options;
    options.calls = 1;
    EXPECT_THAT(kinds(check(stages, options)),
                UnorderedElementsAre(ViolationKind::unwritten_read, ViolationKind::deadlock,
                                     ViolationKind::wrong_result));
}

// ---------------------------------------------------------------------------- one name, one type

TEST(SharedSignals, HaveOneType) {
    Plans wide(2), narrow(2);
    wide.signal("signal", 1, 1, kCacheLineBytes, Element::i64);
    narrow.signal("signal", 1, 1, kCacheLineBytes, Element::i32);
    try {
        check({{&wide.list(), nullptr, {}}, {&narrow.list(), nullptr, {}}});
        FAIL() << "expected an error";
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_STREQ(error.what(), "check: the cells of 'signal' are used as i64 and as i32");
    }
}

}  // namespace signal_test
}  // namespace peal
