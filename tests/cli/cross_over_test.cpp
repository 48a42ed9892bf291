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
            comm::Where::staging,
            {100, 10'000, 1'000'000},
            {{"push", 0, false}, {"pipeline", 1 << 18, true}, {"pipeline", 1 << 20, true}},
            std::move(seconds)};
}

TEST(CrossOver, TheLeadChangesHalfWay) {
    EXPECT_THAT(rules_from(survey({{1, 5, kNever}, {2, 4, 9}, {3, 6, 7}}), {4}),
                ElementsAre(rule(1000, "push"), rule(100'000, "pipeline", 1 << 18),
                            rule(comm::Rule::kAny, "pipeline", 1 << 20)));
}

TEST(CrossOver, OneThatIsAlwaysAheadNeedsOneRule) {
    EXPECT_THAT(rules_from(survey({{9, 9, kNever}, {1, 2, 3}, {2, 3, 4}}), {4}),
                ElementsAre(rule(comm::Rule::kAny, "pipeline", 1 << 18)));
}

TEST(CrossOver, NoiseDoesNotChangeTheLead) {
    EXPECT_THAT(rules_from(survey({{9, 9, kNever}, {1, 1.04, 3}, {2, 1, 3.01}}), {4}),
                ElementsAre(rule(comm::Rule::kAny, "pipeline", 1 << 18)));
}

TEST(CrossOver, WhatIsAheadAtTheEndMayNotTakeAnySize) {
    EXPECT_THAT(rules_from(survey({{1, 2, 3}, {2, 3, 5}, {3, 4, 4}}), {4}),
                ElementsAre(rule(1'000'000, "push"), rule(comm::Rule::kAny, "pipeline", 1 << 20)));
}

// Where private buffers cannot be reached, a rule after it takes any size.
TEST(CrossOver, WhatReachesIsFollowedByWhatWorksEverywhere) {
    Survey reaching = survey({{1, 2, 3}, {2, 3, 5}, {3, 4, 4}});
    reaching.candidates[0] = {"mesh", 0, false, true};
    comm::Rule reach = rule(comm::Rule::kAny, "mesh");
    reach.reach = true;
    EXPECT_THAT(rules_from(reaching, {4}),
                ElementsAre(reach, rule(comm::Rule::kAny, "pipeline", 1 << 20)));
}

// ---- between hosts

comm::Rule between(int ranks, int hosts, int per_host, const std::string& recipe) {
    comm::Rule rule{kKind, comm::Where::hosts, ranks, comm::Rule::kAny, recipe};
    rule.max_hosts = hosts;
    rule.max_per_host = per_host;
    return rule;
}

TEST(CrossOver, RulesBetweenHostsNameHostsAndRanksOnEach) {
    Survey hosts = survey({{9, 9, kNever}, {1, 2, 3}, {2, 3, 4}});
    hosts.where = comm::Where::hosts;
    comm::Rule expected = between(6, 2, 4, "pipeline");
    expected.stage_bytes = 1 << 18;
    EXPECT_THAT(rules_from(hosts, {6, 2, 4}), ElementsAre(expected));
}

TEST(CrossOver, RulesForFewerRanksAndHostsGoBeforeThoseThatTakeMore) {
    const comm::Rule here = rule(comm::Rule::kAny, "pull"),
                     any = between(1024, 1024, 1024, "hosts"), four = between(4, 2, 2, "push"),
                     four_apart = between(4, 4, 1, "leaders"), two = between(2, 2, 1, "push");
    comm::Table table{"", {here, any}};
    for (const comm::Rule& measured : {four_apart, two, four}) put_between_hosts({measured}, table);
    EXPECT_THAT(table.rules, ElementsAre(here, two, four, four_apart, any));
}

TEST(CrossOver, WhatIsMeasuredAgainReplacesTheRulesForTheSameHosts) {
    const comm::Rule before = between(4, 2, 2, "push"), now = between(4, 2, 2, "leaders"),
                     other = between(2, 2, 1, "push");
    comm::Table table{"", {before, other}};
    put_between_hosts({now, now}, table);
    EXPECT_THAT(table.rules, ElementsAre(other, now, now));
}

}  // namespace cross_over_test
}  // namespace peal::cli
