// SPDX-License-Identifier: Apache-2.0
#include "shm/spread.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(BetterCore, TheFirstOfACrowdGoes) {
    EXPECT_THAT(moves({0, 1, 1, 1}, {0, 1}), ElementsAre(-1, 0, -1, -1));
    EXPECT_THAT(moves({3, 3, 3, 3}, {1, 3}), ElementsAre(1, -1, -1, -1));
}

TEST(BetterCore, TheEmptiestIsTheBest) {
    EXPECT_THAT(moves({0, 0, 0, 0, 0, 1, 1, 2}, {0, 1, 2}),
                ElementsAre(2, -1, -1, -1, -1, -1, -1, -1));
}

TEST(BetterCore, OnlyCoresThatMayBeUsed) {
    EXPECT_THAT(moves({0, 0, 0}, {0}), Each(-1));
    EXPECT_THAT(moves({0, 0, 0}, {0, 5}), ElementsAre(5, -1, -1));
}

// Who has never waited is on no core that is known.
TEST(BetterCore, UnknownCoresDoNotCount) {
    EXPECT_THAT(moves({1, -1, -1, 1}, {0, 1}), ElementsAre(0, -1, -1, -1));
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

}  // namespace spread_test
}  // namespace peal::shm
