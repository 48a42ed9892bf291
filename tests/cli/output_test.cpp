// SPDX-License-Identifier: Apache-2.0
// What `peal` writes arrives, or it says that it does not; and its bounds hold for all it does.
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "support/temporary_cache.hpp"

namespace peal::test {
namespace output_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::vector<std::string>> kCommands = {
    {"run", "barrier", "-n", "2"},
    {"check", "barrier", "-n", "2"},
    {"check", "barrier", "-n", "2", "--json"},
    {"proofs"},
    {"show", "allreduce", "--plan"},
    {"show", "allreduce"},
    {"emit", "allreduce"},
    {"demo"},
    {"bench", "barrier", "-n", "2"},
    {"--help"},
    {"--version"},
};

TEST(PealOutput, ToAFullDiskIsNoSuccess) {
    const TemporaryCache cache;
    for (const auto& command : kCommands) {
        const Ran ran = peal_into("/dev/full", command);
        EXPECT_EQ(ran.exit_code, 2) << command[0];
        EXPECT_THAT(ran.err, EndsWith("peal: cannot write to the standard output: No space left on "
                                      "device\n"))
            << command[0];
    }
}

TEST(PealOutput, ThatIsClosedIsNoSuccess) {
    const TemporaryCache cache;
    for (const auto& command : kCommands) {
        const Ran ran = peal_into("", command);
        EXPECT_EQ(ran.exit_code, 2) << command[0];
        EXPECT_THAT(ran.err,
                    EndsWith("peal: cannot write to the standard output: Bad file descriptor\n"))
            << command[0];
    }
}

TEST(PealOutput, OfLaunchedRanksToAFullDiskIsNoSuccess) {
    const Ran ran = peal_into("/dev/full", {"launch", "-n", "2", "--prefix", "echo", "hello"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err, "peal: launch: cannot write what the ranks said: No space left on device\n");
}

TEST(PealOutput, IntoADeviceLeavesTheDevice) {
    const TemporaryFile file("plain.txt", "");
    EXPECT_EQ(peal({"emit", "allreduce", "-o", "/dev/full"}).err,
              "peal: cannot write the kernel /dev/full: No space left on device\n");
    EXPECT_EQ(peal({"emit", "allreduce", "-o", "-"}).err,
              "peal: -o -: a file is expected; without -o the kernel is printed\n");
    const Ran tuned = peal({"tune", "--quick", "-n", "2", "-o", "/dev/full"});
    EXPECT_EQ(tuned.exit_code, 2);
    EXPECT_THAT(tuned.err,
                EndsWith("peal: cannot write the profile /dev/full: No space left on device\n"));
    struct stat status {};
    ASSERT_EQ(stat("/dev/full", &status), 0);
    EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST(PealOutput, OfTuneNeedsAPlace) {
    const Variable no_config("XDG_CONFIG_HOME", "");
    const Variable no_home("HOME", "/");
    const Ran ran = peal({"tune", "--quick", "-n", "2"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err,
              "peal: tune: there is no place where programs look for a profile, HOME is not set "
              "to a directory of the user's own: name a file with -o\n");
}

// ---------------------------------------------------------------------------- input

TEST(PealInput, ThatIsTooLargeANumberIsTold) {
    const TemporaryFile file("plan.json", "{\"format\": \"peal-plans\", \"version\": 1e999}");
    const Ran ran = peal({"check", file.path()});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err, file.path() + ": not JSON: number overflow parsing '1e999'\n");
}

TEST(PealInput, ThatNeverEndsIsNotRead) {
    const Variable profile("PEAL_PROFILE", "/dev/zero");
    const Ran ran = peal({"bench", "barrier", "-n", "2"});
    EXPECT_NE(ran.exit_code, 0);
    EXPECT_THAT(ran.err, HasSubstr("cannot read the profile '/dev/zero': it has more than 16777216 "
                                   "bytes, and more is not read"));
}

TEST(PealCheckBounds, CountTheMakingOfPlans) {
    const Ran ran = peal({"check", "all_to_all_v", "-n", "1024", "--max-seconds", "0.05"});
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_THAT(ran.out,
                HasSubstr("not proved: bound reached: 0.05 seconds: the time is over before "
                          "the plan of rank "));
    EXPECT_THAT(
        peal({"check", "all_to_all_v", "-n", "1024", "--max-seconds", "0.05", "--json"}).out,
        HasSubstr("\"bound\": \"0.05 seconds: the time is over before the plan of rank "));
}

// Cells that nobody uses cost nothing: no machine has time or room for so many.
TEST(PealCheckBounds, DoNotMatterForCellsThatNobodyUses) {
    const TemporaryFile file(
        "cells.peal",
        "kernel cells(sig: window i32[4000000000000]) {\n"
        "    notify sig[3999999999999]@((rank + 1) % nranks) = generation(sig) + 1\n"
        "    wait sig[3999999999999] >= generation(sig) + 1\n"
        "    advance sig by 1\n}\n");
    const Ran ran = peal({"check", file.path(), "-n", "2", "--no-store"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("proved"));
}

TEST(PealCheck, OfAFileOfPlansSaysHowManyRanksItHas) {
    const TemporaryFile file("plan.json", peal({"show", "barrier", "-n", "3", "--json"}).out);
    const Ran ran = peal({"check", file.path(), "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("\"ranks\": \"3\""));
}

}  // namespace output_test
}  // namespace peal::test
