// SPDX-License-Identifier: Apache-2.0
// Work that is complete later than it is issued: deferred work and fences, stores that are visible
// after a fence, the cache of the scalar unit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/plans.hpp"
#include "check/proof_record.hpp"

namespace peal {
namespace completion_test {

using namespace test;  // NOLINT
using testing::HasSubstr;

constexpr std::uint64_t kBytes = 32;

// Rank 0 gives 32 bytes to rank 1, which takes them when it is told, and says so. Both methods
// agree, on three calls.
class Completion : public testing::Test {
protected:
    Completion() : plans_(2) {
        input_ = plans_.argument("input", Direction::in, kBytes);
        output_ = plans_.argument("output", Direction::out, kBytes);
        data_ = plans_.window("data", 2 * kCacheLineBytes);
        signal_ = plans_.signal("signal", 2, 1);
        plans_.tile_bytes(2 * kBytes);
    }

    RankPlan giver() { return plans_.on(0); }
    RankPlan taker() { return plans_.on(1); }
    static constexpr std::int32_t kTaker = 1;

    Range input() { return giver().in(input_, 0, kBytes); }
    Range theirs() { return RankPlan::at(kTaker, data_, 0, kBytes); }
    Range staged() { return giver().in(data_, 0, kBytes); }

    void tell() { giver().set(signal_, kTaker, 0, now(1)).wait(signal_, 1, now(1)); }
    void hear() { taker().wait(signal_, 0, now(1)); }
    void answer() { taker().set(signal_, 0, 1, now(1)); }
    void take() {
        hear();
        taker().copy(taker().in(output_, 0, kBytes), taker().in(data_, 0, kBytes));
        answer();
    }

    CheckReport run(MemoryOrder order = MemoryOrder::drained) {
        CheckOptions options;
        options.order = order;
        CheckReport report = check_one(plans_.list(), nullptr, options);
        EXPECT_EQ(report.method, CheckMethod::linear) << report.why_explored;
        options.explore = true;
        EXPECT_EQ(check_one(plans_.list(), nullptr, options).verdict, report.verdict);
        return report;
    }
    Verdict verdict(MemoryOrder order = MemoryOrder::drained) { return run(order).verdict; }
    std::string first(MemoryOrder order = MemoryOrder::drained) {
        const CheckReport report = run(order);
        if (report.violations.empty()) return std::string(name(report.verdict));
        const Violation& violation = report.violations.front();
        return std::string(name(violation.kind)) + ": " + violation.message;
    }

    Plans plans_;
    std::uint16_t input_ = 0, output_ = 0, data_ = 0, signal_ = 0;
};

// ---------------------------------------------------------------------------- deferred

TEST_F(Completion, APutIsCompleteAtItsFlush) {
    giver().copy(theirs(), input()).deferred(1);
    giver().fence(1);
    tell();
    take();
    EXPECT_EQ(verdict(), Verdict::proved);
}

// As a file, too.
TEST_F(Completion, WithoutTheFlushTheSignalOvertakesIt) {
    giver().copy(theirs(), input()).deferred(1);
    tell();
    take();
    plans_.list() = plans_from_json(to_json(plans_.list()));
    EXPECT_EQ(
        first(),
        "data race: rank 0 (`copy data@1[0..32) <- input[0..32), deferred #1`, call 0) writes and "
        "rank 1 (`copy output[0..32) <- data[0..32)`, call 0) reads data@1[0..32), and nothing "
        "orders them");
}

TEST_F(Completion, AFlushOfAnotherGroupIsNone) {
    giver().copy(theirs(), input()).deferred(1);
    giver().fence(2).fence();
    tell();
    take();
    EXPECT_THAT(first(), HasSubstr("data race"));
}

TEST_F(Completion, OneFlushIsForAllThatWasIssuedBefore) {
    giver().copy(RankPlan::at(kTaker, data_, 0, 16), giver().in(input_, 0, 16)).deferred(1);
    giver().copy(RankPlan::at(kTaker, data_, 16, 16), giver().in(input_, 16, 16)).deferred(1);
    giver().fence(1);
    tell();
    take();
    EXPECT_EQ(verdict(), Verdict::proved);
    std::vector<Instruction>& list = plans_.list()[0].instructions;
    std::swap(list[1], list[2]);
    EXPECT_EQ(verdict(), Verdict::violated);
}

TEST_F(Completion, TheSourceStaysAsItIsUntilTheFlush) {
    giver().copy(staged(), input());
    giver().copy(theirs(), staged()).deferred(1);
    giver().fence(1).clobber(staged());
    tell();
    take();
    EXPECT_EQ(verdict(), Verdict::proved);
    std::vector<Instruction>& list = plans_.list()[0].instructions;
    std::swap(list[2], list[3]);
    EXPECT_EQ(
        first(),
        "pipe hazard: rank 0 (`clobber u8 data[0..32) <- anything`, call 0) writes and rank 0 "
        "(`copy data@1[0..32) <- data[0..32), deferred #1`, call 0) reads data@0[0..32), and "
        "nothing orders them");
}

// Puts of one group are done in any order.
TEST_F(Completion, TwoPutsToOnePlaceClash) {
    giver().copy(theirs(), input()).deferred(1);
    giver().copy(theirs(), input()).deferred(1);
    giver().fence(1);
    tell();
    take();
    EXPECT_THAT(first(), HasSubstr("pipe hazard"));
    std::vector<Instruction>& list = plans_.list()[0].instructions;
    list.insert(list.begin() + 1, {Fence{1}, Pipe::none, 0});
    EXPECT_EQ(verdict(), Verdict::proved);
}

TEST_F(Completion, AdditionsOfOneGroupDoNotClash) {
    giver().accumulate(theirs(), input()).deferred(1);
    giver().accumulate(theirs(), input()).deferred(1);
    giver().fence(1);
    tell();
    take();
    EXPECT_EQ(verdict(), Verdict::proved);
}

// What is issued on a pipe behind a fence comes after what it completes.
TEST_F(Completion, AGetIsThereAfterItsWait) {
    giver().clobber(theirs());
    giver().copy(staged(), theirs()).deferred(4);
    giver().fence(4);
    giver().copy(giver().tile(0, kBytes), staged(), Pipe::load);
    EXPECT_EQ(verdict(), Verdict::proved);
    std::vector<Instruction>& list = plans_.list()[0].instructions;
    list.erase(list.begin() + 2);
    EXPECT_THAT(first(), HasSubstr("pipe hazard"));
}

TEST_F(Completion, TheEndOfACallCompletesEverything) {
    giver().copy(giver().in(output_, 0, kBytes), input()).deferred(1);
    taker().clobber(taker().in(output_, 0, kBytes));
    EXPECT_EQ(verdict(), Verdict::proved);
}

// ---------------------------------------------------------------------------- orders

class MemoryOrders : public Completion {
protected:
    // Rank 0 stores on a pipe.
    void store() {
        giver().copy(giver().tile(0, kBytes), input(), Pipe::load);
        giver().set_flag(Pipe::load, Pipe::store).wait_flag(Pipe::load, Pipe::store);
        giver().copy(theirs(), giver().tile(0, kBytes), Pipe::store);
    }
};

TEST_F(MemoryOrders, ADrainedStoreIsVisibleUnderOneOfThem) {
    store();
    giver().drain();
    tell();
    take();
    EXPECT_EQ(verdict(MemoryOrder::drained), Verdict::proved);
    EXPECT_EQ(
        first(MemoryOrder::fenced),
        "data race: rank 0 (`copy data@1[0..32) <- tile[0..32) on MTE3`, call 0) need not "
        "be visible when rank 1 (`copy output[0..32) <- data[0..32)`, call 0) reads data@1[0..32): "
        "no fence (dsb) comes between it and rank 0 (`notify signal[0]@1 = generation + 1`, call "
        "0)");
    const CheckReport report = run(MemoryOrder::fenced);
    EXPECT_EQ(report.order, MemoryOrder::fenced);
    EXPECT_FALSE(report.any_order);
}

TEST_F(MemoryOrders, AFenceMakesItVisibleUnderBoth) {
    store();
    giver().drain().fence();
    tell();
    take();
    EXPECT_EQ(verdict(MemoryOrder::drained), Verdict::proved);
    EXPECT_EQ(verdict(MemoryOrder::fenced), Verdict::proved);
}

TEST_F(MemoryOrders, AFenceDoesNotDrain) {
    store();
    giver().fence().drain();
    tell();
    take();
    EXPECT_EQ(verdict(MemoryOrder::drained), Verdict::proved);
    EXPECT_EQ(verdict(MemoryOrder::fenced), Verdict::violated);
}

// By a flag, also by way of another pipe, which may be told to wait before it is told to go.
TEST_F(MemoryOrders, AFlagTellsWhatIsFenced) {
    store();
    giver().wait_flag(Pipe::store, Pipe::vector).set_flag(Pipe::vector, Pipe::scalar);
    giver().set_flag(Pipe::store, Pipe::vector).wait_flag(Pipe::vector, Pipe::scalar);
    giver().fence();
    tell();
    take();
    EXPECT_EQ(verdict(MemoryOrder::fenced), Verdict::proved);
}

TEST_F(MemoryOrders, OnlyWhatIsKnownIsFenced) {
    store();
    giver().set_flag(Pipe::store, Pipe::scalar).wait_flag(Pipe::store, Pipe::scalar);
    giver().copy(RankPlan::at(kTaker, data_, 64, kBytes), giver().tile(0, kBytes), Pipe::store);
    giver().fence();
    giver().drain();
    tell();
    hear();
    taker().copy(taker().in(output_, 0, kBytes), taker().in(data_, 64, kBytes));
    answer();
    EXPECT_EQ(verdict(MemoryOrder::drained), Verdict::proved);
    EXPECT_EQ(verdict(MemoryOrder::fenced), Verdict::violated);
    std::get<Copy>(plans_.list()[1].instructions[1].action).src.offset = 0;
    EXPECT_EQ(verdict(MemoryOrder::fenced), Verdict::proved);
}

TEST_F(MemoryOrders, TheCoreItselfNeedsNoFence) {
    giver().copy(giver().tile(0, kBytes), input(), Pipe::load);
    giver().drain();
    giver().copy(staged(), giver().tile(0, kBytes), Pipe::store);
    giver().drain();
    giver().copy(giver().tile(kBytes, kBytes), staged(), Pipe::load);
    giver().drain();
    giver().copy(staged(), giver().tile(kBytes, kBytes), Pipe::store);
    EXPECT_EQ(verdict(MemoryOrder::fenced), Verdict::proved);
}

// An engine of its own does.
TEST_F(MemoryOrders, DeferredWorkNeedsOne) {
    store();
    giver().drain().copy(giver().in(data_, 64, kBytes), theirs()).deferred(1);
    EXPECT_EQ(verdict(MemoryOrder::drained), Verdict::proved);
    EXPECT_THAT(first(MemoryOrder::fenced), HasSubstr("pipe hazard"));
    std::vector<Instruction>& list = plans_.list()[0].instructions;
    list.insert(list.end() - 1, {Fence{}, Pipe::none, 0});
    EXPECT_EQ(verdict(MemoryOrder::fenced), Verdict::proved);
}

TEST_F(MemoryOrders, AtomicAdditionsMeetOnTheirWay) {
    for (const int me : {0, 1}) {
        RankPlan rank = plans_.on(me);
        rank.copy(rank.tile(0, kBytes), rank.in(input_, 0, kBytes), Pipe::load);
        rank.drain();
        rank.accumulate(theirs(), rank.tile(0, kBytes), Element::f32, Pipe::store);
    }
    EXPECT_EQ(verdict(MemoryOrder::fenced), Verdict::proved);
}

TEST_F(MemoryOrders, WithoutPipesTheyDoNotDiffer) {
    giver().copy(theirs(), input());
    tell();
    take();
    const std::vector<CheckStage> stages = {{&plans_.list(), nullptr, {}}};
    EXPECT_FALSE(orders_differ(stages));
    EXPECT_TRUE(run(MemoryOrder::fenced).any_order);
    CheckOptions options;
    const checker::ProofSubject subject = checker::subject_of(stages, options);
    EXPECT_EQ(subject.memory_order, "any");
    options.order = MemoryOrder::fenced;
    EXPECT_EQ(checker::subject_of(stages, options), subject);
}

TEST_F(MemoryOrders, AProofNamesItsOrder) {
    store();
    const std::vector<CheckStage> stages = {{&plans_.list(), nullptr, {}}};
    CheckOptions options;
    EXPECT_EQ(checker::subject_of(stages, options).memory_order, "drained");
    options.order = MemoryOrder::fenced;
    EXPECT_EQ(checker::subject_of(stages, options).memory_order, "fenced");
}

// ---------------------------------------------------------------------------- the cache

class ScalarCache : public Completion {
protected:
    Range count() { return RankPlan::at(kTaker, data_, 0, 4); }
    Range other() { return RankPlan::at(kTaker, data_, kCacheLineBytes, 4); }
    void write(const Range& where) { giver().fill(where, 7, Element::i32).cached(); }
    void read(const Range& where) {
        taker().copy(taker().in(output_, 0, 4), where);
        taker().clobber(taker().in(output_, 4, kBytes - 4));
    }
};

TEST_F(ScalarCache, AWriteIsInMemoryAfterEvictionAndFence) {
    write(count());
    giver().evict(count()).fence();
    tell();
    hear();
    read(count());
    answer();
    for (const MemoryOrder order : {MemoryOrder::drained, MemoryOrder::fenced}) {
        EXPECT_EQ(verdict(order), Verdict::proved);
    }
}

TEST_F(ScalarCache, NeitherAloneIsEnough) {
    for (const bool evicts : {false, true}) {
        plans_.list()[0].instructions.clear();
        plans_.list()[1].instructions.clear();
        write(count());
        if (evicts) {
            giver().evict(count());
        } else {
            giver().fence();
        }
        tell();
        hear();
        read(count());
        answer();
        EXPECT_EQ(
            first(),
            "data race: rank 0 (`fill i32 data@1[0..4) <- 7, cached`, call 0) may still be in "
            "the cache when rank 1 (`copy output[0..4) <- data[0..4)`, call 0) reads "
            "data@1[0..4): no evict (dcci) and fence (dsb) come between");
    }
}

TEST_F(ScalarCache, LinesAreEvictedOneByOne) {
    write(count());
    write(other());
    giver().evict(other()).fence();
    tell();
    hear();
    read(other());
    answer();
    EXPECT_EQ(verdict(), Verdict::proved);
    std::get<Copy>(plans_.list()[1].instructions[1].action).src = count();
    EXPECT_EQ(verdict(), Verdict::violated);
}

TEST_F(ScalarCache, WhatIsWrittenBehindTheEvictionIsNotCleaned) {
    write(count());
    giver().evict(count());
    write(count());
    giver().fence();
    tell();
    hear();
    read(count());
    answer();
    EXPECT_EQ(verdict(), Verdict::violated);
}

TEST_F(ScalarCache, AReadMayBeServedFromIt) {
    giver().fill(count(), 7, Element::i32);
    tell();
    hear();
    taker().copy(taker().in(output_, 0, 4), count()).cached();
    taker().clobber(taker().in(output_, 4, kBytes - 4));
    answer();
    EXPECT_EQ(first(),
              "data race: rank 1 (`copy output[0..4) <- data[0..4), cached`, call 0) may be served "
              "from the cache what was there before rank 0 (`fill i32 data@1[0..4) <- 7`, call 0) "
              "writes data@1[0..4): no evict (dcci) comes between");
    std::vector<Instruction>& list = plans_.list()[1].instructions;
    list.insert(list.begin() + 1, {Evict{count()}, Pipe::none, 0});
    EXPECT_EQ(verdict(), Verdict::proved);
    std::swap(list[0], list[1]);
    EXPECT_EQ(verdict(), Verdict::violated);
}

TEST_F(ScalarCache, TheScalarUnitKnowsWhatItWrote) {
    giver().fill(staged(), 1, Element::i32).cached();
    giver().copy(giver().in(output_, 0, kBytes), staged()).cached();
    EXPECT_EQ(verdict(), Verdict::proved);
}

// Its own pipes do not.
TEST_F(ScalarCache, ItsPipesDoNot) {
    giver().fill(staged(), 1, Element::i32).cached();
    giver().copy(giver().tile(0, kBytes), staged(), Pipe::load);
    EXPECT_THAT(first(), HasSubstr("pipe hazard"));
    std::vector<Instruction>& list = plans_.list()[0].instructions;
    list.insert(list.begin() + 1, {Fence{}, Pipe::none, 0});
    list.insert(list.begin() + 1, {Evict{staged()}, Pipe::none, 0});
    EXPECT_EQ(verdict(), Verdict::proved);
}

// ---------------------------------------------------------------------------- mutation

// Everything together; without any one fence or eviction it is wrong under one of the orders.
TEST_F(Completion, NoFenceIsThereForNothing) {
    giver().copy(giver().tile(0, 16), giver().in(input_, 0, 16), Pipe::load);
    giver().set_flag(Pipe::load, Pipe::store).wait_flag(Pipe::load, Pipe::store);
    giver().copy(RankPlan::at(kTaker, data_, 0, 16), giver().tile(0, 16), Pipe::store);
    giver().copy(RankPlan::at(kTaker, data_, 16, 12), giver().in(input_, 16, 12)).deferred(2);
    giver().copy(RankPlan::at(kTaker, data_, 64, 4), giver().in(input_, 28, 4)).cached();
    giver().evict(RankPlan::at(kTaker, data_, 64, 4));
    giver().drain().fence().fence(2);
    tell();
    hear();
    taker().evict(taker().in(data_, 64, 4));
    taker().copy(taker().in(output_, 0, 28), taker().in(data_, 0, 28));
    taker().copy(taker().in(output_, 28, 4), taker().in(data_, 64, 4)).cached();
    answer();
    const auto proves = [&] {
        return verdict(MemoryOrder::drained) == Verdict::proved &&
               verdict(MemoryOrder::fenced) == Verdict::proved;
    };
    ASSERT_TRUE(proves());
    int mutants = 0;
    for (Plan& plan : plans_.list()) {
        for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
            const Action& action = plan.instructions[i].action;
            if (!std::holds_alternative<Fence>(action) && !std::holds_alternative<Evict>(action)) {
                continue;
            }
            const std::vector<Instruction> whole = plan.instructions;
            const std::string text = to_text(whole[i], plan);
            plan.instructions.erase(plan.instructions.begin() + static_cast<std::ptrdiff_t>(i));
            EXPECT_FALSE(proves()) << "rank " << plan.rank << " without " << text;
            plan.instructions = whole;
            ++mutants;
        }
    }
    EXPECT_EQ(mutants, 4);
}

}  // namespace completion_test
}  // namespace peal
