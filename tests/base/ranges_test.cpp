// SPDX-License-Identifier: Apache-2.0
#include "base/ranges.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace peal::base {
namespace ranges_test {

TEST(Ranges, AreNeighbours) {
    EXPECT_EQ(ranges_text(std::vector<int>{}), "");
    EXPECT_EQ(ranges_text(std::vector{4}), "4");
    EXPECT_EQ(ranges_text(std::vector{0, 1, 2, 3, 5}), "0..3, 5");
    EXPECT_EQ(ranges_text(std::set{1, 3, 4, 8, 9}), "1, 3..4, 8..9");
}

TEST(Ranges, MayBeOfSoManyAtLeast) {
    EXPECT_EQ(ranges_text(std::vector{1, 3, 4, 6, 7, 8}, 3), "1, 3, 4, 6..8");
}

}  // namespace ranges_test
}  // namespace peal::base
