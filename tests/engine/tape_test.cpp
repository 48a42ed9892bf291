// SPDX-License-Identifier: Apache-2.0
// Plans whose windows are private memory of the ranks.
#include "engine/tape.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/hand_made.hpp"
#include "engine/step.hpp"

namespace peal {
namespace {

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

// Plays the other rank.
class Peer : public Reach {
public:
    bool fetch(std::byte* to, int rank, std::uint64_t offset, std::uint64_t bytes) override {
        asked.push_back(rank);
        if (is_gone) return false;
        std::memcpy(to, memory + offset, bytes);
        return true;
    }
    bool put(int rank, std::uint64_t offset, const std::byte* from, std::uint64_t bytes) override {
        asked.push_back(rank);
        if (is_gone) return false;
        std::memcpy(memory + offset, from, bytes);
        return true;
    }

    bool is_gone = false;
    std::byte memory[8] = {};
    std::vector<int> asked;
};

class ReachedWindow : public testing::Test {
protected:
    void start() {
        tape_.read(plan_, Tape::Windows::reached);
        core_.start(tape_, memory_, &peer_);
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
    for (int i = 0; i < 3; ++i) EXPECT_EQ(core_.step(), Outcome::progressed) << i;
    EXPECT_EQ(core_.step(), Outcome::done);
    EXPECT_THAT(output_, testing::ElementsAre(0, 10));
    EXPECT_THAT(own_, testing::ElementsAre(21, 21));
    EXPECT_THAT(peer_.asked, testing::ElementsAre(0, 0));
}

TEST_F(ReachedWindow, ThatIsGoneStopsTheRank) {
    start();
    peer_.is_gone = true;
    EXPECT_EQ(core_.step(), Outcome::lost);
    EXPECT_EQ(core_.position(), 0u);
}

}  // namespace
}  // namespace peal
