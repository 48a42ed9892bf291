// SPDX-License-Identifier: Apache-2.0
// Programs with a communicator, on hosts that are namespaces: only how they are started differs.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "cli/document.hpp"
#include "cli/on_hosts.hpp"

namespace peal::test {
namespace hosts_programs_test {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class ProgramOnHosts : public ::testing::Test {
protected:
    void SetUp() override {
        if (const std::string why = why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    }

    static std::vector<std::string> sorted(const Ran& ran) {
        return sorted_lines(ran.out + ran.err);
    }
    static std::vector<std::string> sorted_lines(const std::string& text) {
        std::vector<std::string> lines = lines_of(text);
        std::sort(lines.begin(), lines.end());
        return lines;
    }

    static Ran launch(int nranks, const std::string& hosts, const std::string& program) {
        return on_hosts({"a", "b", "c", "d"},
                        fmt::format("cd \"" PEAL_EXAMPLES "\"; status=0; \"$peal\" launch -n {} "
                                    "--hosts {} --rsh enter-host {} || status=$?; {} exit $status",
                                    nranks, hosts, program, what_is_left_on({"a", "b", "c", "d"})));
    }
};

// UCX 1.13 aborts with a line of its own, "[b:79   :0:79]  tcp_ep.c:478 ...", when who it is
// connecting to dies at that moment.
std::string without_lines_of_ucx(const std::string& text) {
    std::string rest;
    for (const std::string& line : lines_of(text)) {
        if (line.rfind('[', 0) != 0) rest += line + "\n";
    }
    return rest;
}

TEST_F(ProgramOnHosts, SaysWhatItSaysOnOneMachine) {
    const std::pair<int, const char*> places[] = {
        {2, "a,b"}, {4, "a,b"}, {4, "a:3,b:1"}, {8, "a,b,c,d"}};
    for (const auto& [nranks, hosts] : places) {
        for (const std::string program : {"./hello", "./mean"}) {
            const Ran here = peal({"launch", "-n", std::to_string(nranks), program}, PEAL_EXAMPLES);
            const Ran there = launch(nranks, hosts, program);
            EXPECT_EQ(there.exit_code, 0);
            EXPECT_EQ(sorted(there), sorted(here)) << program << " " << hosts;
        }
    }
}

TEST_F(ProgramOnHosts, IsToldWhoDiedAndWhere) {
    const Ran ran = launch(4, "a,b", "./faults death");
    EXPECT_THAT(
        ran.out + ran.err,
        HasSubstr(
            "rank 1 on host a died; rank 0 was in allreduce of 1000 f32, sum, at faults.cpp:35"));
    EXPECT_THAT(ran.err, HasSubstr("peal: launch: host a: rank 1 was killed by signal 9 (Killed)"));
    EXPECT_EQ(ran.exit_code, 128 + SIGKILL);
}

TEST_F(ProgramOnHosts, AnErrorThatNobodyCatchesIsToldOnce) {
    const Ran ran = launch(4, "a,b", "./faults uncaught");
    EXPECT_EQ(ran.exit_code, 128 + SIGABRT);
    const std::string said = without_lines_of_ucx(ran.err);
    EXPECT_THAT(said, MatchesRegex("peal: launch: host [ab]: rank [0-3]: (.|\n)*"));
    const std::string first = "peal: launch:";
    EXPECT_EQ(said.find(first, first.size()), std::string::npos) << ran.err;
}

// However it ended.
TEST_F(ProgramOnHosts, LeavesNothingBehind) {
    for (const char* program : {"./mean", "./faults death", "./faults uncaught"}) {
        EXPECT_THAT(launch(4, "a,b", program).err, Not(HasSubstr("left: "))) << program;
    }
}

// Both wait for ever, and are asked until both have answered.
TEST_F(ProgramOnHosts, ReportsWhereEveryRankOfEveryHostStands) {
    const Ran ran =
        on_hosts({"a", "b"},
                 "cd \"" PEAL_EXAMPLES
                 "\"; mkfifo $PEAL_HOSTS/said; "
                 "\"$peal\" launch -n 2 --hosts a,b --rsh enter-host --report 100ms ./faults hang "
                 "2>$PEAL_HOSTS/said & launcher=$!; "
                 "while read -r line; do case $line in "
                 "*'who waits for whom:') report=;; "
                 "'rank 0: in '*) report=\"$report 0\";; 'rank 1: in '*) report=\"$report 1\";; "
                 "'host a:') report=\"$report a\";; 'host b:') report=\"$report b\";; esac; "
                 "test \"$report\" = ' a 0 b 1' && break; done <$PEAL_HOSTS/said; "
                 "echo \"$report\"; kill -TERM $launcher; wait $launcher");
    EXPECT_EQ(ran.out, " a 0 b 1\n") << ran.err;
    EXPECT_EQ(ran.exit_code, 128 + SIGTERM);
}

// Rank 0 computes for ever, and rank 1 waits for it, if not yet then when it is asked again.
TEST_F(ProgramOnHosts, ReportsWhenItIsAskedByASignal) {
    const Ran ran =
        on_hosts({"a", "b"},
                 "mkfifo $PEAL_HOSTS/ready $PEAL_HOSTS/said; unset PEAL_CUT; "
                 "\"$peal\" launch -n 2 --hosts a,b --rsh enter-host "
                 "\"" PEAL_CALLING_RANK
                 "\" waiting >$PEAL_HOSTS/ready 2>$PEAL_HOSTS/said & "
                 "launcher=$!; exec 3<$PEAL_HOSTS/ready 4<$PEAL_HOSTS/said; "
                 "for i in 1 2; do read -r line; done <&3; kill -QUIT $launcher; "
                 "while read -r line; do case $line in "
                 "*'who waits for whom:') report=;; "
                 "'host a:') report=\"$report a\";; 'host b:') report=\"$report b\";; "
                 "'rank 0: waits in no call '*) report=\"$report 0\";; "
                 "'rank 1: in barrier, at calling_rank.cpp:'*) report=\"$report 1\"; break;; "
                 "'rank 1: '*) kill -QUIT $launcher;; esac; done <&4; "
                 "echo \"$report\"; kill -TERM $launcher; cat <&4 >/dev/null; wait $launcher");
    EXPECT_EQ(ran.out, " a 0 b 1\n") << ran.err;
    EXPECT_EQ(ran.exit_code, 128 + SIGTERM);
}

// Without a launcher one rank is asked, and tells of all; rank 0 computes for ever. A rank that
// waits in no call is ended by a second question.
TEST_F(ProgramOnHosts, ARankThatIsAskedTellsWhereAllStand) {
    const Ran ran =
        on_hosts({"a", "b"},
                 "mkfifo $PEAL_HOSTS/ready $PEAL_HOSTS/said; unset PEAL_CUT; ulimit -c 0; "
                 "export PEAL_RANKS=2 PEAL_RENDEZVOUS=a:7000 "
                 "PEAL_SECRET=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n'); "
                 "for place in 0a 1b; do PEAL_RANK=${place%?} enter-host ${place#?} "
                 "'echo process $PEAL_RANK $$; exec env --default-signal=QUIT \"" PEAL_CALLING_RANK
                 "\" waiting' >$PEAL_HOSTS/ready 2>$PEAL_HOSTS/said & done; "
                 "exec 3<$PEAL_HOSTS/ready 4<$PEAL_HOSTS/said; "
                 "for i in 1 2 3 4; do read -r word rank process; "
                 "case $word$rank in process0) first=$process;; process1) second=$process;; esac; "
                 "done <&3; kill -QUIT $second; "
                 "for i in 1 2 3 4 5; do read -r line; echo \"$line\"; done <&4; "
                 "while kill -QUIT $first; do sleep 0.1; done 2>/dev/null; cat <&3; wait");
    EXPECT_THAT(ran.out,
                MatchesRegex("peal: who waits for whom, asked of rank 1:\n"
                             "rank 0 on host a: has not called yet\n"
                             "rank 1 on host b: in barrier, at calling_rank.cpp:[0-9]+ "
                             "\\(call 0\\)\n"
                             "instruction [0-9]  wait .*\nsees 0, waits for rank 0\n"
                             "rank 1 heard: rank 0 on (host )?a died; rank 1 was in barrier, .*"))
        << ran.err;
}

// The line that docs/hosts.md shows, with what these machines need.
TEST_F(ProgramOnHosts, SaysTheSameUnderMpirun) {
    if (const std::string why = why_no_mpirun(); !why.empty()) GTEST_SKIP() << why;
    const std::string line = "mpirun -n 8 --host node1:4,node2:4 ./program";
    ASSERT_THAT(read_file(PEAL_SOURCE_DIR "/docs/hosts.md"), HasSubstr("`" + line + "`"));
    for (const std::string program : {"./hello", "./mean"}) {
        const std::string command =
            "mpirun --mca plm_rsh_agent enter-host --mca oob_tcp_if_include 10.77.0.0/24" +
            line.substr(line.find(' '), line.rfind(' ') + 1 - line.find(' ')) + program;
        const Ran here = peal({"launch", "-n", "8", program}, PEAL_EXAMPLES);
        const Ran there =
            on_hosts({"node1", "node2"},
                     "cd \"" PEAL_EXAMPLES
                     "\"; export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; " +
                         command);
        EXPECT_EQ(there.exit_code, 0) << there.err;
        // mpirun may have warnings of its own.
        EXPECT_EQ(sorted_lines(there.out), sorted_lines(here.out)) << program;
    }
}

// A network that is slow, late or loses packets changes nothing but the time.
struct Wire {
    const char* name;
    const char* how;  // of `tc qdisc add`
};

class ProgramOnWires : public ProgramOnHosts, public ::testing::WithParamInterface<Wire> {};

TEST_P(ProgramOnWires, SaysTheSame) {
    const Ran here = peal({"launch", "-n", "4", "./mean"}, PEAL_EXAMPLES);
    const Ran there =
        on_hosts({"a", "b"},
                 fmt::format("for to in a b; do tc qdisc add dev to-$to root {} || exit 77; done; "
                             "cd \"" PEAL_EXAMPLES "\"; \"$peal\" launch -n 4 --hosts a,b "
                             "--rsh enter-host ./mean",
                             GetParam().how));
    if (there.exit_code == 77) GTEST_SKIP() << "this kernel has no such wires: " << there.err;
    EXPECT_EQ(there.exit_code, 0);
    EXPECT_EQ(sorted(there), sorted(here));
}

INSTANTIATE_TEST_SUITE_P(
    Hosts, ProgramOnWires,
    ::testing::Values(Wire{"narrow", "tbf rate 50mbit burst 32kbit latency 50ms"},
                      Wire{"late", "netem delay 2ms 1ms"}, Wire{"slow", "netem rate 50mbit"},
                      Wire{"lossy", "netem loss 2%"}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace hosts_programs_test
}  // namespace peal::test
