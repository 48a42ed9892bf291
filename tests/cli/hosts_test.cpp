// SPDX-License-Identifier: Apache-2.0
// peal launch on several hosts, which are namespaces of this one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "cli/document.hpp"
#include "cli/on_hosts.hpp"

namespace peal::test {
namespace hosts_test {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class LaunchOnHosts : public ::testing::Test {
protected:
    void SetUp() override {
        if (const std::string why = why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    }

    // A line of shell on each rank. What is left of it on any host is told at the end of `err`.
    static Ran launch(int nranks, const std::string& hosts, const std::string& shell,
                      const std::string& options = "") {
        return on_hosts(
            {"a", "b", "c", "d"},
            fmt::format("status=0; \"$peal\" launch -n {} --hosts {} --rsh enter-host "
                        "{} sh -c '{}' || status=$?; {} exit $status",
                        nranks, hosts, options, shell, what_is_left_on({"a", "b", "c", "d"})));
    }
};

TEST_F(LaunchOnHosts, RanksAreInBlocksAndKnowTheirPlace) {
    const Ran ran =
        launch(5, "a,b", "echo $PEAL_RANK of $PEAL_RANKS on $PEAL_HOST $(hostname) $(pwd)");
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.err, "");
    const std::string where = PEAL_SOURCE_DIR;
    EXPECT_THAT(lines_of(ran.out),
                UnorderedElementsAre("0 of 5 on a a " + where, "1 of 5 on a a " + where,
                                     "2 of 5 on a a " + where, "3 of 5 on b b " + where,
                                     "4 of 5 on b b " + where));
}

TEST_F(LaunchOnHosts, HostsMayHaveDifferentNumbersOfRanks) {
    const Ran ran = launch(8, "a:1,b:3,c:9,d:2", "echo $PEAL_RANK $PEAL_HOST", "--prefix");
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(lines_of(ran.out),
                UnorderedElementsAre("[0] 0 a", "[1] 1 b", "[2] 2 b", "[3] 3 b", "[4] 4 c",
                                     "[5] 5 c", "[6] 6 c", "[7] 7 c"));
}

// Nobody on a machine reads the secret where everybody may look.
TEST_F(LaunchOnHosts, TheSecretIsOnNoCommandLine) {
    const Ran ran = launch(2, "a,b",
                           "all=$(cat /proc/[0-9]*/cmdline | tr -d \"\\0\"); "
                           "test ${#PEAL_SECRET} = 64 && case $all in *$PEAL_SECRET*) ;; "
                           "*host-side*) echo hidden;; esac");
    EXPECT_EQ(ran.out, "hidden\nhidden\n") << ran.err;
}

TEST_F(LaunchOnHosts, OutputIsCompleteAndInOrder) {
    const Ran ran = launch(2, "a,b", "seq 20000", "--prefix");
    std::size_t count[2] = {0, 0};
    for (const std::string& line : lines_of(ran.out)) {
        const int rank = line.at(1) - '0';
        ASSERT_EQ(line, fmt::format("[{}] {}", rank, ++count[rank]));
    }
    EXPECT_THAT(count, ElementsAre(20000u, 20000u));
}

TEST_F(LaunchOnHosts, InputGoesToTheFirstRank) {
    const Ran ran = on_hosts({"a", "b"},
                             "seq 100000 | \"$peal\" launch -n 3 --hosts a,b --rsh enter-host "
                             "--prefix wc -l");
    EXPECT_THAT(lines_of(ran.out), UnorderedElementsAre("[0] 100000", "[1] 0", "[2] 0"));
    const Ran ignored = on_hosts({"a", "b"},
                                 "seq 100000 | \"$peal\" launch -n 2 --hosts a,b --rsh enter-host "
                                 "echo fine");
    EXPECT_EQ(ignored.out, "fine\nfine\n");
    EXPECT_EQ(ignored.err, "");
}

TEST_F(LaunchOnHosts, TheWorstStatusIsReturnedAndItsRankNamed) {
    const Ran ran = launch(4, "a,b", "test $PEAL_RANK = 3 && exit 7; exit 0");
    EXPECT_EQ(ran.exit_code, 7);
    EXPECT_EQ(ran.err, "peal: launch: host b: rank 3 ended with status 7\n");
    const Ran killed = launch(4, "a,b", "test $PEAL_RANK = 1 && kill -SEGV $$; exec sleep 1000");
    EXPECT_EQ(killed.exit_code, 128 + SIGSEGV);
    EXPECT_EQ(killed.err,
              "peal: launch: host a: rank 1 was killed by signal 11 (Segmentation fault)\n");
}

TEST_F(LaunchOnHosts, WhatDiesAnywhereEndsEverywhere) {
    for (const int dying : {0, 7}) {
        const Ran ran = launch(8, "a,b,c,d",
                               fmt::format("sleep 1000 & test $PEAL_RANK = {} && kill -KILL $$; "
                                           "trap \"\" TERM; sleep 1000",
                                           dying));
        EXPECT_EQ(ran.exit_code, 128 + SIGKILL);
        EXPECT_EQ(ran.err, fmt::format("peal: launch: host {}: rank {} was killed by signal 9 "
                                       "(Killed)\n",
                                       "abcd"[dying / 2], dying));
    }
}

TEST_F(LaunchOnHosts, SignalsReachEveryRank) {
    for (const int signal : {SIGTERM, SIGHUP, SIGUSR1}) {
        const Ran ran =
            on_hosts({"a", "b"}, fmt::format("mkfifo $PEAL_HOSTS/ready; "
                                             "\"$peal\" launch -n 4 --hosts a,b --rsh enter-host "
                                             "sh -c 'echo here; exec sleep 1000' "
                                             ">$PEAL_HOSTS/ready & launcher=$!; "
                                             "head -n 4 $PEAL_HOSTS/ready; kill -{} $launcher; "
                                             "wait $launcher; echo $?",
                                             signal));
        EXPECT_EQ(ran.out, fmt::format("here\nhere\nhere\nhere\n{}\n", 128 + signal)) << ran.err;
    }
}

// Whoever of those who look after a job is killed, the job is over on every host.
TEST_F(LaunchOnHosts, NothingIsLeftWhenALauncherOrItsPeopleAreKilled) {
    const std::string victims[] = {
        "$launcher",                                   // what the user started
        "$(pgrep -P $launcher)",                       // behind it
        "$(pgrep -o -x -f \"[^ ]*/peal host-side\")",  // before the ranks of a host
        "$(pgrep -n -x -f \"[^ ]*/peal host-side\")",  // and who looks after them
    };
    for (const std::string& victim : victims) {
        const Ran ran = on_hosts(
            {"a", "b"},
            fmt::format("mkfifo $PEAL_HOSTS/ready; "
                        "\"$peal\" launch -n 4 --hosts a,b --rsh enter-host "
                        "sh -c 'sleep 1000 & setsid sleep 1000 & echo here; exec sleep 1000' "
                        ">$PEAL_HOSTS/ready 2>/dev/null & launcher=$!; "
                        "head -n 4 $PEAL_HOSTS/ready; kill -KILL {}; wait $launcher; echo $?; "
                        "while pgrep -x peal || pgrep -f '^sleep 1000'; do sleep 0.1; done "
                        ">/dev/null",
                        victim));
        EXPECT_THAT(ran.out, MatchesRegex("here\nhere\nhere\nhere\n(137|2|1)\n"))
            << victim << ran.err;
    }
}

// Both ends of the connection are there and hear nothing any more, as if it was cut on its way.
TEST_F(LaunchOnHosts, AConnectionThatIsSilentIsTheEndOnBothSides) {
    const Ran ran = on_hosts(
        {"a", "b"},
        "mkfifo $PEAL_HOSTS/ready; "
        "printf '#!/bin/sh\ntest $1 = a && exec enter-host \"$@\"\n"
        "cat | enter-host \"$@\" | cat\n' >$PEAL_HOSTS/agent; chmod +x $PEAL_HOSTS/agent; "
        "PEAL_LONGEST_SILENCE=6 \"$peal\" launch -n 4 --hosts a,b --rsh $PEAL_HOSTS/agent "
        "sh -c 'sleep 1000 & setsid sleep 1000 & echo here; exec sleep 1000' "
        ">$PEAL_HOSTS/ready & launcher=$!; "
        "head -n 4 $PEAL_HOSTS/ready; kill -STOP $(pgrep -x cat); wait $launcher; echo $?; "
        "while pgrep -x peal || pgrep -f '^sleep 1000'; do sleep 0.1; done >/dev/null");
    EXPECT_EQ(ran.out, "here\nhere\nhere\nhere\n2\n");
    EXPECT_THAT(lines_of(ran.err), Contains("peal: launch: host b is lost: it does not answer"));
}

// A launcher that has not looked for a while hears of all of it at once.
TEST_F(LaunchOnHosts, AHostIsLostToALauncherThatLooksLate) {
    const std::string host_sides = "pgrep -c -x -f '[^ ]*/peal host-side'";
    const Ran ran = on_hosts(
        {"a", "b"},
        fmt::format(
            "mkfifo $PEAL_HOSTS/ready; "
            "\"$peal\" launch -n 4 --hosts a,b --rsh enter-host "
            "sh -c 'echo here; exec sleep 1000' >$PEAL_HOSTS/ready 2>/dev/null & launcher=$!; "
            "head -n 4 $PEAL_HOSTS/ready; behind=$(pgrep -P $launcher); "
            "kill -STOP $behind; kill -KILL $(pgrep -o -x -f '[^ ]*/peal host-side'); "
            "while [ $({}) -gt 2 ]; do sleep 0.1; done; "
            "kill -CONT $behind; wait $launcher; echo $?",
            host_sides));
    EXPECT_THAT(ran.out, MatchesRegex("here\nhere\nhere\nhere\n(137|2)\n")) << ran.err;
}

// The agent needs no cable here, so it is the ranks that hear of it, on both sides.
TEST_F(LaunchOnHosts, APulledCableIsHeardOfOnBothSidesInThreeSeconds) {
    for (const char* cut : {"a", "c"}) {
        const Ran ran =
            on_hosts({"a", "b", "c"},
                     fmt::format("mkfifo $PEAL_HOSTS/ready; export PEAL_CUT=/tmp/cut.$$; "
                                 "\"$peal\" launch -n 4 --hosts a:1,b:1,c:2 --rsh enter-host "
                                 "\"" PEAL_MET_RANK "\" >$PEAL_HOSTS/ready & launcher=$!; "
                                 "exec 3<$PEAL_HOSTS/ready; "
                                 "for i in 1 2 3 4; do read line; echo $line; done <&3 | sort; "
                                 "ip link set to-{} down; : >$PEAL_CUT; sort <&3; rm $PEAL_CUT; "
                                 "wait $launcher",
                                 cut));
        const std::vector<std::string> lines = lines_of(ran.out);
        ASSERT_EQ(lines.size(), 8u) << ran.out << ran.err;
        EXPECT_THAT(std::vector<std::string>(lines.begin(), lines.begin() + 4),
                    ElementsAre("rank 0 of 4 met: 0 1 2 2", "rank 1 of 4 met: 0 1 2 2",
                                "rank 2 of 4 met: 0 1 2 2", "rank 3 of 4 met: 0 1 2 2"));
        // Whoever heard first has ended, which others may hear of first.
        for (std::size_t i = 4; i < 8; ++i) {
            EXPECT_THAT(lines[i], MatchesRegex(fmt::format(
                                      "rank {} heard: (rank [0-3] on [abc]|the launcher) "
                                      "(cannot be reached: (Connection timed out|No "
                                      "route to host)|died)",
                                      i - 4)));
        }
        EXPECT_THAT(ran.out, HasSubstr("cannot be reached"));
    }
}

// In the middle of calls every rank gets an error that says who cannot be reached, whether it is
// the launcher or a rank that brings the ranks together; and none takes itself for dead.
TEST_F(LaunchOnHosts, APulledCableEndsCallsOnBothSidesInThreeSeconds) {
    const std::string by_launcher =
        "\"$peal\" launch -n 4 --hosts a,b --rsh enter-host \"" PEAL_CALLING_RANK "\" {}";
    const std::string by_environment =
        "for place in 0a 1a 2b 3b; do PEAL_RANK=${{place%?}} enter-host ${{place#?}} "
        "'\"" PEAL_CALLING_RANK "\" {}' & done; wait";
    struct Cut {
        const std::string& start;
        const char *calls, *host;
    };
    const Cut cuts[] = {{by_launcher, "some", "b"},       {by_launcher, "many", "a"},
                        {by_launcher, "messages", "a"},   {by_launcher, "waiting", "b"},
                        {by_environment, "waiting", "a"}, {by_environment, "some", "b"}};
    for (const Cut& cut : cuts) {
        const Ran ran = on_hosts(
            {"a", "b"},
            fmt::format("mkfifo $PEAL_HOSTS/ready; export PEAL_CUT=/tmp/cut.$$ PEAL_RANKS=4 "
                        "PEAL_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n'); "
                        "(test '{}' = launch || export PEAL_RENDEZVOUS=a:7000; {}) "
                        ">$PEAL_HOSTS/ready 2>/dev/null & "
                        "exec 3<$PEAL_HOSTS/ready; "
                        "for i in 1 2 3 4; do read -r line; echo \"$line\"; done <&3 | sort; "
                        "ip link set to-{} down; : >$PEAL_CUT; grep '^rank' <&3 | sort; "
                        "rm $PEAL_CUT; wait",
                        &cut.start == &by_launcher ? "launch" : "",
                        fmt::format(fmt::runtime(cut.start), cut.calls), cut.host));
        const std::vector<std::string> lines = lines_of(ran.out);
        ASSERT_EQ(lines.size(), 8u) << cut.calls << cut.host << ran.out << ran.err;
        for (int rank = 0; rank < 4; ++rank) {
            const auto r = static_cast<std::size_t>(rank);
            EXPECT_EQ(lines[r], fmt::format("rank {} is here", rank));
            const std::string elsewhere =
                rank < 2 ? "rank [23] on b" : "(rank [01] on a|the launcher)";
            EXPECT_THAT(lines[4 + r],
                        AllOf(MatchesRegex(fmt::format("rank {} heard: {} cannot be reached: "
                                                       "(Connection timed out|No route to host); "
                                                       "rank {} was in .*",
                                                       rank, elsewhere, rank)),
                              Not(HasSubstr(", late"))))
                << cut.calls << " " << cut.host;
        }
    }
}

// One that has no net is no mere death for the others.
TEST_F(LaunchOnHosts, WhyARankDoesNotConnectIsHeardOfByAll) {
    const Ran ran = on_hosts({"a", "b"},
                             "\"$peal\" launch -n 3 --hosts a:1,b:2 --rsh enter-host sh -c "
                             "'test $PEAL_RANK = 1 && export UCX_TLS=none; "
                             "exec \"" PEAL_CALLING_RANK "\" some' | grep '^rank' | sort");
    const std::string why = "cannot reach other hosts: UCX: no context: [^;]*";
    const auto told_of = [&](int rank) {
        return MatchesRegex(
            fmt::format("rank {0} heard: rank 1 on b failed: {1}; rank {0} was to "
                        "exchange addresses with all ranks",
                        rank, why));
    };
    EXPECT_THAT(lines_of(ran.out),
                ElementsAre(told_of(0), MatchesRegex("rank 1 heard: " + why), told_of(2)))
        << ran.err;
}

TEST_F(LaunchOnHosts, ADeathIsHeardOfByAll) {
    const Ran ran = on_hosts(
        {"a", "b"},
        "mkfifo $PEAL_HOSTS/ready; "
        "\"$peal\" launch -n 4 --hosts a,b --rsh enter-host sh -c 'test $PEAL_RANK = 3 && echo $$ "
        ">&2; exec \"" PEAL_MET_RANK
        "\"' >$PEAL_HOSTS/ready 2>$PEAL_HOSTS/process & launcher=$!; "
        "exec 3<$PEAL_HOSTS/ready; for i in 1 2 3 4; do read line; done <&3; "
        "kill -KILL $(head -n 1 $PEAL_HOSTS/process); sort <&3; wait $launcher");
    EXPECT_EQ(ran.exit_code, 128 + SIGKILL);
    EXPECT_THAT(lines_of(ran.out), Contains(MatchesRegex("rank [0-2] heard: rank 3 on b died")));
    EXPECT_EQ(lines_of(ran.out).size(), 3u) << ran.out;
}

TEST_F(LaunchOnHosts, RanksMeetWithoutALauncher) {
    const Ran ran = on_hosts(
        {"a", "b"},
        "export PEAL_RANKS=3 PEAL_RENDEZVOUS=a:7000 PEAL_SECRET=$(od -An -N32 -tx1 /dev/urandom | "
        "tr -d ' \n') PEAL_LEAVE=1; "
        "for place in 0a 1b 2b; do "
        "  PEAL_RANK=${place%?} enter-host ${place#?} '\"" PEAL_MET_RANK "\"' & done | sort; wait");
    EXPECT_EQ(ran.out, "rank 0 of 3 met: 0 1 1\nrank 1 of 3 met: 0 1 1\nrank 2 of 3 met: 0 1 1\n")
        << ran.err;
}

// Under somebody else's launcher; ranks of one host find each other there, too.
TEST_F(LaunchOnHosts, RanksMeetByPmix) {
    if (const std::string why = why_no_mpirun(); !why.empty()) GTEST_SKIP() << why;
    const std::string mpirun =
        "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PEAL_LEAVE=1; "
        "mpirun --oversubscribe --mca plm_rsh_agent enter-host "
        "--mca oob_tcp_if_include 10.77.0.0/24 -x PEAL_LEAVE ";
    const Ran apart =
        on_hosts({"a", "b"}, mpirun + "--host a:1,b:2 -n 3 \"" PEAL_MET_RANK "\" | sort");
    EXPECT_EQ(apart.out, "rank 0 of 3 met: 0 1 1\nrank 1 of 3 met: 0 1 1\nrank 2 of 3 met: 0 1 1\n")
        << apart.err;
    const Ran together = on_hosts({}, mpirun + "-n 2 \"" PEAL_MET_RANK "\" | sort");
    EXPECT_EQ(together.out, "rank 0 of 2 met: 0 0\nrank 1 of 2 met: 0 0\n") << together.err;
}

TEST_F(LaunchOnHosts, OverTheOtherProtocolToo) {
    const Ran ran = on_hosts({"a", "b"},
                             "PEAL_LEAVE=1 \"$peal\" launch -n 2 --hosts a,b --rsh enter-host "
                             "--rendezvous [fd77::1]:7001 \"" PEAL_MET_RANK "\"");
    EXPECT_THAT(lines_of(ran.out),
                UnorderedElementsAre("rank 0 of 2 met: 0 1", "rank 1 of 2 met: 0 1"))
        << ran.err;
}

TEST_F(LaunchOnHosts, AHostThatCannotBeReachedIsNamed) {
    const Ran ran = on_hosts({"a", "b"},
                             "\"$peal\" launch -n 3 --hosts a,b,nowhere --rsh enter-host "
                             "sleep 1000");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("peal: launch: host nowhere is lost: enter-host ended with "
                                   "status "));
    const Ran none = on_hosts({"a"}, "\"$peal\" launch -n 1 --hosts a --rsh /no/agent true");
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_EQ(none.err,
              "peal: launch: cannot run '/no/agent': No such file or directory\n"
              "peal: launch: host a is lost: /no/agent ended with status 2\n");
}

TEST_F(LaunchOnHosts, AProgramThatCannotRunIsToldOfItsHost) {
    const Ran ran =
        on_hosts({"a", "b"}, "\"$peal\" launch -n 4 --hosts a,b --rsh enter-host /no/program");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err,
                HasSubstr("host a: cannot run '/no/program': No such file or directory\n"));
}

TEST_F(LaunchOnHosts, BadUsageSaysWhatAndWhatToDo) {
    const auto refused = [](const std::string& arguments) {
        const Ran ran = on_hosts({"a"}, "\"$peal\" launch " + arguments);
        EXPECT_EQ(ran.exit_code, 2);
        EXPECT_EQ(ran.out, "");
        return ran.err;
    };
    EXPECT_EQ(refused("-n 4 --hosts a:1,b:2 true"),
              "peal: launch: --hosts: there are 3 places for 4 ranks\n");
    EXPECT_EQ(refused("-n 4 --hosts a,a true"), "peal: launch: --hosts: 'a' is there twice\n");
    EXPECT_EQ(refused("-n 4 --hosts a:1,b true"),
              "peal: launch: --hosts: either every host has a number of places, or none has\n");
    for (const char* bad : {"a,", "a:", "a:0", "a:x", "-oProxyCommand=x", "[::1", "[::1]x"}) {
        EXPECT_THAT(refused(fmt::format("-n 4 '--hosts={}' true", bad)),
                    HasSubstr("--hosts: expected a host or a host and its places such as node1 or "
                              "node1:4, found '"));
    }
    EXPECT_EQ(refused("-n 2 --rsh ssh true"), "peal: launch: --rsh is for --hosts\n");
    EXPECT_EQ(refused("-n 2 --hosts localhost,a true"),
              "peal: launch: 'localhost' is 127.0.0.1 here, where no other host reaches it; say "
              "with --rendezvous under which address of that host they do\n");
    EXPECT_THAT(refused("-n 2 --hosts unknown.invalid,a true"),  // the reason is the system's
                MatchesRegex("peal: launch: cannot find host 'unknown.invalid': .*; say with "
                             "--rendezvous under which address of the first host the others reach "
                             "it\n"));
    EXPECT_EQ(refused("-n 1 --hosts a --rsh enter-host --env NO_SUCH_THING true"),
              "peal: launch: --env: NO_SUCH_THING is not set here\n");
    EXPECT_THAT(refused("-n 1 --hosts a --rsh enter-host --rendezvous 192.0.2.1 true"),
                HasSubstr("host a: cannot listen at 192.0.2.1:0: Cannot assign requested "
                          "address\n"));
}

TEST_F(LaunchOnHosts, VariablesTravel) {
    const Ran ran = on_hosts({"a", "b"},
                             "export PEAL_LOG=calls UCX_X=y MINE='two words'; "
                             "\"$peal\" launch -n 2 --hosts a,b --rsh enter-host --timeout 30s "
                             "--env MINE --env OTHER=1 "
                             "sh -c 'echo $PEAL_LOG $UCX_X $MINE $OTHER $PEAL_TIMEOUT'");
    EXPECT_EQ(ran.out, "calls y two words 1 30s\ncalls y two words 1 30s\n");
}

TEST(InfoAboutHosts, IsForAJobOnSeveral) {
    const std::string refusal =
        "peal: info: --hosts asks the ranks of a job; run it in one, for example: peal launch -n 4 "
        "--hosts a,b peal info --hosts\n";
    const Ran alone = peal({"info", "--hosts"});
    EXPECT_EQ(alone.exit_code, 2);
    EXPECT_EQ(alone.out, "");
    EXPECT_EQ(alone.err, refusal);
    const Ran here = peal({"launch", "-n", "1", PEAL_BINARY, "info", "--hosts"});
    EXPECT_EQ(here.exit_code, 2);
    EXPECT_THAT(here.err, HasSubstr(refusal));
    const Ran nothing = peal({"info"});
    EXPECT_EQ(nothing.exit_code, 2);
    EXPECT_EQ(nothing.err, "peal: info: say what about; there is --hosts\n");
}

// A launcher that is itself somebody's rank gives its ranks places of their own.
TEST_F(LaunchOnHosts, MayRunInAnother) {
    const Ran ran = on_hosts({"a", "b"},
                             "\"$peal\" launch -n 1 \"$peal\" launch -n 2 --hosts a,b "
                             "--rsh enter-host sh -c 'echo $PEAL_RANK of $PEAL_NRANKS, "
                             "$PEAL_RANKS'");
    EXPECT_THAT(lines_of(ran.out), UnorderedElementsAre("0 of 2, 2", "1 of 2, 2")) << ran.err;
}

}  // namespace hosts_test
}  // namespace peal::test
