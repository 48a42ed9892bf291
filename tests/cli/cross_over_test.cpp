// SPDX-License-Identifier: Apache-2.0
#include "cli/cross_over.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace peal::cli {
namespace cross_over_test {

using ::testing::ElementsAre;

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr CollectiveKind kKind = CollectiveKind::allreduce;

comm::Rule rule(std::uint64_t max_bytes, const std::string& recipe, std::uint64_t stage = 0) {
    return {kKind, comm::Where::staging, 4, max_bytes, recipe, stage, false};
}

Survey survey(std::vector<std::vector<double>> seconds) {
    return {kKind,
            false,
            {100, 10'000, 1'000'000},
            {{"push", 0, false}, {"pipeline", 1 << 18, true}, {"pipeline", 1 << 20, true}},
            std::move(seconds)};
}

TEST(CrossOver, TheLeadChangesHalfWay) {
    EXPECT_THAT(rules_from(survey({{1, 5, kNever}, {2, 4, 9}, {3, 6, 7}}), 4),
                ElementsAre(rule(1000, "push"), rule(100'000, "pipeline", 1 << 18),
                            rule(comm::Rule::kAny, "pipeline", 1 << 20)));
}

TEST(CrossOver, OneThatIsAlwaysAheadNeedsOneRule) {
    EXPECT_THAT(rules_from(survey({{9, 9, kNever}, {1, 2, 3}, {2, 3, 4}}), 4),
                ElementsAre(rule(comm::Rule::kAny, "pipeline", 1 << 18)));
}

TEST(CrossOver, NoiseDoesNotChangeTheLead) {
    EXPECT_THAT(rules_from(survey({{9, 9, kNever}, {1, 1.04, 3}, {2, 1, 3.01}}), 4),
                ElementsAre(rule(comm::Rule::kAny, "pipeline", 1 << 18)));
}

TEST(CrossOver, WhatIsAheadAtTheEndMayNotTakeAnySize) {
    EXPECT_THAT(rules_from(survey({{1, 2, 3}, {2, 3, 5}, {3, 4, 4}}), 4),
                ElementsAre(rule(1'000'000, "push"), rule(comm::Rule::kAny, "pipeline", 1 << 20)));
}

// Where private buffers cannot be reached, a rule after it takes any size.
TEST(CrossOver, WhatReachesIsFollowedByWhatWorksEverywhere) {
    Survey reaching = survey({{1, 2, 3}, {2, 3, 5}, {3, 4, 4}});
    reaching.candidates[0] = {"mesh", 0, false, true};
    comm::Rule reach = rule(comm::Rule::kAny, "mesh");
    reach.reach = true;
    EXPECT_THAT(rules_from(reaching, 4),
                ElementsAre(reach, rule(comm::Rule::kAny, "pipeline", 1 << 20)));
}

}  // namespace cross_over_test
}  // namespace peal::cli
