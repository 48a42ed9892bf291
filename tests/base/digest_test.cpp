// SPDX-License-Identifier: Apache-2.0
#include "base/digest.hpp"

#include <set>

#include <gtest/gtest.h>

namespace peal::base {
namespace digest_test {

TEST(Digest, IsTheSameOnEveryMachine) {
    EXPECT_EQ(Digest().text(), "48a776bdda6e4a5484b3055466bfdfe2");
    EXPECT_EQ(Digest().add("peal").text(), "32e57ec1245e9da86f1085df22004af6");
    EXPECT_EQ(Digest().add("peal").add(std::uint64_t{7}).text(),
              "bed4201ded44e86e312c42a5890b4a4a");
    EXPECT_EQ(Digest().add("peal").half(),
              std::stoull(Digest().add("peal").text().substr(0, 16), nullptr, 16));
}

TEST(Digest, KnowsWhereOneTextEnds) {
    EXPECT_NE(Digest().add("ab").add("c").text(), Digest().add("a").add("bc").text());
    EXPECT_NE(Digest().add("").text(), Digest().text());
    EXPECT_NE(Digest().add("a").text(), Digest().add(std::string_view("a\0", 2)).text());
}

TEST(Digest, TellsSmallDifferencesApart) {
    std::set<std::string> seen;
    std::size_t made = 0;
    for (std::uint64_t a = 0; a < 64; ++a) {
        for (std::uint64_t b = 0; b < 64; ++b) {
            seen.insert(Digest().add(a).add(b).text());
            seen.insert(
                Digest().add(std::uint64_t{1} << a).add(0).add(std::uint64_t{1} << b).text());
            made += 2;
        }
    }
    EXPECT_EQ(seen.size(), made);
}

}  // namespace digest_test
}  // namespace peal::base
