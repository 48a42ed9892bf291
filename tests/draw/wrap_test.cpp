// SPDX-License-Identifier: Apache-2.0
#include "draw/wrap.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace peal::draw {
namespace wrap_test {

using testing::ElementsAre;

TEST(Wrap, BreaksAtBlanksAndIndentsTheRest) {
    EXPECT_THAT(wrap("copy out <- inp", 15, 2, "…"), ElementsAre("copy out <- inp"));
    EXPECT_THAT(wrap("copy out <- inp", 14, 2, "…"), ElementsAre("copy out <-", "  inp"));
    EXPECT_THAT(wrap("copy out <- inp", 6, 2, "…"), ElementsAre("copy", "  out", "  <-", "  inp"));
    EXPECT_THAT(wrap("", 6, 2, "…"), ElementsAre(""));
}

TEST(Wrap, ALongWordLosesItsEnd) {
    EXPECT_THAT(wrap("a data[1048576..2097152)", 10, 2, "…"), ElementsAre("a", "  data[10…"));
    EXPECT_THAT(wrap("data[1048576..2097152)", 6, 0, "~"), ElementsAre("data[~"));
}

TEST(Wrap, CountsColumnsNotBytes) {
    EXPECT_EQ(width_of("größe"), 5u);
    EXPECT_EQ(width_of("窓"), 2u);
    EXPECT_THAT(wrap("größe窓x", 6, 0, "…"), ElementsAre("größe…"));
}

TEST(Wrap, NoLineIsTooWideAndNoShortWordIsLost) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        std::mt19937_64 random(seed);
        const std::size_t width = 8 + random() % 32;
        std::string text, wanted, found;
        for (std::uint64_t words = random() % 40; words > 0; --words) {
            std::string word;
            while (word.empty() || random() % 6 != 0)
                word += static_cast<char>('a' + random() % 26);
            word = word.substr(0, 6);
            text += (text.empty() ? "" : " ") + word;
            wanted += word;
        }
        for (const std::string& line : wrap(text, width, 2, "…")) {
            EXPECT_LE(line.size(), width) << "seed " << seed;
            for (const char c : line) {
                if (c != ' ') found += c;
            }
        }
        EXPECT_EQ(found, wanted) << "seed " << seed;
    }
}

}  // namespace wrap_test
}  // namespace peal::draw
