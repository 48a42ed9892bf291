// SPDX-License-Identifier: Apache-2.0
#include "shm/spread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <vector>

namespace peal::shm {
namespace spread_test {

const Topology kUnknown;

// Where each rank would go, with the others where they are.
std::vector<int> moves(const std::vector<int>& cores, const std::vector<int>& may_use,
                       const Topology& topology = kUnknown) {
    std::vector<int> list;
    for (std::size_t rank = 0; rank < cores.size(); ++rank) {
        list.push_back(better_core(cores, static_cast<int>(rank), may_use, topology));
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

TEST(BetterCore, ApartFromItsPartner) {
    const auto move = [](const std::vector<int>& cores, int rank, int partner) {
        return better_core(cores, rank, std::vector{0, 1, 2}, kUnknown, partner);
    };
    EXPECT_EQ(move({0, 0, 1, 1, 2}, 0, 1), 2) << "to the emptiest, although the ranks are even";
    EXPECT_EQ(move({0, 0, 1, 1, 1, 1, 2, 2, 2}, 0, 1), 2)
        << "and although it is fuller than its own";
    EXPECT_EQ(move({0, 1, 1, 1, 2, 2}, 0, 1), -1) << "they are apart";
    EXPECT_EQ(move({0, 1, 1, 1, 2, 2}, 1, 3), 0) << "with one that is on its core";
    EXPECT_EQ(move({0, 1, 1, 1, 2, 2, 2}, 1, 0), -1) << "never to its partner, however empty";
    EXPECT_EQ(move({0, 1, 1, 1, 2}, 1, 0), 2) << "but to another";
    EXPECT_EQ(better_core(std::vector{0, 0}, 0, std::vector{0}, kUnknown, 1), -1);
}

// Two nodes of two physical cores with two hyper-threads each, counted as Linux often does: first
// one thread of every physical core, then the others.
//
//   node            0       1
//   physical core   0   1   2   3
//   threads        0 4 1 5 2 6 3 7
Topology two_nodes() {
    std::vector<Topology::Core> cores;
    for (int core = 0; core < 8; ++core) cores.push_back({core % 4, core % 4 / 2});
    return Topology(cores);
}
const std::vector<int> kAllEight = {0, 1, 2, 3, 4, 5, 6, 7};

TEST(BetterCore, OfItsOwnNode) {
    EXPECT_THAT(moves({0, 0}, kAllEight, two_nodes()), Each(1));
    EXPECT_THAT(moves({3, 3}, kAllEight, two_nodes()), Each(2));
    EXPECT_THAT(moves({7, 7}, {0, 1, 6, 7}, two_nodes()), Each(6));
}

TEST(BetterCore, OfAPhysicalCoreWithFewerRanks) {
    EXPECT_THAT(moves({0, 0, 1}, kAllEight, two_nodes()), ElementsAre(5, 5, -1))
        << "in the node every physical core has a rank: the emptier one";
    EXPECT_THAT(moves({4, 4}, {0, 4, 5}, two_nodes()), Each(5)) << "not the thread beside its own";
}

TEST(BetterCore, OfAnotherNodeIfItsOwnIsFull) {
    EXPECT_THAT(moves({0, 0, 1, 4, 5}, kAllEight, two_nodes()), ElementsAre(2, 2, -1, -1, -1));
    EXPECT_THAT(moves({0, 0, 1, 4, 5, 2}, kAllEight, two_nodes()),
                ElementsAre(3, 3, -1, -1, -1, -1))
        << "there too a physical core for itself";
}

// The scheduler spreads what is alone on its core.
TEST(BetterCore, NotForAHyperThreadOrANodeAlone) {
    EXPECT_THAT(moves({0, 4}, kAllEight, two_nodes()), Each(-1));
    EXPECT_THAT(moves({0, 3}, kAllEight, two_nodes()), Each(-1));
}

// The ranks' cores in base `count`, as many as there are digits.
std::vector<int> start_of(unsigned number, std::size_t ranks, int count) {
    std::vector<int> cores;
    for (; cores.size() < ranks; number /= static_cast<unsigned>(count)) {
        cores.push_back(static_cast<int>(number % static_cast<unsigned>(count)));
    }
    return cores;
}

// Moves one after the other, until nobody wants to; false if that is never.
bool settle(std::vector<int>& cores, const std::vector<int>& may_use, const Topology& topology) {
    for (std::size_t turn = 0, still = 0; turn < 100; ++turn) {
        const std::size_t rank = turn % cores.size();
        const int core = better_core(cores, static_cast<int>(rank), may_use, topology);
        if (core >= 0) cores[rank] = core;
        still = core >= 0 ? 0 : still + 1;
        if (still == cores.size()) return true;
    }
    return false;
}

// Whatever the start, moves one after the other end with even ranks.
TEST(BetterCore, MovesComeToAnEnd) {
    for (unsigned start = 0; start < 3 * 3 * 3 * 3 * 3; ++start) {
        std::vector<int> cores = start_of(start, 5, 3);
        ASSERT_TRUE(settle(cores, {0, 1, 2}, kUnknown));
        for (const int core : {0, 1, 2}) {
            EXPECT_THAT(std::count(cores.begin(), cores.end(), core), testing::AnyOf(1, 2));
        }
    }
}

TEST(BetterCore, MovesEndWithACoreForEachAndInTheNodeOfTheStart) {
    for (unsigned start = 0; start < 8 * 8 * 8 * 8; ++start) {
        const std::vector<int> before = start_of(start, 4, 8);
        std::vector<int> cores = before;
        ASSERT_TRUE(settle(cores, kAllEight, two_nodes()));
        for (std::size_t rank = 0; rank < cores.size(); ++rank) {
            EXPECT_EQ(std::count(cores.begin(), cores.end(), cores[rank]), 1);
            EXPECT_TRUE(two_nodes().same_node(cores[rank], before[rank]))
                << "four ranks have room in any node";
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
