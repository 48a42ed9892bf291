// SPDX-License-Identifier: Apache-2.0
// The linear method, the exploration and a naive enumeration of all interleavings give the same
// answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/naive.hpp"
#include "check/possible.hpp"
#include "check/random_programs.hpp"

namespace peal {
namespace crosscheck_test {

using namespace test;  // NOLINT
using Kinds = std::set<ViolationKind>;

constexpr std::size_t kMostStates = 1500;

Kinds kinds_of(const CheckReport& report) {
    Kinds kinds;
    for (const Violation& violation : report.violations) kinds.insert(violation.kind);
    return kinds;
}

// Where ranks race, what they read is anybody's guess and no method need say more.
Kinds causes(Kinds kinds) {
    if (kinds.contains(ViolationKind::data_race) || kinds.contains(ViolationKind::pipe_hazard)) {
        kinds.erase(ViolationKind::wrong_result);
        kinds.erase(ViolationKind::unwritten_read);
    }
    // A flag that is set twice has no meaning from there on.
    if (kinds.contains(ViolationKind::flag)) return {ViolationKind::flag};
    return kinds;
}

std::string listing(const RandomProgram& program) {
    std::string text;
    for (const Plan& plan : program.plans.list()) text += to_text(plan);
    return text;
}

struct Tally {
    int linear = 0, explored = 0, proved = 0, violated = 0;
    std::map<ViolationKind, int> kinds;
};

void compare(std::uint64_t seed, const RandomProgram& program, Tally& tally) {
    const Meaning* meaning = program.has_meaning ? &program.meaning : nullptr;
    const auto truth = Naive(program.plans.list(), meaning, program.calls).run(kMostStates);
    if (!truth) return;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", calls " + std::to_string(program.calls) +
                 "\n" + listing(program));
    CheckOptions options;
    options.calls = program.calls;
    options.max_violations = 100;
    const std::vector<CheckStage> stages = {{&program.plans.list(), meaning, {}}};

    const CheckReport report = check(stages, options);
    EXPECT_EQ(report.verdict == Verdict::violated, !truth->empty());
    if (report.method == CheckMethod::linear) {
        EXPECT_EQ(causes(kinds_of(report)), causes(*truth));
        ++tally.linear;
    } else {
        ++tally.explored;
    }
    (report.verdict == Verdict::proved ? tally.proved : tally.violated)++;

    options.explore = true;
    const CheckReport explored = check(stages, options);
    EXPECT_EQ(explored.verdict, report.verdict);
    for (const CheckReport* each : {&report, &explored}) {
        for (const Violation& violation : each->violations) {
            EXPECT_TRUE(truth->contains(violation.kind) || truth->contains(ViolationKind::flag))
                << violation.message;
            if (!program.has_pipes) expect_possible(stages, violation);
            ++tally.kinds[violation.kind];
        }
    }
}

// Enough programs of every sort were met for the comparison to mean something.
void expect_spread(const Tally& tally, const std::vector<ViolationKind>& wanted) {
    EXPECT_GT(tally.proved, 5);
    EXPECT_GT(tally.violated, 30);
    for (const ViolationKind kind : wanted) {
        EXPECT_GT(tally.kinds.contains(kind) ? tally.kinds.at(kind) : 0, 0) << name(kind);
    }
}

TEST(CrossCheck, MonotonePrograms) {
    Tally tally;
    for (std::uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed)
        compare(seed, RandomWriter(seed, true).write(), tally);
    EXPECT_GT(tally.linear, 60);
    expect_spread(tally, {ViolationKind::data_race, ViolationKind::deadlock,
                          ViolationKind::stale_signal, ViolationKind::unwritten_read,
                          ViolationKind::wrong_result, ViolationKind::signal_state});
}

TEST(CrossCheck, OtherPrograms) {
    Tally tally;
    for (std::uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed)
        compare(seed, RandomWriter(seed, false).write(), tally);
    EXPECT_GT(tally.explored, 60);
    expect_spread(tally, {ViolationKind::data_race, ViolationKind::deadlock,
                          ViolationKind::unwritten_read, ViolationKind::wrong_result});
}

TEST(CrossCheck, PipePrograms) {
    Tally tally;
    for (std::uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed) {
        compare(seed, RandomPipeWriter(seed).write(), tally);
    }
    expect_spread(tally, {ViolationKind::data_race, ViolationKind::pipe_hazard, ViolationKind::flag,
                          ViolationKind::unwritten_read});
}

TEST(CrossCheck, GatheringPrograms) {
    Tally tally;
    for (std::uint64_t seed = 0; seed < 120 && !HasFailure(); ++seed) {
        compare(seed, RandomGatherWriter(seed).write(), tally);
    }
    EXPECT_GT(tally.proved, 30);
    expect_spread(tally, {ViolationKind::data_race, ViolationKind::deadlock,
                          ViolationKind::unwritten_read, ViolationKind::wrong_result});
}

}  // namespace crosscheck_test
}  // namespace peal
