// SPDX-License-Identifier: Apache-2.0
#include "draw/wrap.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

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

RC_GTEST_PROP(Wrap, NoLineIsTooWideAndNoShortWordIsLost, ()) {
    const auto width = *rc::gen::inRange<std::size_t>(8, 40);
    const auto words = *rc::gen::container<std::vector<std::string>>(
        rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange('a', 'z'))));
    std::string text, wanted, found;
    for (const std::string& word : words) {
        const std::string part = word.substr(0, 6);
        text += (text.empty() ? "" : " ") + part;
        wanted += part;
    }
    for (const std::string& line : wrap(text, width, 2, "…")) {
        RC_ASSERT(line.size() <= width);
        for (const char c : line) {
            if (c != ' ') found += c;
        }
    }
    RC_ASSERT(found == wanted);
}

}  // namespace wrap_test
}  // namespace peal::draw
