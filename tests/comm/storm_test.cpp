// SPDX-License-Identifier: Apache-2.0
// The first trials of the storm; `make test-storm` goes on.
#include "comm/storm/storm.hpp"

#include <gtest/gtest.h>

namespace peal::storm {
namespace storm_test {

TEST(Storm, NothingHangsOrIsWrongOrStays) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) EXPECT_EQ(complaint_about(trial_of(seed)), "");
}

TEST(Storm, ASeedIsATrial) {
    EXPECT_EQ(to_text(trial_of(7)), to_text(trial_of(7)));
    EXPECT_NE(to_text(trial_of(7)).substr(7), to_text(trial_of(8)).substr(7));
}

}  // namespace storm_test
}  // namespace peal::storm
