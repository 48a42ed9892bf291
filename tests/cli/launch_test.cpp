// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "cli/command.hpp"
#include "cli/document.hpp"

namespace peal::test {
namespace launch_test {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

// Every process that is orphaned falls to this one, so none can hide.
class PealLaunch : public ::testing::Test {
protected:
    void SetUp() override { prctl(PR_SET_CHILD_SUBREAPER, 1); }
    void TearDown() override {
        siginfo_t info = {};
        EXPECT_EQ(waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT), -1) << "a child is left";
        EXPECT_EQ(errno, ECHILD);
        prctl(PR_SET_CHILD_SUBREAPER, 0);
    }

    // Runs a line of shell on each rank.
    static Ran launch(int nranks, const std::string& shell, bool prefix = false) {
        std::vector<std::string> arguments = {"launch", "-n", std::to_string(nranks)};
        if (prefix) arguments.push_back("--prefix");
        for (const std::string& argument : {std::string("sh"), std::string("-c"), shell}) {
            arguments.push_back(argument);
        }
        return peal(arguments);
    }
};

TEST_F(PealLaunch, GivesEveryProcessItsPlace) {
    const Ran ran =
        launch(3, "echo $PEAL_RANK of $PEAL_NRANKS $(readlink /proc/self/fd/$PEAL_WORLD)");
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(lines_of(ran.out),
                UnorderedElementsAre("0 of 3 /memfd:peal (deleted)", "1 of 3 /memfd:peal (deleted)",
                                     "2 of 3 /memfd:peal (deleted)"));
}

TEST_F(PealLaunch, WhatFollowsTheProgramIsTheProgramsOwn) {
    for (const bool marked : {false, true}) {
        std::vector<std::string> arguments = {"launch", "-n", "1"};
        if (marked) arguments.push_back("--");
        for (const char* argument : {"echo", "x", "-n", "9", "--prefix", "--", "run"}) {
            arguments.push_back(argument);
        }
        EXPECT_EQ(peal(arguments).out, "x -n 9 --prefix -- run\n");
    }
}

TEST_F(PealLaunch, PrefixesWholeLines) {
    const Ran ran = launch(
        2, "printf 'one '; sleep 0.01; echo two; echo; printf end; echo bad >&2; printf worse >&2",
        true);
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(lines_of(ran.out), UnorderedElementsAre("[0] one two", "[0] ", "[0] end",
                                                        "[1] one two", "[1] ", "[1] end"));
    EXPECT_THAT(lines_of(ran.err),
                UnorderedElementsAre("[0] bad", "[0] worse", "[1] bad", "[1] worse"));
    EXPECT_EQ(ran.out.back(), '\n');
}

TEST_F(PealLaunch, PrefixedOutputIsComplete) {
    const Ran ran = launch(3, "seq 20000", true);
    std::vector<std::string> expected[3];
    for (const std::string& line : lines_of(ran.out)) {
        const int rank = line.at(1) - '0';
        ASSERT_EQ(line,
                  "[" + std::to_string(rank) + "] " + std::to_string(expected[rank].size() + 1));
        expected[rank].push_back(line);
    }
    for (const auto& lines : expected) EXPECT_EQ(lines.size(), 20000u);
}

TEST_F(PealLaunch, InputGoesToTheFirstRank) {
    const Ran ran = peal({"launch", "-n", "1", "sh", "-c",
                          "echo hello | \"$0\" launch -n 3 --prefix cat", PEAL_BINARY});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.out, "[0] hello\n");
}

TEST_F(PealLaunch, ReturnsTheWorstStatus) {
    const Ran ran = launch(4, "exit $((PEAL_RANK * 3 % 8))");
    EXPECT_EQ(ran.exit_code, 6);
}

TEST_F(PealLaunch, NamesTheRankThatFailed) {
    const Ran ended = launch(3, "test $PEAL_RANK = 1 && exit 3; exit 0");
    EXPECT_EQ(ended.exit_code, 3);
    EXPECT_EQ(ended.err, "peal: launch: rank 1 ended with status 3\n");
    const Ran killed = launch(3, "test $PEAL_RANK = 2 && kill -SEGV $$; exit 0");
    EXPECT_EQ(killed.exit_code, 128 + SIGSEGV);
    EXPECT_EQ(killed.err, "peal: launch: rank 2 was killed by signal 11 (Segmentation fault)\n");
}

TEST_F(PealLaunch, EndsTheRestWhenOneDies) {
    const Ran ran = launch(3, "test $PEAL_RANK = 0 && kill -KILL $$; exec sleep 1000");
    EXPECT_EQ(ran.exit_code, 128 + SIGKILL);
    EXPECT_EQ(ran.err, "peal: launch: rank 0 was killed by signal 9 (Killed)\n");
}

TEST_F(PealLaunch, HandsSignalsOn) {
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
        const Ran ran = launch(2, "test $PEAL_RANK = 1 && kill -" + std::to_string(signal) +
                                      " $PPID; exec sleep 1000");
        EXPECT_EQ(ran.exit_code, 128 + signal);
    }
}

TEST_F(PealLaunch, TheTimeoutIsAVariableOfTheRanks) {
    EXPECT_EQ(peal({"launch", "-n", "1", "--timeout", "30s", "sh", "-c", "echo $PEAL_TIMEOUT"}).out,
              "30s\n");
    EXPECT_EQ(peal({"launch", "-n", "1", "sh", "-c", "echo $PEAL_TIMEOUT"}).out, "\n");
}

// A rank that is slow may come when the others have been told.
TEST_F(PealLaunch, AnErrorThatNobodyCatchesIsToldOnce) {
    for (int i = 0; i < 10; ++i) {
        const Ran ran = peal({"launch", "-n", "4", "./faults", "uncaught"}, PEAL_EXAMPLES);
        EXPECT_EQ(ran.exit_code, 128 + SIGABRT);
        EXPECT_EQ(ran.out, "");
        const std::string call =
            "(has not called yet|allreduce of 1000 f32, sum, at "
            "faults.cpp:25)\n";
        EXPECT_THAT(ran.err, ::testing::MatchesRegex(
                                 "peal: launch: rank [0-3]: the ranks made different calls:\n"
                                 "  rank 0: " +
                                 call +
                                 "  rank 1: (has not called yet|allreduce of 999 f32, sum, at "
                                 "faults.cpp:25)\n"
                                 "  rank 2: " +
                                 call + "  rank 3: " + call));
    }
}

// Ranks that are scripts, with processes of their own before and behind them.
constexpr const char* kBusyScript = "sleep 1000 & setsid sleep 1000 & ";

TEST_F(PealLaunch, LeavesNobodyBehindWhenWhoLooksAfterTheRanksIsKilled) {
    const Ran ran =
        launch(3, kBusyScript + std::string("test $PEAL_RANK = 2 && kill -KILL $PPID; sleep 1000"));
    EXPECT_EQ(ran.exit_code, 128 + SIGKILL);
    EXPECT_EQ(ran.err,
              "peal: launch: the process that looks after the ranks was killed by signal 9 "
              "(Killed)\n");
}

// The process behind it falls to this one, and has ended all the others when it ends.
TEST_F(PealLaunch, LeavesNobodyBehindWhenItIsKilled) {
    const Ran ran = launch(3, kBusyScript + std::string("test $PEAL_RANK = 2 && "
                                                        "set -- $(cat /proc/$PPID/stat) && "
                                                        "kill -KILL $4; sleep 1000"));
    EXPECT_EQ(ran.exit_code, 128 + SIGKILL);
    int status = 0;
    ASSERT_GT(waitpid(-1, &status, 0), 0);
    EXPECT_TRUE(WIFEXITED(status)) << status;
}

TEST_F(PealLaunch, EndsWhatRanksHaveLeftBehind) {
    const Ran ran = launch(2, kBusyScript + std::string("(sleep 0.01; echo done) & exit 0"), true);
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(lines_of(ran.out), UnorderedElementsAre("[0] done", "[1] done"));
}

TEST_F(PealLaunch, AProgramThatCannotRunIsReportedOnce) {
    const Ran missing = peal({"launch", "-n", "5", "/nowhere/program"});
    EXPECT_EQ(missing.exit_code, 2);
    EXPECT_EQ(missing.err,
              "peal: launch: cannot run '/nowhere/program': No such file or directory\n");
    const Ran directory = peal({"launch", "-n", "5", "--prefix", "/"});
    EXPECT_EQ(directory.exit_code, 2);
    EXPECT_EQ(directory.err, "peal: launch: cannot run '/': Permission denied\n");
    EXPECT_EQ(missing.out + directory.out, "");
}

TEST_F(PealLaunch, BadUsageSaysWhatAndWhatToDo) {
    const auto refused = [](const std::vector<std::string>& arguments) {
        const Ran ran = peal(arguments);
        EXPECT_EQ(ran.exit_code, 2);
        EXPECT_EQ(ran.out, "");
        return ran.err;
    };
    for (const std::string ranks : {"0", "-1", "5000"}) {
        EXPECT_EQ(refused({"launch", "-n", ranks, "true"}),
                  "peal: launch: -n: expected 1..1024 ranks, found " + ranks + "\n");
    }
    for (const auto& none : {std::vector<std::string>{"launch", "-n", "2"},
                             std::vector<std::string>{"launch", "-n", "2", "--"}}) {
        EXPECT_EQ(refused(none),
                  "peal: launch: no program to run; write for example: peal launch -n 4 program\n");
    }
    for (const std::string time : {"30", "soon", "-1s"}) {
        EXPECT_EQ(refused({"launch", "-n", "2", "--timeout", time, "true"}),
                  "peal: launch: --timeout: expected a time such as 500ms, 30s or 5m, found '" +
                      time + "'\n");
    }
    EXPECT_EQ(refused({"launch", "true"}),
              "peal: launch: -n is required; `peal launch --help` has its options and examples\n");
}

}  // namespace launch_test
}  // namespace peal::test
