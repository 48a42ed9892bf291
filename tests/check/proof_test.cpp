// SPDX-License-Identifier: Apache-2.0
// What is right is proved, by the method it should be proved by.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/recipes.hpp"

namespace peal {
namespace proof_test {

using namespace test;  // NOLINT
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(Proof, MeshAllreduceInOneRun) {
    for (int nranks = 1; nranks <= 9; ++nranks) {
        const Plans plans = mesh_allreduce(nranks, 64);
        Meaning meaning = allreduce_meaning(plans, 64, false);
        meaning.in_order = true;
        const CheckReport report = check_one(plans.list(), &meaning);
        EXPECT_EQ(report.verdict, Verdict::proved) << nranks;
        EXPECT_EQ(report.method, CheckMethod::linear);
        EXPECT_TRUE(report.any_calls);
        EXPECT_THAT(report.why_explored, IsEmpty());
        // Stage, copy, reduce, consume, and a notify and a wait per peer and phase; in two calls.
        EXPECT_EQ(report.events, 2u * static_cast<unsigned>(nranks * (4 + 4 * (nranks - 1))));
    }
}

TEST(Proof, RingAllreduceInOneRun) {
    for (int nranks = 2; nranks <= 9; ++nranks) {
        const Plans plans = ring_allreduce(nranks, 8);
        const Meaning meaning =
            allreduce_meaning(plans, 8 * static_cast<std::uint64_t>(nranks), true);
        const CheckReport report = check_one(plans.list(), &meaning);
        EXPECT_EQ(report.verdict, Verdict::proved) << nranks;
        EXPECT_EQ(report.method, CheckMethod::linear);
    }
}

TEST(Proof, TheRingIsNotInRankOrder) {
    const Plans plans = ring_allreduce(3, 8);
    Meaning meaning = allreduce_meaning(plans, 24, true);
    meaning.in_order = true;
    const CheckReport report = check_one(plans.list(), &meaning);
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_THAT(report.violations[0].message, HasSubstr("the order is another one"));
}

TEST(Proof, HundredsOfRanks) {
    const Plans plans = ring_allreduce(64, 4);
    const Meaning meaning = allreduce_meaning(plans, 4 * 64, true);
    EXPECT_EQ(check_one(plans.list(), &meaning).verdict, Verdict::proved);
}

TEST(Proof, BothMethodsAgreeOnRecipes) {
    CheckOptions options;
    options.explore = true;
    options.calls = 2;
    for (int nranks = 1; nranks <= 3; ++nranks) {
        const Plans mesh = mesh_allreduce(nranks, 8);
        const Meaning meaning = allreduce_meaning(mesh, 8, false);
        const CheckReport report = check_one(mesh.list(), &meaning, options);
        EXPECT_EQ(report.verdict, Verdict::proved) << nranks;
        EXPECT_EQ(report.method, CheckMethod::exploration);
        EXPECT_EQ(report.why_explored, "asked for");
        EXPECT_GE(report.states, 1u);
    }
    const Plans ring = ring_allreduce(3, 4);
    const Meaning meaning = allreduce_meaning(ring, 12, true);
    EXPECT_EQ(check_one(ring.list(), &meaning, options).verdict, Verdict::proved);
}

TEST(Proof, BarriersOfMonotoneCells) {
    for (int nranks = 2; nranks <= 5; ++nranks) {
        for (const NotifyOp op : {NotifyOp::set, NotifyOp::add}) {
            const Value value = op == NotifyOp::set ? now(1) : fixed(1);
            const Plans plans = mesh_barrier(nranks, op, value, Compare::ge, now(1), 1);
            const Meaning meaning = barrier_meaning(plans);
            const CheckReport report = check_one(plans.list(), &meaning);
            EXPECT_EQ(report.verdict, Verdict::proved);
            EXPECT_EQ(report.method, CheckMethod::linear);
        }
    }
}

// Several writers add to one counter and the wait takes all of them: still one run.
TEST(Proof, ACentralCounterIsMonotoneToo) {
    Plans plans(4);
    const std::uint16_t signal = plans.signal("signal", 2, 3);
    for (int rank = 1; rank < 4; ++rank) {
        plans.on(rank).increase(signal, 0, 0, fixed(1)).wait(signal, 1, now(3));
    }
    plans.on(0).wait(signal, 0, now(3));
    for (int rank = 1; rank < 4; ++rank) plans.on(0).set(signal, rank, 1, now(3));
    const Meaning meaning = barrier_meaning(plans);
    const CheckReport report = check_one(plans.list(), &meaning);
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
}

// A cell that is handed on from writer to writer has ordered notifies.
TEST(Proof, WritersThatTakeTurnsAreOrdered) {
    Plans plans(3);
    const std::uint16_t signal = plans.signal("signal", 1, 3);
    plans.on(0).set(signal, 2, 0, now(1)).set(signal, 1, 0, now(2)).wait(signal, 0, now(3));
    plans.on(1).wait(signal, 0, now(2)).set(signal, 2, 0, now(2));
    plans.on(2).wait(signal, 0, now(2)).set(signal, 0, 0, now(3));
    const CheckReport report = check_one(plans.list());
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
}

// Credits: taken back by the one who waited for them.
TEST(Proof, CreditsInOneRun) {
    Plans plans(3);
    const std::uint16_t signal = plans.signal("signal", 3, 0);
    for (int me = 0; me < 3; ++me) {
        ring_peers(plans.on(me), me, 3, signal, fixed(1), NotifyOp::add);
        for (int peer = 0; peer < 3; ++peer) {
            if (peer == me) continue;
            const auto cell = static_cast<std::uint64_t>(peer);
            plans.on(me).wait(signal, cell, fixed(1)).increase(signal, me, cell, fixed(-1));
        }
    }
    const Meaning meaning = barrier_meaning(plans);
    const CheckReport report = check_one(plans.list(), &meaning);
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
    EXPECT_TRUE(report.any_calls);
}

TEST(Proof, SaysWhichAssumptionFails) {
    const Plans equal = mesh_barrier(2, NotifyOp::set, now(1), Compare::eq, now(1), 1);
    EXPECT_EQ(check_one(equal.list()).why_explored,
              "assumption 2 (waits are >= or exact): "
              "rank 1 (`notify signal[1]@0 = generation + 1`, call 1): it need not "
              "come after rank 0 (`wait signal[1] == generation + 1`, call 0), which is ==");

    Plans other(1);
    const std::uint16_t flag = other.signal("signal", 1, 0);
    other.on(0).wait(flag, 0, Compare::le, fixed(1));
    EXPECT_EQ(check_one(other.list()).why_explored,
              "assumption 2 (waits are >= or exact): "
              "rank 0 (`wait signal[0] <= 1`, call 0): the wait is neither >= nor ==");

    Plans shared(3);
    const std::uint16_t signal = shared.signal("signal", 1, 1);
    shared.on(0).set(signal, 2, 0, now(1));
    shared.on(1).set(signal, 2, 0, now(1));
    shared.on(2).wait(signal, 0, now(1));
    EXPECT_EQ(check_one(shared.list()).why_explored,
              "assumption 4 (each cell has writers in a fixed order, or one waiter that takes all "
              "their additions): "
              "rank 1 (`notify signal[0]@2 = generation + 1`, call 0): the cell has "
              "several writers that are not ordered, and a wait that does not take all their "
              "additions");
}

TEST(Proof, DifferentCollectivesShareWindowsAndSignals) {
    const Plans mesh = mesh_allreduce(3, 24);
    const Plans ring = ring_allreduce(3, 8);
    const Plans barrier = mesh_barrier(3, NotifyOp::set, now(1), Compare::ge, now(1), 1);
    const Meaning mesh_meaning = allreduce_meaning(mesh, 24, false);
    const Meaning ring_meaning = allreduce_meaning(ring, 24, true);
    const Meaning barrier_means = barrier_meaning(barrier);
    CheckOptions options;
    options.calls = 2;
    // The ring's two cells are also the first two of the mesh's three.
    const CheckReport report = check({{&mesh.list(), &mesh_meaning, {}},
                                      {&ring.list(), &ring_meaning, {"data", "ring"}},
                                      {&barrier.list(), &barrier_means, {}},
                                      {&ring.list(), &ring_meaning, {"data", "ring"}}},
                                     options);
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.calls, 8);
}

TEST(Proof, NothingToDoIsFine) {
    const Plans plans(3);
    EXPECT_EQ(check_one(plans.list()).verdict, Verdict::proved);
}

// ---------------------------------------------------------------------------- explain, redundant

TEST(Explain, NamesTheChain) {
    const Plans plans = mesh_allreduce(2, 8);
    CheckOptions options;
    options.explain = true;
    options.calls = 2;
    options.any_calls = false;
    const std::vector<CheckStage> stages = {{&plans.list(), nullptr, {}}};
    const CheckReport report = check(stages, options);
    ASSERT_EQ(report.verdict, Verdict::proved);
    // My copy into my window comes before the peer's read of it, and that before my next copy.
    ASSERT_EQ(report.explanations.size(), 2u);
    const Explanation& read_after_write = report.explanations[0];
    EXPECT_EQ(to_text(read_after_write.first, stages),
              "rank 0, call 0: copy data[0..8) <- input[0..8)");
    EXPECT_THAT(to_text(read_after_write.second, stages), StartsWith("rank 1, call 0: reduce"));
    EXPECT_EQ(read_after_write.memory, "data@0[0..8)");
    EXPECT_EQ(read_after_write.pairs, 4u);
    ASSERT_EQ(read_after_write.chain.size(), 1u);
    EXPECT_EQ(to_text(read_after_write.chain[0].notify, stages),
              "rank 0, call 0: notify signal[0]@1 = generation + 1");
    EXPECT_EQ(to_text(read_after_write.chain[0].wait, stages),
              "rank 1, call 0: wait signal[0] >= generation + 1");
    const Explanation& write_after_read = report.explanations[1];
    EXPECT_EQ(write_after_read.second.call, write_after_read.first.call + 1);
    ASSERT_EQ(write_after_read.chain.size(), 1u);
    EXPECT_EQ(to_text(write_after_read.chain[0].notify, stages),
              "rank 1, call 0: notify signal[1]@0 = generation + 2");
}

// Instructions that the report names, as texts.
std::vector<std::string> redundant(const Plans& plans, const Meaning* meaning) {
    CheckOptions options;
    options.find_redundant = true;
    const CheckReport report = check_one(plans.list(), meaning, options);
    EXPECT_EQ(report.verdict, Verdict::proved);
    std::vector<std::string> list;
    for (const Redundant& sync : report.redundant) {
        const Plan& plan = plans.list()[static_cast<std::size_t>(sync.rank)];
        list.push_back(to_text(plan.instructions[static_cast<std::size_t>(sync.index)], plan));
    }
    return list;
}

TEST(Redundant, NothingInABarrier) {
    const Plans plans = mesh_barrier(3, NotifyOp::set, now(1), Compare::ge, now(1), 1);
    const Meaning meaning = barrier_meaning(plans);
    EXPECT_THAT(redundant(plans, &meaning), IsEmpty());
}

// Without one of its first notifies the mesh is slower and still right: the peer goes on when the
// second one comes. No wait can go.
TEST(Redundant, NotifiesThatOnlySaveTime) {
    const Plans plans = mesh_allreduce(2, 8);
    const Meaning meaning = allreduce_meaning(plans, 8, false);
    EXPECT_THAT(redundant(plans, &meaning), ElementsAre("notify signal[0]@1 = generation + 1",
                                                        "notify signal[1]@0 = generation + 1"));
}

// Each call is three steps longer without: the peer waits for the second notify.
TEST(Redundant, SaysWhatItDoesToTheCriticalPath) {
    const Plans plans = mesh_allreduce(2, 8);
    CheckOptions options;
    options.find_redundant = true;
    const CheckReport report = check_one(plans.list(), nullptr, options);
    ASSERT_EQ(report.redundant.size(), 2u);
    for (const Redundant& sync : report.redundant) {
        EXPECT_EQ(sync.steps_with, 24u);
        EXPECT_EQ(sync.steps_without, 33u);
    }
    EXPECT_FALSE(report.redundant_cut);
}

TEST(Redundant, AWaitForWhatIsKnown) {
    Plans plans = mesh_barrier(2, NotifyOp::set, now(1), Compare::ge, now(1), 1);
    Plan& plan = plans.list()[1];
    plan.instructions.push_back(plan.instructions.back());
    const Meaning meaning = barrier_meaning(plans);
    // Either of the two, but not both.
    EXPECT_THAT(redundant(plans, &meaning), ElementsAre("wait signal[0] >= generation + 1",
                                                        "wait signal[0] >= generation + 1"));
}

}  // namespace proof_test
}  // namespace peal
