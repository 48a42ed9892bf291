// SPDX-License-Identifier: Apache-2.0
// Plans with pipes, as a core carries them out that does one thing after another.
#include "plan/for_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "plan/pipe_order.hpp"
#include "plan/pipes.hpp"
#include "plan/support.hpp"

namespace peal::plan {
namespace for_host_test {

using namespace peal::testing;
using ::testing::ElementsAre;

// Rank 1 of 3 with the buffers of sample_plan, 64 bytes each, and tiles of 64 bytes.
class ForHost : public ::testing::Test {
protected:
    ForHost() : plan_(sample_plan()) { plan_.instructions.clear(); }

    static Range tile(int number) {
        return {kTile, 1, static_cast<std::uint64_t>(number) * 64, 64};
    }
    static Range inp() { return {kInp, 1, 0, 64}; }
    static Range out() { return {kOut, 1, 0, 64}; }
    static Range data(int rank) { return {kData, rank, 0, 64}; }

    void add(Action action, Pipe pipe = Pipe::none) {
        plan_.instructions.push_back({std::move(action), pipe, 2});
    }
    void load(int number, const Range& from) { add(Copy{tile(number), from}, Pipe::load); }
    void store(const Range& to, int number) { add(Copy{to, tile(number)}, Pipe::store); }
    void sum(int number, int a, int b) {
        add(Reduce{ReduceOp::sum, Element::f32, tile(number), {tile(a), tile(b)}}, Pipe::vector);
    }
    void set(Pipe from, Pipe to, std::uint8_t event = 0) { add(SetFlag{from, to, event}); }
    void wait(Pipe from, Pipe to, std::uint8_t event = 0) { add(WaitFlag{from, to, event}); }
    void drain() { add(PipeBarrier{Pipe::all}); }
    void notify() { add(Notify{NotifyOp::set, {kSig, 2, 1}, {1, 0}}, Pipe::scalar); }
    void wait() { add(Wait{Compare::ge, {kSig, 1, 0}, {1, 0}}, Pipe::scalar); }

    std::vector<std::uint32_t> order() {
        validate(plan_);
        return pipe_order(plan_, 0);
    }
    std::string text() {
        const Plan result = for_host(plan_);
        EXPECT_TRUE(is_in_order(result));
        std::string text;
        for (const Instruction& instruction : result.instructions) {
            text += to_text(instruction, result) + '\n';
        }
        return text;
    }
    std::string complaint() {
        try {
            for_host(plan_);
        } catch (const Error& error) {
            EXPECT_EQ(error.fault(), Fault::program);
            return error.what();
        }
        return "no error";
    }

    Plan plan_;
};

TEST_F(ForHost, APlanWithoutPipesStaysAsItIs) {
    add(Copy{tile(0), inp()});
    add(Copy{out(), tile(0)});
    EXPECT_EQ(for_host(plan_), plan_);
    EXPECT_EQ(for_host(std::vector<Plan>{plan_, plan_}), (std::vector<Plan>{plan_, plan_}));
}

TEST_F(ForHost, OnlyTheWorkIsLeft) {
    Plan plan = sample_plan();
    const Plan result = for_host(plan);
    EXPECT_TRUE(is_in_order(result));
    EXPECT_EQ(result.buffers, plan.buffers);
    EXPECT_EQ(result.advance, plan.advance);
    EXPECT_EQ(result.source, plan.source);
    EXPECT_EQ(for_host(result), result);
}

TEST_F(ForHost, DeferredWorkIsDoneWhereItIsIssued) {
    add(Copy{data(2), inp()});
    plan_.instructions.back().group = 3;
    add(Evict{data(1)});
    add(Fence{3});
    add(Notify{NotifyOp::set, {kSig, 2, 1}, {1, 0}});
    EXPECT_FALSE(is_in_order(plan_));
    EXPECT_EQ(fuse(plan_), plan_);
    EXPECT_EQ(text(),
              "copy data@2[0..64) <- inp[0..64)\n"
              "notify sig[1]@2 = 1\n");
}

// A kernel as a tile processor runs it: load, add and store on pipes of their own.
TEST_F(ForHost, AKernelReadsThePeersDirectly) {
    load(0, data(0));
    load(1, data(2));
    set(Pipe::load, Pipe::vector);
    wait(Pipe::load, Pipe::vector);
    sum(0, 0, 1);
    set(Pipe::vector, Pipe::store);
    wait(Pipe::vector, Pipe::store);
    store(out(), 0);
    drain();
    notify();
    EXPECT_THAT(order(), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    EXPECT_EQ(fuse(plan_), plan_);
    EXPECT_EQ(text(),
              "reduce sum f32 out[0..64) <- data@0[0..64), data@2[0..64)\n"
              "notify sig[1]@2 = 1\n");
}

// ---------------------------------------------------------------------------- order

// What waits for a flag is issued first.
TEST_F(ForHost, AFlagMayBeAwaitedBeforeItIsSet) {
    wait(Pipe::load, Pipe::store);
    store(out(), 0);
    load(0, inp());
    set(Pipe::load, Pipe::store);
    EXPECT_THAT(order(), ElementsAre(2, 3, 0, 1));
    EXPECT_EQ(text(), "copy out[0..64) <- inp[0..64)\n");
}

TEST_F(ForHost, TheSecondWaitIsForTheSecondSet) {
    wait(Pipe::load, Pipe::store);  // 0
    wait(Pipe::load, Pipe::store);  // 1
    store(out(), 0);                // 2
    load(1, inp());                 // 3
    set(Pipe::load, Pipe::store);   // 4
    load(0, inp());                 // 5
    set(Pipe::load, Pipe::store);   // 6
    EXPECT_THAT(order(), ElementsAre(3, 4, 0, 5, 6, 1, 2));
}

// The scalar unit goes on while a pipe waits, and work is not issued before it has come there.
TEST_F(ForHost, WorkComesAfterWhatTheScalarUnitDidBefore) {
    wait(Pipe::load, Pipe::store);  // 0
    store(out(), 0);                // 1
    notify();                       // 2
    wait();                         // 3
    load(0, inp());                 // 4
    set(Pipe::load, Pipe::store);   // 5
    EXPECT_THAT(order(), ElementsAre(2, 3, 4, 5, 0, 1));
}

// The scalar unit is stopped by flags to it, and by a drain; a barrier of one pipe stops nothing.
TEST_F(ForHost, TheScalarUnitWaitsForDrainsAndItsOwnFlags) {
    wait(Pipe::load, Pipe::vector);    // 0
    sum(2, 0, 1);                      // 1
    set(Pipe::vector, Pipe::scalar);   // 2
    add(PipeBarrier{Pipe::vector});    // 3
    load(0, inp());                    // 4
    load(1, inp());                    // 5
    set(Pipe::load, Pipe::vector);     // 6
    wait(Pipe::vector, Pipe::scalar);  // 7
    notify();                          // 8
    plan_.tile_bytes = 192;
    EXPECT_THAT(order(), ElementsAre(4, 5, 6, 0, 1, 2, 3, 7, 8));
    plan_.instructions[7].action = PipeBarrier{Pipe::all};
    EXPECT_THAT(order(), ElementsAre(4, 5, 6, 0, 1, 2, 3, 7, 8));
}

// ---------------------------------------------------------------------------- flags for ever

TEST_F(ForHost, AFlagThatNobodySetsIsRefused) {
    load(0, inp());
    set(Pipe::load, Pipe::store, 1);
    wait(Pipe::load, Pipe::store);
    store(out(), 0);
    EXPECT_EQ(complaint(),
              "plan sample, rank 1 of 3, instruction 2 (sample.peal:2), wait_flag MTE2 -> MTE3, "
              "event 0: it waits for ever: nobody sets its flag");
    wait(Pipe::load, Pipe::store, 1);
    plan_.instructions.erase(plan_.instructions.begin() + 2);
    EXPECT_EQ(complaint(), "no error");
}

TEST_F(ForHost, AFlagThatIsSetTooLateIsRefused) {
    wait(Pipe::load, Pipe::store);
    store(out(), 0);
    drain();
    load(0, inp());
    set(Pipe::load, Pipe::store);
    EXPECT_EQ(complaint(),
              "plan sample, rank 1 of 3, instruction 0 (sample.peal:2), wait_flag MTE2 -> MTE3, "
              "event 0: it waits for ever: its flag is set by instruction 4 (sample.peal:2), "
              "set_flag MTE2 -> MTE3, event 0, which comes after it");
}

TEST_F(ForHost, WhatIsNotValidIsRefused) {
    wait();
    plan_.instructions[0].pipe = Pipe::load;
    EXPECT_EQ(complaint(),
              "plan sample, rank 1 of 3, instruction 0 (sample.peal:2), wait sig[0] >= 1 on MTE2: "
              "notify and wait run on the scalar pipe");
}

}  // namespace for_host_test
}  // namespace peal::plan
