// SPDX-License-Identifier: Apache-2.0
// peal tune between hosts that are namespaces of this one. Times are not looked at.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "cli/document.hpp"
#include "cli/on_hosts.hpp"
#include "comm/profile.hpp"

namespace peal::test {
namespace hosts_tune_test {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

const std::vector<std::string> kHosts = {"a", "b"};
const std::string kMpirun =
    "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe "
    "--mca plm_rsh_agent enter-host --mca oob_tcp_if_include 10.77.0.0/24 ";

class TuneOnHosts : public ::testing::Test {
protected:
    void SetUp() override {
        if (const std::string why = why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    }

    // What is left of it on any host is told at the end of `err`.
    static Ran run(const std::string& line) {
        return on_hosts(kHosts, fmt::format("status=0; {} || status=$?; {} exit $status", line,
                                            what_is_left_on(kHosts)));
    }
    static std::string launch(const std::string& hosts, int nranks, const std::string& program) {
        return fmt::format("\"$peal\" launch -n {} --hosts {} --rsh enter-host {}", nranks, hosts,
                           program);
    }
    static Ran tune(const std::string& hosts, int nranks, const std::string& options) {
        return run(launch(hosts, nranks, "\"$peal\" tune --quick " + options));
    }

    const TemporaryFile placeholder_{"placeholder", ""};
    const std::string directory_ = placeholder_.directory() + "/made";
    const std::string path_ = directory_ + "/profile.json";
};

using Limits = std::tuple<int, int, int>;  // hosts, ranks on each, ranks
Limits limits_of(const comm::Rule& rule) {
    return {rule.max_hosts, rule.max_per_host, rule.max_ranks};
}

// The rules of a profile for this layout, each with a recipe that the built-in table takes between
// hosts; there are some for every collective, which take any size, and they come first.
comm::Table expect_rules_for(const Limits& limits, const std::string& path) {
    const comm::Table table = comm::table_from_json(read_file(path), path);
    const auto [hosts, per_host, nranks] = limits;
    const comm::Spread spread{hosts, per_host};
    for (const CollectiveKind kind : kCollectives) {
        for (const std::uint64_t bytes : {std::uint64_t{0}, comm::Rule::kAny}) {
            EXPECT_EQ(limits_of(*table.choices(kind, false, bytes, nranks, spread).front()), limits)
                << name(kind) << " " << bytes;
        }
    }
    const std::vector<comm::Rule> built_in = comm::built_in_table().rules;
    for (const comm::Rule& rule : table.rules) {
        if (rule.where != comm::Where::hosts) continue;
        const auto is_same = [&](const comm::Rule& other) {
            return other.where == rule.where && other.kind == rule.kind &&
                   other.recipe == rule.recipe;
        };
        EXPECT_TRUE(std::any_of(built_in.begin(), built_in.end(), is_same))
            << name(rule.kind) << " " << rule.recipe;
    }
    return table;
}

// As `calling_rank recipes` says them.
std::string recipes_by(const comm::Table& table, int nranks, const comm::Spread& spread) {
    std::string text;
    for (const std::uint64_t bytes : {64, 65536, 4 << 20}) {
        for (const CollectiveKind kind : {CollectiveKind::allreduce, CollectiveKind::broadcast}) {
            text += " " + table.choices(kind, false, bytes, nranks, spread).front()->recipe;
        }
    }
    return text;
}

TEST_F(TuneOnHosts, WritesRulesForTheirLayoutWhichLaterJobsTake) {
    // One that is none is replaced.
    std::filesystem::create_directory(directory_);
    std::ofstream(path_) << "{";
    const Ran two =
        run("PEAL_PROFILE=" + path_ + " " + launch("a,b", 2, "\"$peal\" tune --quick -o " + path_));
    ASSERT_EQ(two.exit_code, 0) << two.err;
    EXPECT_THAT(two.err, StartsWith("the profile will be written to " + path_ +
                                    "\n2 ranks on 2 hosts,  1 of 8: push\n2 ranks on 2 hosts,  2"));
    EXPECT_THAT(two.err, Not(HasSubstr("left: ")));
    EXPECT_THAT(two.out, ::testing::EndsWith("\nwritten to " + path_ +
                                             "\nuse it with PEAL_PROFILE=" + path_ + "\n"));
    expect_rules_for({2, 1, 2}, path_);

    // What is there stays.
    const Ran three = tune("a:2,b:1", 3, "-o " + path_);
    ASSERT_EQ(three.exit_code, 0) << three.err;
    expect_rules_for({2, 1, 2}, path_);
    const comm::Table table = expect_rules_for({2, 2, 3}, path_);
    const auto files = std::filesystem::directory_iterator(directory_);
    EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "something else was left";

    const Ran later = run("PEAL_PROFILE=" + path_ + " " +
                          launch("a:2,b:1", 3, "\"" PEAL_CALLING_RANK "\" recipes"));
    EXPECT_EQ(later.exit_code, 0) << later.err;
    const std::vector<std::string> said = lines_of(later.out);
    EXPECT_EQ(said.size(), 3u) << later.out;
    EXPECT_THAT(said, Each(path_ + ":" + recipes_by(table, 3, {2, 2})));
}

TEST_F(TuneOnHosts, DoesSoUnderMpirun) {
    if (const std::string why = why_no_mpirun(); !why.empty()) GTEST_SKIP() << why;
    const Ran ran =
        run(kMpirun + "--host a:1,b:1 -n 2 \"$peal\" tune --quick -o " + path_ + " 2>/dev/null");
    ASSERT_EQ(ran.exit_code, 0) << ran.out;
    expect_rules_for({2, 1, 2}, path_);
}

TEST_F(TuneOnHosts, WhatCannotBeIsToldOnce) {
    const auto told = [](const Ran& ran) {
        EXPECT_EQ(ran.exit_code, 2);
        EXPECT_EQ(ran.out, "");
        return ran.err;
    };
    const std::string rank = "peal: launch: host [ab]: rank [0-2]: ";
    EXPECT_THAT(told(tune("a,b", 2, "-n 2")),
                MatchesRegex(rank + "tune: -n is for measuring on one machine; here it is a rank "
                                    "of a job, whose ranks are those that its launcher started: "
                                    "leave out -n\n"));
    EXPECT_THAT(told(tune("a,b", 3, "-o /")),
                MatchesRegex(rank + "(rank 0 on a failed: )?cannot write the profile /: it is a "
                                    "directory(; rank [12] was .*)?\n"));
    const std::string one_host =
        "tune: all ranks of this job are on one host, where it starts ranks itself: run it without "
        "a launcher, for example: peal tune -n 2,4\n";
    EXPECT_THAT(told(tune("a", 2, "")), MatchesRegex(rank + one_host));
    EXPECT_THAT(told(run("\"$peal\" launch -n 2 \"$peal\" tune")),
                MatchesRegex("peal: launch: rank [01]: " + one_host));
}

// In the middle of it: the others end, and the profile is what it was.
TEST_F(TuneOnHosts, ADeathIsTheEndForAll) {
    const Ran ran =
        run("(mkfifo $PEAL_HOSTS/said; " + launch("a,b", 3, "\"$peal\" tune -o " + path_) +
            " 2>$PEAL_HOSTS/said & launcher=$!; exec 3<$PEAL_HOSTS/said; "
            "while read -r line; do case $line in *' 2 of '*) break;; esac; done <&3; "
            "kill -KILL $(pgrep -o -x -f '[^ ]*peal tune .*'); "
            "cat <&3 >&2; wait $launcher)");
    EXPECT_EQ(ran.exit_code, 128 + SIGKILL);
    EXPECT_THAT(ran.err,
                AllOf(HasSubstr("was killed by signal 9 (Killed)\n"), Not(HasSubstr("left: "))));
    // Who died, and one of those who heard of it.
    const std::vector<std::string> lines = lines_of(ran.err);
    EXPECT_LE(std::count_if(lines.begin(), lines.end(),
                            [](const std::string& line) { return line.starts_with("peal: "); }),
              2)
        << ran.err;
    EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

}  // namespace hosts_tune_test
}  // namespace peal::test
