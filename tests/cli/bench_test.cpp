// SPDX-License-Identifier: Apache-2.0
// peal bench and peal tune. Times are not looked at.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "comm/profile.hpp"
#include "peal/collective.hpp"
#include "support/patterns.hpp"

namespace peal::test {
namespace bench_test {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// While it lives, `peal` sees this variable.
class Environment {
public:
    Environment(const char* name, const std::string& value) : name_(name) {
        setenv(name, value.c_str(), 1);
    }
    ~Environment() { unsetenv(name_); }

private:
    const char* name_;
};

std::vector<std::vector<std::string>> rows_of(const std::string& table) {
    std::vector<std::vector<std::string>> rows;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        rows.emplace_back();
        for (std::string word; words >> word;) rows.back().push_back(word);
    }
    return rows;
}

// Collective, ranks, bytes and recipe of each measurement; the times must be numbers.
std::vector<std::string> measured(const std::vector<std::string>& arguments) {
    const Ran ran = peal(arguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, EndsWith("\nprofile: built in\n"));
    auto rows = rows_of(ran.out);
    rows.erase(rows.begin());
    rows.pop_back();
    std::vector<std::string> seen;
    for (const auto& row : rows) {
        EXPECT_EQ(row.size(), 7u) << ran.out;
        seen.push_back(row[0] + " " + row[1] + " " + row[2] + " " + row[3]);
        EXPECT_EQ(replaced(row[4], "[0-9]+\\.[0-9]{2}", "<time>"), "<time>");
        EXPECT_LE(std::stod(row[5]), std::stod(row[4]));
    }
    return seen;
}

std::string expected(CollectiveKind kind, int nranks, std::uint64_t bytes, std::uint64_t count,
                     bool on_window = false) {
    const comm::Table table = comm::built_in_table();
    const comm::Rule& rule = *table.choices(kind, on_window, 4 * count, nranks).front();
    return fmt::format("{} {} {} {}", name(kind), nranks, bytes, rule.recipe);
}

TEST(PealBench, SaysWhichRecipeCarriedTheCalls) {
    const Environment built_in("PEAL_PROFILE", "");
    using enum CollectiveKind;
    EXPECT_THAT(measured({"bench", "--bytes", "8,4096,4194304"}),
                ElementsAre(expected(allreduce, 2, 8, 2), expected(allreduce, 2, 4096, 1024),
                            expected(allreduce, 2, 4194304, 1048576)));
    EXPECT_THAT(measured({"bench", "allgather", "--window", "--bytes", "4096"}),
                ElementsAre(expected(allgather, 2, 4096, 1024, true)));
}

TEST(PealBench, MeasuresEveryCollectiveInWholeBlocks) {
    const Environment built_in("PEAL_PROFILE", "");
    std::vector<std::string> all;
    for (const CollectiveKind kind : kCollectives) {
        const bool is_barrier = kind == CollectiveKind::barrier;
        all.push_back(expected(kind, 3, is_barrier ? 0 : 12, 1));
    }
    EXPECT_EQ(measured({"bench", "all", "-n", "3", "--bytes", "10"}), all);
    EXPECT_THAT(measured({"bench", "scatter", "--bytes", "9,17"}),
                ElementsAre(expected(CollectiveKind::scatter, 2, 16, 2),
                            expected(CollectiveKind::scatter, 2, 24, 3)));
}

std::string refused(const std::vector<std::string>& arguments) {
    const Ran ran = peal(arguments);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.out, "");
    return ran.err;
}

TEST(PealBench, BadUsageSaysWhatWasExpected) {
    EXPECT_EQ(refused({"bench", "allsum"}),
              "peal: bench: there is no collective 'allsum'; there are allreduce, reduce_scatter, "
              "allgather, broadcast, all_to_all, all_to_all_v, allgather_v, reduce_scatter_v, "
              "reduce, gather, scatter, scan, exscan, barrier, and 'all'\n");
    EXPECT_EQ(refused({"bench", "-n", "0"}), "peal: bench: -n: expected 1..1024 ranks, found 0\n");
    for (const std::string bytes : {"0", "x", "4k", "1099511627777"}) {
        EXPECT_EQ(refused({"bench", "--bytes", bytes}),
                  "peal: bench: --bytes: expected numbers from 1 to 1099511627776, found '" +
                      bytes + "'\n");
    }
    EXPECT_EQ(refused({"bench", "gather", "--window"}),
              "peal: bench: --window: gather is not called on windows\n");
    EXPECT_THAT(refused({"bench", "--bytes", "1099511627776"}),
                HasSubstr("peal: the buffers of 2 ranks need 4.0 TiB, but this machine has "));
}

TEST(PealTune, WritesAProfileThatCommunicatorsUse) {
    const TemporaryFile here("placeholder", "");
    const std::string path = here.directory() + "/made/on/demand/profile.json";
    const Ran tuned = peal({"tune", "-n", "2,3", "--quick", "-o", path});
    ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
    EXPECT_THAT(tuned.out,
                EndsWith("\nwritten to " + path + "\nuse it with PEAL_PROFILE=" + path + "\n"));

    // It parses, which it does only if it is complete, and each number of ranks has its own rules.
    const comm::Table table = comm::table_from_json(read_file(path), path);
    std::set<int> ranks;
    for (const comm::Rule& rule : table.rules) ranks.insert(rule.max_ranks);
    EXPECT_EQ(ranks, (std::set<int>{2, kMaxRanks}));
    // What is between hosts is not measured. A header, a gap and two last lines are none.
    const auto measured = std::count_if(table.rules.begin(), table.rules.end(), [](const auto& r) {
        return r.where != comm::Where::hosts;
    });
    EXPECT_EQ(rows_of(tuned.out).size(), static_cast<std::size_t>(measured) + 4);
    const auto files = std::filesystem::directory_iterator(here.directory() + "/made/on/demand");
    EXPECT_EQ(std::distance(begin(files), end(files)), 1) << "something else was left";

    const Environment profile("PEAL_PROFILE", path);
    const Ran bench = peal({"bench", "all", "-n", "2", "--bytes", "64"});
    EXPECT_EQ(bench.exit_code, 0) << bench.err;
    EXPECT_THAT(bench.out, EndsWith("\nprofile: " + path + "\n"));
    const auto rows = rows_of(bench.out);
    for (std::size_t i = 0; i < kCollectives.size(); ++i) {
        const std::uint64_t bytes = kCollectives[i] == CollectiveKind::barrier ? 0 : 64;
        EXPECT_EQ(rows[i + 1][3], table.choices(kCollectives[i], false, bytes, 2).front()->recipe);
    }
}

TEST(PealTune, WritesWhereProgramsLook) {
    const TemporaryFile home("placeholder", "");
    const Environment config("XDG_CONFIG_HOME", home.directory());
    const std::string path = home.directory() + "/peal/profile.json";
    // What an earlier run has found between hosts stays.
    comm::Table before = comm::built_in_table();
    comm::Rule between_hosts{CollectiveKind::barrier, comm::Where::hosts, 4, comm::Rule::kAny,
                             "mesh"};
    before.rules.push_back(between_hosts);
    std::filesystem::create_directory(home.directory() + "/peal");
    std::ofstream(path) << comm::to_json(before);
    const Ran tuned = peal({"tune", "-n", "2", "--quick"});
    ASSERT_EQ(tuned.exit_code, 0) << tuned.err;
    const comm::Table table = comm::table_from_json(read_file(path), path);
    EXPECT_THAT(table.rules, Contains(between_hosts));
    EXPECT_THAT(tuned.out, EndsWith("\nwritten to " + path + "\n"));
    EXPECT_THAT(tuned.err,
                StartsWith("the profile will be written to " + path + "\n2 ranks,  1 of "));
    EXPECT_THAT(peal({"bench", "barrier"}).out, EndsWith("\nprofile: " + path + "\n"));
}

TEST(PealTune, BadUsageIsToldBeforeAnythingIsMeasured) {
    for (const std::string ranks : {"1", "x", "1025", "2..4"}) {
        EXPECT_EQ(
            refused({"tune", "-n", ranks}),
            "peal: tune: -n: expected numbers of ranks from 2 to 1024, found '" + ranks + "'\n");
    }
    EXPECT_EQ(refused({"tune", "--quick", "-o", "/"}),
              "peal: cannot write the profile /: it is a directory\n");
    EXPECT_EQ(refused({"tune", "--quick", "-o", "/dev/null/profile"}),
              "peal: cannot write the profile /dev/null/profile: Not a directory\n");
}

}  // namespace bench_test
}  // namespace peal::test
