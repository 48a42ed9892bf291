// SPDX-License-Identifier: Apache-2.0
// What `peal` says of its commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"

namespace peal::test {
namespace commands_test {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

const std::vector<std::string> kNames = {"run",    "check", "proofs", "show", "emit",       "demo",
                                         "launch", "bench", "tune",   "info", "python-path"};

std::string after_the_trouble(const std::string& text) { return text.substr(text.find('\n')); }

TEST(PealCommands, AreListedWhenNoneIsNamed) {
    const Ran ran = peal({});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, ::testing::StartsWith("peal: expected a command\n\n  peal run     "));
    EXPECT_THAT(ran.err,
                ::testing::EndsWith("\n\n`peal COMMAND --help` has its options and examples\n"));
    for (const std::string& name : kNames) EXPECT_THAT(ran.err, HasSubstr("\n  peal " + name));
    EXPECT_THAT(ran.err, ::testing::Not(HasSubstr("host-side")));  // nothing for people
    EXPECT_THAT(peal({"host-sid"}).err, ::testing::Not(HasSubstr("host-side")));
}

TEST(PealCommands, AreListedWithTheNearestWhenAnotherIsNamed) {
    const std::string list = after_the_trouble(peal({}).err);
    EXPECT_EQ(peal({"foo"}).err, "peal: there is no command 'foo'" + list);
    EXPECT_EQ(peal({"chekc"}).err,
              "peal: there is no command 'chekc'; did you mean 'check'?" + list);
    EXPECT_EQ(peal({"lanch", "-n", "4"}).err,
              "peal: there is no command 'lanch'; did you mean 'launch'?" + list);
    EXPECT_EQ(peal({"foo"}).exit_code, 2);
}

TEST(PealCommands, RefuseOtherOptions) {
    const Ran ran = peal({"check", "--foo"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(
        ran.err,
        "peal: check: The following argument was not expected: --foo; `peal check --help` has "
        "its options and examples\n");
    EXPECT_EQ(peal({"--foo"}).err,
              "peal: there is no command '--foo'" + after_the_trouble(peal({}).err));
    EXPECT_THAT(peal({"--help"}).out, HasSubstr("Usage: peal"));
    const Ran version = peal({"--version"});
    EXPECT_EQ(version.exit_code, 0);
    EXPECT_THAT(version.out, MatchesRegex("peal [0-9.]+ of sources [0-9a-f]{12}\n"));
}

TEST(PealCommands, HaveExamplesInTheirHelp) {
    for (const std::string& name : kNames) {
        const Ran ran = peal({name, "--help"});
        EXPECT_EQ(ran.exit_code, 0) << name;
        const std::size_t examples = ran.out.find("\nExamples:\n  ");
        ASSERT_NE(examples, std::string::npos) << name;
        EXPECT_THAT(ran.out.substr(examples), HasSubstr("peal " + name)) << name;
    }
}

}  // namespace commands_test
}  // namespace peal::test
