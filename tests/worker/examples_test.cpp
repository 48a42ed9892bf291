// SPDX-License-Identifier: Apache-2.0
// The programs in examples/worker/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include <nlohmann/json.hpp>

#include "support/patterns.hpp"
#include "worker/example.hpp"
#include "worker/kit.hpp"

namespace peal::worker::test {
namespace examples_test {

using ::testing::HasSubstr;

std::string lines_with_ranks(int nranks, const std::string& end) {
    std::string lines;
    for (int rank = 0; rank < nranks; ++rank) {
        lines += "rank " + std::to_string(rank) + ": " + end + "\n";
    }
    return lines;
}

// Sums are rounded in another order than the reference's.
std::string without_differences(const std::string& text) {
    return peal::test::replaced(text, "difference [0-9.e-]+,", "difference <small>,");
}

class WorkerExamples : public ::testing::TestWithParam<int> {
protected:
    void SetUp() override {
        if (!can_fork()) GTEST_SKIP();
    }
    static ExampleRun drive(const std::string& example, std::vector<std::string> more = {}) {
        std::vector<std::string> arguments = {"-p", "a2a3sim", "-d",
                                              "0-" + std::to_string(GetParam() - 1)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        ExampleRun ran = run_example(example, arguments);
        EXPECT_EQ(ran.exit_code, 0);
        EXPECT_EQ(ran.err, "");
        return ran;
    }
};
INSTANTIATE_TEST_SUITE_P(Ranks, WorkerExamples, ::testing::Values(2, 4, 8));

// Their numbers are whole and small: no rounding.
TEST_P(WorkerExamples, RingAllreduceIsGolden) {
    EXPECT_EQ(drive("ring_allreduce").out,
              lines_with_ranks(GetParam(), "largest difference 0, right"));
}

TEST_P(WorkerExamples, CollectivesAreGolden) {
    EXPECT_EQ(drive("collectives").out,
              "ring allreduce: largest difference 0, right\n"
              "mesh allreduce: largest difference 0, right\n"
              "mesh reduce_scatter: largest difference 0, right\n"
              "mesh allgather: largest difference 0, right\n"
              "mesh broadcast: largest difference 0, right\n"
              "mesh all_to_all: largest difference 0, right\n");
}

TEST_P(WorkerExamples, OverlappingDomainsDoNotDisturbEachOther) {
    const int nranks = GetParam(), middle = nranks / 2;
    std::string there, back;
    for (int device = 0; device <= middle; ++device) there += " " + std::to_string(device);
    for (int device = middle; device < nranks; ++device) back += " " + std::to_string(device);
    EXPECT_EQ(drive("overlapping_domains").out,
              "there, devices" + there + ": largest difference 0, right\n" +  //
                  "back, devices" + back + " 0: largest difference 0, right\n" + "device " +
                  std::to_string(middle) + " is rank " + std::to_string(middle) +
                  " there and rank 0 back\n");
}

TEST_P(WorkerExamples, FeedForwardIsWhatOneRankWouldCompute) {
    EXPECT_EQ(without_differences(drive("feed_forward").out),
              lines_with_ranks(GetParam(), "largest difference <small>, right"));
}

TEST_P(WorkerExamples, EveryTokenComesBackFromItsExpert) {
    const std::string out = without_differences(drive("experts").out);
    const std::string line(
        "expert ([0-9]+) answered ([0-9]+) tokens; rank ([0-9]+): largest "
        "difference <small>, right\n");
    int lines = 0, tokens = 0;
    for (const std::vector<std::string>& match : peal::test::matches(out, line)) {
        tokens += std::stoi(match[2]);
        ++lines;
    }
    EXPECT_EQ(lines, GetParam()) << out;
    EXPECT_EQ(tokens, 24 * GetParam()) << out;
}

TEST_P(WorkerExamples, TheTourIsRight) {
    const std::string tasks = "task [0-9]+ 'scale' was not run, because task [0-9]+ 'read' failed";
    EXPECT_THAT(drive("tour").out,
                ::testing::MatchesRegex(tasks + ": no such file\n" + std::to_string(GetParam()) +
                                        " ranks: all as expected\n"));
}

TEST_P(WorkerExamples, TimingsAndTraceHaveEveryPartOfTheTask) {
    const std::string file =
        (std::filesystem::temp_directory_path() /
         ("peal-trace-" + std::to_string(getpid()) + "-" + std::to_string(GetParam()) + ".json"))
            .string();
    const std::string ranks = std::to_string(GetParam()) + " ranks";
    EXPECT_THAT(drive("ring_allreduce", {"--timings", "--trace", file}).out,
                HasSubstr("     1  allreduce  " + ranks + " "));

    const nlohmann::json trace = nlohmann::json::parse(std::ifstream(file));
    std::filesystem::remove(file);
    int parts = 0;
    for (const nlohmann::json& event : trace.at("traceEvents")) {
        if (event.at("ph") == "X" && event.at("name") == "allreduce") ++parts;
    }
    EXPECT_EQ(parts, GetParam());
}

// ---- command lines

TEST(WorkerExampleDevices, AreRefusedBeforeAnythingIsStarted) {
    const std::string hint = "; write for example 0-3 or 0,2,4\n";
    const std::vector<std::pair<std::string, std::string>> cases = {
        {"", "expected 2..16 devices, found 0"},
        {"0", "expected 2..16 devices, found 1"},
        {"0-16", "expected 2..16 devices, found 17"},
        {"3-1", "the range 3-1 runs backwards"},
        {"0,0", "device 0 appears twice"},
        {"0-2,1", "device 1 appears twice"},
        {"0,x", "'x' is not a device number (0..1023)"},
        {"0-", "'' is not a device number (0..1023)"},
        {"0,,1", "'' is not a device number (0..1023)"},
        {"0,99999999999", "'99999999999' is not a device number (0..1023)"},
    };
    for (const auto& [devices, why] : cases) {
        const ExampleRun ran = run_example("ring_allreduce", {"-d", devices});
        EXPECT_EQ(ran.exit_code, 2);
        EXPECT_EQ(ran.out, "");
        EXPECT_EQ(ran.err, "./ring_allreduce: devices '" + devices + "': " + why + hint);
    }
}

TEST(WorkerExampleDevices, AreRefusedByEveryDriver) {
    for (const std::string example :
         {"collectives", "overlapping_domains", "feed_forward", "experts", "tour"}) {
        for (const std::string devices : {"", "0", "0-16"}) {
            const ExampleRun ran = run_example(example, {"-d", devices});
            EXPECT_EQ(ran.exit_code, 2) << example;
            EXPECT_EQ(ran.out, "");
            EXPECT_THAT(ran.err, HasSubstr("expected 2..16 devices, found "));
        }
    }
}

TEST(WorkerExampleDevices, HaveAnyNumbers) {
    if (!can_fork()) GTEST_SKIP();
    const ExampleRun ran = run_example("ring_allreduce", {"-d", "5-6,9"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.out, lines_with_ranks(3, "largest difference 0, right"));
}

TEST(WorkerExamplePlatform, MustBeKnown) {
    const ExampleRun ran = run_example("ring_allreduce", {"-p", "a9", "-d", "0-1"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("there is no platform 'a9'"));
}

TEST(WorkerExampleOptions, MustBeKnown) {
    const ExampleRun ran = run_example("ring_allreduce", {"--fast"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("--fast"));
}

TEST(WorkerExampleTrace, ThatCannotBeWrittenIsAnError) {
    if (!can_fork()) GTEST_SKIP();
    const ExampleRun ran =
        run_example("ring_allreduce", {"-d", "0-1", "--trace", "/no/such/directory/out.json"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.err, HasSubstr("/no/such/directory/out.json"));
}

// ---- faults; docs/worker.md has the whole reports, and a test

TEST(WorkerExampleFaults, AreReported) {
    if (!can_fork()) GTEST_SKIP();
    const ExampleRun deadlock = run_example("faults", {"deadlock"});
    EXPECT_EQ(deadlock.exit_code, 1);
    EXPECT_THAT(deadlock.out, HasSubstr("deadlock: no device can go on\n"));
    const ExampleRun refused = run_example("faults", {"refused"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.out, HasSubstr("kernel hasty on 2 ranks is not proved: data race: "));
    const ExampleRun death = run_example("faults", {"death"});
    EXPECT_EQ(death.exit_code, 0);
    EXPECT_THAT(death.out, HasSubstr("rank 1 was killed by signal 9 (Killed) in task 1 'early'"));
    EXPECT_THAT(death.out, ::testing::EndsWith("after restart() they meet\n"));
}

TEST(WorkerExampleFaults, HaveNames) {
    const ExampleRun ran = run_example("faults", {"flood"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err, "usage: faults deadlock|death|refused\n");
}

}  // namespace examples_test
}  // namespace peal::worker::test
