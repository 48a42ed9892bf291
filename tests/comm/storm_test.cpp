// SPDX-License-Identifier: Apache-2.0
// Some trials of the storm; `make test-storm` goes on.
#include "comm/storm/storm.hpp"

#include <gtest/gtest.h>

#include <map>

namespace peal::storm {
namespace storm_test {

TEST(Storm, NothingHangsOrIsWrongOrStays) {
    constexpr std::size_t kOfEach = 2;
    std::map<Trouble, std::size_t> seen;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const Trial trial = trial_of(seed);
        if (++seen[trial.trouble] > kOfEach) continue;
        EXPECT_EQ(complaint_about(trial), "");
    }
    EXPECT_EQ(seen.size(), 6U);
}

TEST(Storm, ASeedIsATrial) {
    EXPECT_EQ(to_text(trial_of(7)), to_text(trial_of(7)));
    EXPECT_NE(to_text(trial_of(7)).substr(7), to_text(trial_of(8)).substr(7));
}

}  // namespace storm_test
}  // namespace peal::storm
