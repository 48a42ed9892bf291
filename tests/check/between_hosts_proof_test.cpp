// SPDX-License-Identifier: Apache-2.0
// Plans as they run between hosts (plan/between_hosts.hpp), where a put to another host is complete
// only after a fence: each recipe is proved for any number of calls, however ranks are spread over
// hosts, and its fences are needed; and whatever program is right is right there.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "check/call_sequence.hpp"
#include "check/crosscheck/random_programs.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "plan/between_hosts.hpp"
#include "support/layouts.hpp"
#include "support/placement_suffix.hpp"

namespace peal {
namespace between_hosts_proof_test {

using test::HostCase;
using test::Hosts;

struct Case {
    HostCase what;
    Placement placement;
};

// What a communicator may take between hosts, by its rules or a profile: any recipe, on private
// memory. Those that know hosts stay as they are, and are proved in hosts_proof_test.cpp.
std::vector<Case> cases() {
    std::vector<Case> list;
    for (const CollectiveKind kind : kCollectives) {
        for (const auto& entry : collectives::entries(kind)) {
            for (const Placement placement : {Placement::separate, Placement::in_place}) {
                if (kind == CollectiveKind::barrier && placement != Placement::separate) continue;
                if (!offers(kind, entry.row.name, placement)) continue;
                list.push_back({{kind, std::string(entry.row.name)}, placement});
            }
        }
    }
    return list;
}

Collective collective_of(const Case& the, const Hosts& hosts, std::uint64_t count) {
    Collective collective = test::collective_of(the.what, hosts, count);
    collective.placement = the.placement;
    return collective;
}

std::vector<Plan> plans_of(const Collective& collective) {
    const auto nranks = static_cast<int>(collective.hosts.size());
    return plan::between_hosts(compile(collective, nranks), collective.hosts);
}

CheckReport report_of(const Collective& collective, const std::vector<Plan>& plans) {
    checker::CallSequence calls;
    calls.add(collective, plans);
    return check(calls.stages());
}

// "", or what is wrong.
std::string fault_of(const Collective& collective) {
    const CheckReport report = report_of(collective, plans_of(collective));
    if (report.verdict == Verdict::proved && report.any_calls) return "";
    return report.violations.empty() ? report.why_explored + report.bound + report.why_not_any
                                     : report.violations.front().message;
}

bool is_fence(const Instruction& instruction) {
    return std::holds_alternative<Fence>(instruction.action);
}

class BetweenHostsProof : public testing::TestWithParam<Case> {};

TEST_P(BetweenHostsProof, HoldsForAnyNumberOfCalls) {
    for (const Hosts& hosts : test::layouts()) {
        const std::uint64_t p = hosts.size();
        for (const std::uint64_t count : {std::uint64_t{1}, 4 * p + 3}) {
            EXPECT_EQ(fault_of(collective_of(GetParam(), hosts, count)), "")
                << test::text_of(hosts) << ", " << count << " elements";
        }
    }
}

TEST_P(BetweenHostsProof, HoldsForSeveralChunks) {
    for (const Hosts& hosts : {Hosts{0, 1}, Hosts{0, 0, 1, 1}, Hosts{0, 1, 2, 0}}) {
        Collective collective = collective_of(GetParam(), hosts, 13 * hosts.size() + 5);
        collective.stage_bytes = 512 * hosts.size();
        EXPECT_EQ(fault_of(collective), "") << test::text_of(hosts);
    }
}

// Without any one of its fences somebody may read what has not come yet. In `pairwise`, which no
// rule takes between hosts, word of a later fence goes round in time; no rank sees that in its own
// plan.
TEST_P(BetweenHostsProof, NeedsEachFence) {
    if (GetParam().what.recipe == "pairwise") return;
    for (const Hosts& hosts : {Hosts{0, 1}, Hosts{0, 0, 1, 1}, Hosts{0, 1, 2}}) {
        Collective collective = collective_of(GetParam(), hosts, 3 * hosts.size());
        std::fill(collective.counts.begin(), collective.counts.end(), 3);
        collective.stage_bytes = 512 * hosts.size();
        const std::vector<Plan> plans = plans_of(collective);
        for (const Plan& plan : plans) {
            for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
                if (!is_fence(plan.instructions[i])) continue;
                std::vector<Plan> broken = plans;
                auto& list = broken[static_cast<std::size_t>(plan.rank)].instructions;
                list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
                EXPECT_EQ(report_of(collective, broken).verdict, Verdict::violated)
                    << test::text_of(hosts) << ", rank " << plan.rank << ", instruction " << i;
            }
        }
    }
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    return std::string(name(info.param.what.kind)) + "_" + info.param.what.recipe +
           test::suffix_of(info.param.placement);
}

INSTANTIATE_TEST_SUITE_P(All, BetweenHostsProof, testing::ValuesIn(cases()), case_name);

TEST(BetweenHosts, WhatKnowsHostsStaysAsItIs) {
    for (const HostCase& the : test::host_cases()) {
        for (const Hosts& hosts : test::layouts()) {
            const Collective collective = test::collective_of(the, hosts, 40);
            const std::vector<Plan> plans = compile(collective, static_cast<int>(hosts.size()));
            EXPECT_EQ(plan::between_hosts(plans, hosts), plans)
                << the.recipe << ", " << test::text_of(hosts);
        }
    }
}

// ---------------------------------------------------------------------------- any program

class AnyProgram : public testing::TestWithParam<test::Sort> {
protected:
    static constexpr int kPrograms = 1000;

    static Hosts random_hosts(std::mt19937& random, std::size_t nranks) {
        Hosts hosts;
        while (hosts.size() < nranks) hosts.push_back(static_cast<std::int64_t>(random() % 2));
        return hosts;
    }
    // Nothing if it is refused.
    static std::optional<CheckReport> report_of(const test::RandomProgram& program) {
        CheckOptions options;
        options.calls = program.calls;
        options.order = program.order;
        try {
            return check(program.list(), options);
        } catch (const Error&) {
            return std::nullopt;
        }
    }
};

// The verdict is what it was: fences are where somebody counts on what was put, and what is
// unordered with a put was unordered with it before.
TEST_P(AnyProgram, IsRightBetweenHostsWhereItIsRight) {
    int proved = 0, violated = 0, rewritten = 0, any_before = 0, any_after = 0;
    for (int seed = 0; seed < kPrograms; ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        test::RandomProgram program =
            test::random_program(GetParam(), static_cast<std::uint64_t>(seed));
        const auto before = report_of(program);
        if (!before) continue;
        const Hosts hosts = random_hosts(random, program.stages.front().plans.size());
        bool is_other = false;
        for (test::RandomStage& stage : program.stages) {
            const std::vector<Plan> plans = stage.plans;
            stage.plans = plan::between_hosts(plans, hosts);
            is_other = is_other || stage.plans != plans;
        }
        if (!is_other) continue;
        ++rewritten;
        const auto after = report_of(program);
        ASSERT_TRUE(after.has_value());
        ASSERT_EQ(after->verdict, before->verdict)
            << "seed " << seed << ", hosts " << test::text_of(hosts) << "\n"
            << listing(program);
        any_before += before->any_calls ? 1 : 0;
        any_after += after->any_calls ? 1 : 0;
        proved += before->verdict == Verdict::proved ? 1 : 0;
        violated += before->verdict == Verdict::violated ? 1 : 0;
    }
    EXPECT_GT(rewritten, kPrograms / 20);
    EXPECT_GT(proved, rewritten / 8);
    EXPECT_GT(violated, rewritten / 8);
    // In few programs what ranks know of each other settles later than the calls that are tried.
    EXPECT_GE(100 * any_after, 98 * any_before);
}

INSTANTIATE_TEST_SUITE_P(All, AnyProgram,
                         testing::Values(test::Sort::monotone, test::Sort::signals,
                                         test::Sort::crowds, test::Sort::gathers,
                                         test::Sort::sequences, test::Sort::lanes,
                                         test::Sort::rounds, test::Sort::held, test::Sort::turns),
                         [](const auto& info) { return test::name(info.param); });

}  // namespace between_hosts_proof_test
}  // namespace peal
