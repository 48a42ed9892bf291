// SPDX-License-Identifier: Apache-2.0
#include "shm/spread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <vector>

namespace peal::shm {
namespace spread_test {

// Where each rank would go, with the others where they are.
std::vector<int> moves(const std::vector<int>& cores, const std::vector<int>& may_use) {
    std::vector<int> list;
    for (std::size_t rank = 0; rank < cores.size(); ++rank) {
        list.push_back(better_core(cores, static_cast<int>(rank), may_use));
    }
    return list;
}

using testing::Each;
using testing::ElementsAre;

TEST(BetterCore, EvenRanksStay) {
    EXPECT_THAT(moves({0, 1, 0, 1}, {0, 1}), Each(-1));
    EXPECT_THAT(moves({0, 1, 1}, {0, 1}), Each(-1));
    EXPECT_THAT(moves({0}, {0, 1}), Each(-1));
}

TEST(BetterCore, OutOfACrowd) {
    EXPECT_THAT(moves({0, 1, 1, 1}, {0, 1}), ElementsAre(-1, 0, 0, 0));
    EXPECT_THAT(moves({3, 3, 3, 3}, {1, 3}), ElementsAre(1, 1, 1, 1));
    EXPECT_THAT(moves({2, 2}, {2, 7}), ElementsAre(7, 7));
}

TEST(BetterCore, TheEmptiestIsTheBest) {
    EXPECT_THAT(moves({0, 0, 0, 0, 0, 1, 1, 2}, {0, 1, 2}), ElementsAre(2, 2, 2, 2, 2, -1, -1, -1));
}

TEST(BetterCore, OnlyCoresThatMayBeUsed) {
    EXPECT_THAT(moves({0, 0, 0}, {0}), Each(-1));
    EXPECT_THAT(moves({0, 0, 0}, {0, 5}), ElementsAre(5, 5, 5));
}

// Who has never waited is on no core that is known.
TEST(BetterCore, UnknownCoresDoNotCount) {
    EXPECT_THAT(moves({1, -1, -1, 1}, {0, 1}), ElementsAre(0, -1, -1, 0));
}

// Whatever the start, moves one after the other end with even ranks.
TEST(BetterCore, MovesComeToAnEnd) {
    for (unsigned start = 0; start < 3 * 3 * 3 * 3 * 3; ++start) {
        std::vector<int> cores;
        for (unsigned digits = start; cores.size() < 5; digits /= 3) {
            cores.push_back(static_cast<int>(digits % 3));
        }
        for (std::size_t turn = 0; turn < 25; ++turn) {
            const auto rank = turn % cores.size();
            const int core = better_core(cores, static_cast<int>(rank), std::vector{0, 1, 2});
            if (core >= 0) cores[rank] = core;
        }
        for (const int core : {0, 1, 2}) {
            EXPECT_THAT(std::count(cores.begin(), cores.end(), core), testing::AnyOf(1, 2));
        }
    }
}

// A world of two ranks; this thread is rank 0, and may use one core alone.
class Part : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
        CPU_ZERO(&pinned_);
        CPU_SET(core_, &pinned_);
        ASSERT_EQ(sched_setaffinity(0, sizeof pinned_, &pinned_), 0);
        world_->enter(0);
        world_->enter(1);
    }
    void TearDown() override {
        cpu_set_t now;
        ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
        EXPECT_TRUE(CPU_EQUAL(&now, &pinned_)) << "the cores that it may use are as they were";
        sched_setaffinity(0, sizeof before_, &before_);
    }
    std::atomic<std::int32_t>& core_of(int rank) { return world_->header().ranks[rank].core; }

    std::shared_ptr<World> world_ = World::create(2);
    int core_ = sched_getcpu();
    cpu_set_t before_, pinned_;
};

TEST_F(Part, NobodyToPartFrom) {
    EXPECT_TRUE(part(*world_, 0));
    EXPECT_EQ(core_of(0), core_) << "others learn where it is";
    core_of(1) = core_ + 1;
    EXPECT_TRUE(part(*world_, 0));
}

TEST_F(Part, ARankThatIsPinnedStays) {
    core_of(1) = core_;
    EXPECT_FALSE(part(*world_, 0));
    EXPECT_EQ(core_of(0), core_);
}

TEST_F(Part, ARankThatHasLeftIsNoCompany) {
    core_of(1) = core_;
    world_->leave(1);
    EXPECT_TRUE(part(*world_, 0));
}

}  // namespace spread_test
}  // namespace peal::shm
