// SPDX-License-Identifier: Apache-2.0
// What is proved is written down, and proved once.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "support/temporary_cache.hpp"

namespace peal::test {
namespace proofs_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

const char* const kFromStore = "\"proof_from\": \"store\"";
const char* const kChecked = "\"proof_from\": \"checked\"";
const std::vector<std::string> kRun = {"run", "allreduce", "-n", "4", "--json"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::string& more) {
    arguments.push_back(more);
    return arguments;
}

std::size_t records_in(const std::string& directory) {
    if (!std::filesystem::exists(directory)) return 0;
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory), {}));
}

TEST(PealProofs, ARunProvesOnce) {
    const TemporaryCache cache;
    EXPECT_THAT(peal(kRun).out, AllOf(HasSubstr("\"proof\": \"proved\""), HasSubstr(kChecked)));
    const Ran again = peal(kRun);
    EXPECT_EQ(again.exit_code, 0);
    EXPECT_EQ(again.err, "");
    EXPECT_THAT(again.out, AllOf(HasSubstr("\"proof\": \"proved\""), HasSubstr(kFromStore)));
    EXPECT_THAT(peal(with(kRun, "--check")).out, HasSubstr(kFromStore));
    EXPECT_THAT(peal({"run", "allreduce", "-n", "4"}).out, HasSubstr("  proved  "));
    // Another question is asked anew.
    EXPECT_THAT(peal({"run", "allreduce", "-n", "3", "--json"}).out, HasSubstr(kChecked));
    // What is proved for any number of calls is proved for each.
    EXPECT_THAT(peal({"run", "allreduce", "-n", "4", "--calls", "5", "--json"}).out,
                HasSubstr(kFromStore));
    EXPECT_THAT(peal({"run", "allreduce", "-n", "4", "--dtype", "i32", "--json"}).out,
                HasSubstr(kChecked));
}

// As it is under each order, and as this machine carries it out.
TEST(PealProofs, AKernelWithPipesIsProvedInEachForm) {
    const TemporaryCache cache;
    const std::vector<std::string> run = {
        "run", "examples/pto/allreduce_ring.cpp", "-n", "2", "--as", "allreduce", "--json"};
    EXPECT_THAT(peal(run).out, HasSubstr(kChecked));
    EXPECT_EQ(records_in(cache.proofs()), 3u);
    EXPECT_THAT(peal(run).out, HasSubstr(kFromStore));
    std::filesystem::remove(*std::filesystem::directory_iterator(cache.proofs()));
    EXPECT_THAT(peal(run).out, HasSubstr(kChecked));
}

TEST(PealProofs, ACheckAlwaysChecksAndKeepsWhatItProves) {
    const TemporaryCache cache;
    const std::vector<std::string> check = {"check", "allreduce", "-n", "4", "--count", "256"};
    EXPECT_EQ(peal(check).exit_code, 0);
    EXPECT_EQ(records_in(cache.proofs()), 1u);
    EXPECT_THAT(peal(kRun).out, HasSubstr(kFromStore));
    // Whatever stands there, a check looks for itself.
    EXPECT_THAT(peal(check).out, MatchesRegex("(.|\n)*proved   linear  [0-9]+ events(.|\n)*"));
}

// Larger than what a run proves beside itself, unless somebody has proved it.
TEST(PealProofs, ALargeRunIsProvedIfACheckHasProvedIt) {
    const TemporaryCache cache;
    const std::vector<std::string> run = {"run", "all_to_all", "--recipe", "mesh",  "-n",
                                          "100", "--count",    "1",        "--json"};
    EXPECT_THAT(peal(run).out, AllOf(HasSubstr("\"proof\": \"-\""), Not(HasSubstr("proof_from"))));
    EXPECT_EQ(
        peal({"check", "all_to_all", "--recipe", "mesh", "-n", "100", "--count", "1"}).exit_code,
        0);
    EXPECT_THAT(peal(run).out, AllOf(HasSubstr("\"proof\": \"proved\""), HasSubstr(kFromStore)));
}

TEST(PealProofs, WhatIsWrongIsNotKept) {
    const TemporaryCache cache;
    const Ran ran = peal({"check", "tests/museum/U1.peal", "-n", "2"});
    EXPECT_NE(ran.exit_code, 0) << ran.out;
    EXPECT_EQ(records_in(cache.proofs()), 0u);
}

TEST(PealProofs, CanBeLeftAlone) {
    const TemporaryCache cache;
    EXPECT_THAT(peal(with(kRun, "--no-store")).out, HasSubstr(kChecked));
    EXPECT_EQ(peal({"check", "allreduce", "--no-store"}).exit_code, 0);
    {
        const Variable off("PEAL_PROOFS", "off");
        EXPECT_THAT(peal(kRun).out, HasSubstr(kChecked));
    }
    EXPECT_EQ(records_in(cache.proofs()), 0u);
    peal(kRun);
    EXPECT_THAT(peal(with(kRun, "--no-store")).out, HasSubstr(kChecked));
    const Variable odd("PEAL_PROOFS", "sometimes");
    const Ran ran = peal(kRun);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err, "peal: PEAL_PROOFS: expected on or off, found 'sometimes'\n");
}

TEST(PealProofs, AreListedAndCleared) {
    const TemporaryCache cache;
    const std::string place = cache.proofs();
    EXPECT_EQ(peal({"proofs"}).out, "no proofs in " + place + "\n");
    EXPECT_EQ(peal({"proofs", "--json"}).out, "[]\n");
    peal({"run", "allreduce", "--recipe", "ring", "-n", "4"});
    const Ran listed = peal({"proofs"});
    EXPECT_EQ(listed.exit_code, 0);
    EXPECT_THAT(
        listed.out,
        MatchesRegex(
            "digest           kernel     result     ranks  calls  method  work        "
            "+when\n"
            "[0-9a-f]+\\.\\.\\.  allreduce  allreduce      4  any    linear  [0-9]+ events  "
            "[0-9-]+ [0-9:]+ UTC\n"));
    EXPECT_THAT(peal({"proofs", "--json"}).out,
                AllOf(HasSubstr("\"kernels\": \"allreduce\""),
                      HasSubstr("\"results\": \"allreduce\""), HasSubstr("\"ranks\": 4"),
                      HasSubstr("\"memory_order\": \"any\""), HasSubstr("\"checker\": 2")));
    peal({"run", "examples/mesh_allreduce.peal", "-n", "2", "--set", "n=3"});
    EXPECT_THAT(peal({"proofs"}).out, HasSubstr("  mesh_allreduce  protocol only      2  any  "));
    EXPECT_EQ(peal({"proofs", "--clear"}).out, "cleared 2 proofs in " + place + "\n");
    EXPECT_EQ(peal({"proofs", "--clear"}).out, "cleared 0 proofs in " + place + "\n");
    EXPECT_EQ(peal({"proofs"}).out, "no proofs in " + place + "\n");
}

TEST(PealProofs, ABadRecordIsAsIfItWereNotThere) {
    const TemporaryCache cache;
    peal(kRun);
    const auto place = std::filesystem::directory_iterator(cache.proofs())->path();
    std::ofstream(place) << "{\"digest\": ";
    EXPECT_EQ(peal({"proofs"}).out, "no proofs in " + cache.proofs() + "\n");
    EXPECT_THAT(peal(kRun).out, HasSubstr(kChecked));
    EXPECT_THAT(peal(kRun).out, HasSubstr(kFromStore));
}

TEST(PealProofs, ADirectoryThatOthersCanWriteToIsNotUsed) {
    const TemporaryCache cache;
    peal(kRun);
    chmod(cache.proofs().c_str(), 0777);
    const std::string why = cache.proofs() +
                            " can be written by others: chmod go-w it or name another directory in "
                            "PEAL_CACHE\n";
    const Ran ran = peal(kRun);
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(ran.out, HasSubstr(kChecked));
    EXPECT_EQ(ran.err, "peal: proofs are not kept: " + why);
    const Ran check = peal({"check", "broadcast", "-n", "2..4"});
    EXPECT_EQ(check.exit_code, 0);
    EXPECT_EQ(check.err, "peal: proofs are not kept: " + why) << "it is said once";
    const Ran listed = peal({"proofs"});
    EXPECT_EQ(listed.exit_code, 2);
    EXPECT_EQ(listed.err, "peal: " + why);
}

TEST(PealProofs, ACacheThatCannotBeWrittenStopsNoRun) {
    const Variable on("PEAL_PROOFS", "on");
    const Variable nowhere("PEAL_CACHE", "/dev/null/x");
    const Ran ran = peal(kRun);
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(ran.out, HasSubstr(kChecked));
    EXPECT_EQ(ran.err,
              "peal: proofs are not kept: /dev/null/x cannot be made: name another directory in "
              "PEAL_CACHE\n");
}

TEST(PealProofs, CommandsRunAtOnce) {
    const TemporaryCache cache;
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            bool fine = true;
            for (const char* ranks : {"2", "3", "4"}) {
                const Ran run = peal({"run", "allreduce", "-n", ranks, "--json"});
                const Ran list = peal({"proofs"});
                fine = fine && run.exit_code == 0 && run.err.empty() && list.exit_code == 0 &&
                       list.err.empty();
            }
            _exit(fine ? 0 : 1);
        }
        children.push_back(child);
    }
    for (const pid_t child : children) {
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(records_in(cache.proofs()), 3u);
}

TEST(PealProofs, HelpHasExamples) {
    EXPECT_THAT(
        peal({"proofs", "--help"}).out,
        HasSubstr("Examples:\n  peal proofs\n  peal proofs --json\n  peal proofs --clear\n"));
}

}  // namespace proofs_test
}  // namespace peal::test
