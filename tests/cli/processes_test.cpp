// SPDX-License-Identifier: Apache-2.0
// peal run --processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "peal/collective.hpp"

namespace peal::test {
namespace processes_test {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Processes, EveryRecipeGivesGolden) {
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            const Ran ran =
                peal({"run", std::string(name(kind)), "--recipe", std::string(recipe.name), "-n",
                      "3", "--count", "100", "--calls", "5", "--processes"});
            EXPECT_EQ(ran.exit_code, 0) << name(kind) << " " << recipe.name << "\n" << ran.err;
            EXPECT_EQ(ran.err, "");
        }
    }
}

TEST(Processes, EveryPlacementGivesGolden) {
    for (const char* collective : {"allreduce", "allgather", "reduce_scatter", "all_to_all"}) {
        for (const char* placement : {"--in-place", "--window"}) {
            const Ran ran = peal({"run", collective, placement, "-n", "2", "--count", "33",
                                  "--calls", "3", "--processes"});
            EXPECT_EQ(ran.exit_code, 0) << collective << placement << ran.err;
        }
    }
}

TEST(Processes, KernelsGiveGoldenOrShowTheirOutputs) {
    const Ran compared = peal({"run", "examples/ring_allreduce.peal", "-n", "4", "--expect",
                               "allreduce", "--calls", "3", "--processes"});
    EXPECT_EQ(compared.exit_code, 0) << compared.err;
    EXPECT_THAT(compared.out, HasSubstr("ring_allreduce as allreduce"));
    const Ran shown =
        peal({"run", "examples/mesh_allreduce.peal", "-n", "2", "--set", "n=3", "--processes"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_THAT(shown.out,
                StartsWith("rank 0  out[3] = 100 102 104\nrank 1  out[3] = 100 102 104\n"));
}

TEST(Processes, WrongResultIsExitCodeOne) {
    const TemporaryFile file(
        "wrong.peal", "kernel wrong(inp: in f32[n], out: out f32[n]) {\n    out = inp + inp\n}\n");
    const Ran ran = peal(
        {"run", file.path(), "-n", "3", "--set", "n=4", "--expect", "allreduce", "--processes"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, HasSubstr("WRONG"));
    EXPECT_EQ(ran.err,
              "peal: wrong result: call 0: rank 0: element 0 is 0, expected 300 (4 of 4 differ)\n");
}

TEST(Processes, ADeadlockIsFoundAndNamesTheWait) {
    const TemporaryFile file("stuck.peal",
                             "kernel stuck(sig: window i32[nranks]) {\n    wait sig[0] >= 1\n}\n");
    const Ran ran = peal({"run", file.path(), "-n", "2", "--processes"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_EQ(ran.out, "");
    for (const char* rank : {"0", "1"}) {
        EXPECT_THAT(ran.err, HasSubstr(std::string("  rank ") + rank +
                                       ": in kernel stuck (call 3)\n    instruction 0  wait sig[0] "
                                       ">= 1   (" +
                                       file.path() +
                                       ":2: \"wait sig[0] >= 1\")\n    sees 0; nobody rings it\n"));
    }
    EXPECT_THAT(ran.err,
                AllOf(HasSubstr("deadlock: no rank can go on:\n"),
                      EndsWith("peal: the run failed: the worst rank ended with status 1\n")));
}

TEST(Processes, BadUsage) {
    const auto error = [](const std::vector<std::string>& arguments) {
        const Ran ran = peal(arguments);
        EXPECT_EQ(ran.exit_code, 2);
        return ran.err;
    };
    EXPECT_EQ(error({"run", "allreduce", "--processes", "--seed", "3"}),
              "peal: --seed chooses an interleaving in one process; leave out --processes\n");
    EXPECT_EQ(error({"run", "allreduce", "--processes", "--timeout", "0"}),
              "peal: --timeout: expected more than 0 seconds, found 0\n");
}

}  // namespace processes_test
}  // namespace peal::test
