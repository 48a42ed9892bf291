// SPDX-License-Identifier: Apache-2.0
// Plans whose windows are private memory of the ranks.
#include "engine/tape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/contract.hpp"
#include "engine/hand_made.hpp"

namespace peal::engine {
namespace tape_test {

using testing_plans::PlanWriter;
using testing_plans::standard_buffers;

constexpr auto kInput = PlanWriter::kInput, kOutput = PlanWriter::kOutput,
               kWindow = PlanWriter::kWindow;

PlanWriter rank_1_of_2() { return {1, 2, standard_buffers(Element::i32, 8, 8, 2)}; }

Plan plan_of(Action action) { return rank_1_of_2().emit(std::move(action)).finish(); }

TEST(Reachable, CopiesWithAPeer) {
    EXPECT_TRUE(reachable(plan_of(Copy{{kOutput, 1, 0, 8}, {kWindow, 0, 0, 8}})));
    EXPECT_TRUE(reachable(plan_of(Copy{{kWindow, 0, 0, 8}, {kInput, 1, 0, 8}})));
    EXPECT_TRUE(reachable(plan_of(Copy{{kWindow, 1, 0, 8}, {kWindow, 0, 0, 8}})));
}

TEST(Reachable, NotTheWorkOfPeers) {
    EXPECT_FALSE(reachable(plan_of(Copy{{kWindow, 0, 0, 4}, {kWindow, 0, 4, 4}})));
    const Range theirs{kWindow, 0, 0, 8}, mine{kWindow, 1, 0, 8};
    EXPECT_FALSE(reachable(plan_of(Reduce{ReduceOp::sum, Element::i32, mine, {mine, theirs}})));
    EXPECT_TRUE(reachable(plan_of(Reduce{ReduceOp::sum, Element::i32, mine, {mine, mine}})));
}

// Waits for nobody, and counts what is said to it.
struct Counting : PlainSupplier {
    static bool wait(const Core&) { return false; }
    void rings(std::byte* cell) { rung.push_back(cell); }
    void rang(const Core&) { ++rangs; }
    void heard(const Op&, std::byte* cell) { passed.push_back(cell); }

    std::vector<std::byte*> rung, passed;
    std::size_t rangs = 0;
};

struct Stepwise : Counting {
    static constexpr bool kStepwise = true;
    void begins(const Core& core) { begun.push_back(core.position()); }
    std::vector<std::size_t> begun;
};

struct Streaming : Counting {
    bool wait(const Core& core) {
        was_streaming = core.is_streaming();
        return false;
    }
    bool was_streaming = false;
};

// Plays the other rank.
struct Peer : Counting {
    void fetch(std::byte* to, int rank, std::uint64_t offset, std::uint64_t bytes) {
        ask(rank);
        std::memcpy(to, memory + offset, bytes);
    }
    void put(int rank, std::uint64_t offset, const std::byte* from, std::uint64_t bytes) {
        ask(rank);
        std::memcpy(memory + offset, from, bytes);
    }
    void ask(int rank) {
        asked.push_back(rank);
        if (is_gone) throw std::runtime_error("gone");
    }

    bool is_gone = false;
    std::byte memory[8] = {};
    std::vector<int> asked;
};

class ReachedWindow : public testing::Test {
protected:
    void start() {
        tape_.read(plan_, Tape::Windows::reached);
        core_.start(tape_, memory_);
    }

    std::int32_t input_[2] = {10, 11}, output_[2] = {}, own_[2] = {20, 21};
    std::vector<BoundBuffer> memory_ = {{.base = reinterpret_cast<std::byte*>(input_)},
                                        {.base = reinterpret_cast<std::byte*>(output_)},
                                        {.base = reinterpret_cast<std::byte*>(own_)},
                                        {},
                                        {}};
    Plan plan_ = rank_1_of_2()
                     .emit(Copy{{kWindow, 0, 4, 4}, {kInput, 1, 0, 4}})
                     .emit(Copy{{kOutput, 1, 0, 8}, {kWindow, 0, 0, 8}})
                     .emit(Copy{{kWindow, 1, 0, 4}, {kWindow, 1, 4, 4}})
                     .finish();
    Peer peer_;
    Tape tape_;
    Core core_;
};

TEST_F(ReachedWindow, OfThePeerIsCopiedByReach) {
    start();
    EXPECT_EQ(drive(core_, peer_), Driven::done);
    EXPECT_THAT(output_, testing::ElementsAre(0, 10));
    EXPECT_THAT(own_, testing::ElementsAre(21, 21));
    EXPECT_THAT(peer_.asked, testing::ElementsAre(0, 0));
}

TEST_F(ReachedWindow, ThatIsGoneStopsTheRank) {
    start();
    peer_.is_gone = true;
    EXPECT_THROW(drive(core_, peer_), std::runtime_error);
    EXPECT_EQ(core_.position(), 0u);
}

// ---- running on, and looking ahead

class Waits : public testing::Test {
protected:
    static constexpr auto kSignal = PlanWriter::kSignal;

    // Two cells, 64 or 32 bits wide.
    void start(Plan plan) {
        plan_ = std::move(plan);
        tape_.read(plan_);
        core_.start(tape_, memory_);
    }
    static PlanWriter writer(Element element) {
        std::vector<Buffer> buffers = standard_buffers(Element::i32, 8, 8, 2);
        buffers[kSignal].element = element;
        return {0, 1, buffers};
    }

    std::int32_t input_[2] = {10, 11}, output_[2] = {}, window_[2] = {};
    alignas(kCacheLineBytes) std::int64_t cells_[16] = {};
    std::vector<BoundBuffer> memory_ = {{.base = reinterpret_cast<std::byte*>(input_)},
                                        {.base = reinterpret_cast<std::byte*>(output_)},
                                        {.base = reinterpret_cast<std::byte*>(window_)},
                                        {.base = reinterpret_cast<std::byte*>(cells_)},
                                        {}};
    Plan plan_;
    Tape tape_;
    Core core_;
};

TEST_F(Waits, DriveGoesOnToWhatHasToWait) {
    for (const Element element : {Element::i64, Element::i32}) {
        std::fill(std::begin(cells_), std::end(cells_), 0);
        start(writer(element)
                  .emit(Copy{{kOutput, 0, 0, 8}, {kInput, 0, 0, 8}})
                  .notify(0, 0, {3, 0})
                  .wait(0, {3, 0})
                  .wait(1, {1, 0})
                  .notify(0, 1, {1, 0}, NotifyOp::add)
                  .finish());
        Counting supplier;
        const auto cell = [&](int i) { return reinterpret_cast<std::byte*>(cells_ + 8 * i); };
        EXPECT_EQ(drive(core_, supplier), Driven::set_aside);
        EXPECT_THAT(output_, testing::ElementsAre(10, 11));
        EXPECT_EQ(core_.position(), 3u);
        EXPECT_THAT(supplier.passed, testing::ElementsAre(cell(0)));
        cells_[8] = 1;
        EXPECT_EQ(drive(core_, supplier), Driven::done);
        EXPECT_EQ(cells_[8], 2);
        EXPECT_THAT(supplier.rung, testing::ElementsAre(cell(0), cell(1)));
        EXPECT_EQ(supplier.rangs, 2u);
        EXPECT_THAT(supplier.passed, testing::ElementsAre(cell(0), cell(1)));
    }
}

// Whoever goes on with it may be another thread.
TEST_F(Waits, NothingThatIsSetAsideHasStoresToFence) {
    const Range sum{kOutput, 0, 0, 8};
    start(writer(Element::i64)
              .emit(Reduce{ReduceOp::sum, Element::i32, sum, {{kInput, 0, 0, 8}, sum}})
              .wait(0, {1, 0})
              .finish());
    tape_.ops[0].stores = kernels::Stores::bypass;
    tape_.ops[0].fold = nullptr;  // as of all that bypass
    Streaming supplier;
    EXPECT_EQ(drive(core_, supplier), Driven::set_aside);
    EXPECT_TRUE(supplier.was_streaming);
    EXPECT_FALSE(core_.is_streaming());
    EXPECT_THAT(output_, testing::ElementsAre(10, 11));
}

// One instruction at a time, and the end is a step of its own.
TEST_F(Waits, StepwiseSuppliersAreAskedAfterEachInstruction) {
    Stepwise supplier;
    start(writer(Element::i64)
              .emit(Copy{{kOutput, 0, 0, 8}, {kInput, 0, 0, 8}})
              .notify(0, 0, {1, 0})
              .wait(0, {1, 0})
              .finish());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(drive(core_, supplier), Driven::stepped) << i;
    EXPECT_EQ(drive(core_, supplier), Driven::done);
    EXPECT_THAT(supplier.begun, testing::ElementsAre(0, 1, 2));
}

TEST_F(Waits, LookLooksUntilTheWaitCanPass) {
    start(writer(Element::i64).wait(0, {2, 0}).finish());
    int pauses = 0;
    EXPECT_FALSE(core_.look(5, [&](int) { ++pauses; }));
    EXPECT_EQ(pauses, 5);
    const auto ring_at = [&](int last) {
        return [this, last](int look) { cells_[0] = look == last ? 2 : 0; };
    };
    EXPECT_TRUE(core_.look(5, ring_at(3)));
    cells_[0] = 0;
    EXPECT_FALSE(core_.look(5, ring_at(4)));  // after the last look
}

TEST_F(Waits, LackSpeaksOfWaitsUpToTheNextNotify) {
    const auto is_cell_1 = [](const Address& cell) { return cell.offset == kCacheLineBytes; };
    const auto any = [](const Address&) { return true; };
    for (const NotifyOp op : {NotifyOp::set, NotifyOp::add}) {
        std::fill(std::begin(cells_), std::end(cells_), 0);
        start(writer(Element::i64)
                  .wait(0, {1, 0})
                  .emit(Copy{{kOutput, 0, 0, 8}, {kInput, 0, 0, 8}})
                  .wait(1, {1, 0})
                  .notify(0, 0, {5, 0}, op)
                  .wait(1, {9, 0})
                  .finish());
        EXPECT_TRUE(core_.lacks(any));
        EXPECT_TRUE(core_.lacks(is_cell_1));
        cells_[8] = 1;
        EXPECT_TRUE(core_.lacks(any));
        EXPECT_FALSE(core_.lacks(is_cell_1));  // the wait for 9 is behind the notify
        cells_[0] = 1;
        EXPECT_FALSE(core_.lacks(any));
    }
}

}  // namespace tape_test
}  // namespace peal::engine
