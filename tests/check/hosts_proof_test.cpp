// SPDX-License-Identifier: Apache-2.0
// Every recipe that knows hosts is proved for any number of calls, however ranks are spread over
// hosts, where a put to another host is complete only after a fence; and its fences are needed.
#include <gtest/gtest.h>

#include <algorithm>

#include "check/call_sequence.hpp"
#include "peal/compile.hpp"
#include "support/layouts.hpp"

namespace peal {
namespace hosts_proof_test {

using test::HostCase;
using test::Hosts;

CheckReport report_of(const Collective& collective, const std::vector<Plan>& plans) {
    checker::CallSequence calls;
    calls.add(collective, plans);
    return check(calls.stages());
}

// "", or what is wrong.
std::string fault_of(const Collective& collective) {
    const auto nranks = static_cast<int>(collective.hosts.size());
    const CheckReport report = report_of(collective, compile(collective, nranks));
    if (report.verdict == Verdict::proved && report.any_calls && report.any_order) return "";
    return report.violations.empty() ? report.why_explored + report.bound + report.why_not_any
                                     : report.violations.front().message;
}

bool is_chunked(const HostCase& the) {
    return collectives::entry(the.kind, the.recipe).use == collectives::TargetUse::stages_in_ring;
}

class HostsProof : public testing::TestWithParam<HostCase> {};

// Chunks of an element, of a few, and of lines; enough of them to fill every slot again.
TEST_P(HostsProof, HoldsForAnyNumberOfCalls) {
    for (const Hosts& hosts : test::layouts()) {
        const std::uint64_t p = hosts.size();
        for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, p + 1, 13 * p + 5}) {
            for (const std::uint64_t stage : {std::uint64_t{0}, 48 * p, 1500 * p}) {
                if (stage != 0 && !is_chunked(GetParam())) continue;
                Collective collective = test::collective_of(GetParam(), hosts, count);
                collective.stage_bytes = stage;
                EXPECT_EQ(fault_of(collective), "")
                    << test::text_of(hosts) << ", " << count << " elements, " << stage;
            }
        }
    }
}

TEST_P(HostsProof, HoldsInPlace) {
    if (!offers(GetParam().kind, GetParam().recipe, Placement::in_place)) return;
    for (const Hosts& hosts : {Hosts{0, 0, 1, 1}, Hosts{0, 1, 1, 1}, Hosts{0, 1, 2, 0, 1}}) {
        Collective collective = test::collective_of(GetParam(), hosts, 29);
        collective.placement = Placement::in_place;
        collective.stage_bytes = 80 * hosts.size();
        EXPECT_EQ(fault_of(collective), "") << test::text_of(hosts);
    }
}

bool is_fence(const Instruction& instruction) {
    return std::holds_alternative<Fence>(instruction.action);
}

// Whoever puts nothing to another host has nothing to fence.
bool puts_before(const Plan& plan, std::size_t fence) {
    for (std::size_t i = fence; i-- > 0 && !is_fence(plan.instructions[i]);) {
        if (plan.instructions[i].group != 0) return true;
    }
    return false;
}

// Each fence is there for the notify behind it: without any one of them, somebody may read what has
// not come yet, and the checker says so.
TEST_P(HostsProof, NeedsEachFence) {
    for (const Hosts& hosts : {Hosts{0, 1}, Hosts{0, 0, 1, 1}, Hosts{0, 1, 2}}) {
        Collective collective = test::collective_of(GetParam(), hosts, 3 * hosts.size());
        std::fill(collective.counts.begin(), collective.counts.end(), 3);
        collective.stage_bytes = 512 * hosts.size();
        const std::vector<Plan> plans = compile(collective, static_cast<int>(hosts.size()));
        std::size_t fences = 0;
        for (const Plan& plan : plans) {
            for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
                if (!is_fence(plan.instructions[i]) || !puts_before(plan, i)) continue;
                ++fences;
                std::vector<Plan> broken = plans;
                auto& list = broken[static_cast<std::size_t>(plan.rank)].instructions;
                list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
                const CheckReport report = report_of(collective, broken);
                ASSERT_EQ(report.verdict, Verdict::violated)
                    << test::text_of(hosts) << ", rank " << plan.rank << ", instruction " << i;
            }
        }
        EXPECT_EQ(fences > 0, GetParam().kind != CollectiveKind::barrier);
    }
}

// Between hosts a rank puts from its own memory, later, and reads nothing.
TEST_P(HostsProof, NobodyReadsFromAnotherHost) {
    for (const Hosts& hosts : test::layouts()) {
        const Collective collective = test::collective_of(GetParam(), hosts, 40);
        for (const Plan& plan : compile(collective, static_cast<int>(hosts.size()))) {
            const auto is_far = [&](const Range& range) {
                return hosts[static_cast<std::size_t>(range.rank)] !=
                       hosts[static_cast<std::size_t>(plan.rank)];
            };
            for (const Instruction& each : plan.instructions) {
                if (const auto* reduce = std::get_if<Reduce>(&each.action)) {
                    EXPECT_FALSE(is_far(reduce->dst));
                    for (const Range& source : reduce->src) EXPECT_FALSE(is_far(source));
                }
                const auto* copy = std::get_if<Copy>(&each.action);
                if (copy == nullptr) continue;
                EXPECT_FALSE(is_far(copy->src)) << to_text(each, plan);
                EXPECT_EQ(is_far(copy->dst), each.group != 0) << to_text(each, plan);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, HostsProof, testing::ValuesIn(test::host_cases()),
                         [](const auto& info) {
                             return std::string(name(info.param.kind)) + "_" + info.param.recipe;
                         });

}  // namespace hosts_proof_test
}  // namespace peal
