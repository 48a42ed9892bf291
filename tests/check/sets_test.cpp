// SPDX-License-Identifier: Apache-2.0
// Open recipes whose calls take several sets in turn: any number of calls, on one window.
#include <gtest/gtest.h>

#include <algorithm>

#include "check/call_sequence.hpp"
#include "peal/error.hpp"
#include "support/layouts.hpp"

namespace peal {
namespace sets_test {

// Of those that ask for hosts there are two.
std::vector<test::HostCase> open_recipes() {
    std::vector<test::HostCase> list = test::host_cases();
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) list.push_back({kind, std::string(recipe.name)});
    }
    std::erase_if(list, [](const test::HostCase& each) {
        return reuse_of(each.kind, each.recipe) == Reuse::at_once;
    });
    return list;
}

std::vector<Collective> open_ones(std::uint64_t count, int nranks, int sets) {
    test::Hosts hosts;
    for (int rank = 0; rank < nranks; ++rank) hosts.push_back(2 * rank < nranks ? 0 : 1);
    std::vector<Collective> list;
    for (const test::HostCase& each : open_recipes()) {
        list.push_back(test::collective_of(each, hosts, count));
        list.back().sets = sets;
    }
    return list;
}

std::string text_of(const Collective& collective, int nranks) {
    return std::string(name(collective.kind)) + " " + collective.recipe + ", " +
           std::to_string(nranks) + " ranks, " + std::to_string(collective.count) + " elements, " +
           std::to_string(collective.sets) + " sets";
}

void expect_any_number_of_calls_right(const Collective& collective, int nranks) {
    validate(collective, nranks);
    checker::CallSequence calls;
    calls.add(collective, compile(collective, nranks));
    ASSERT_EQ(calls.stages().size(), 1U);
    const CheckReport report = check(calls.stages());
    EXPECT_EQ(report.verdict, Verdict::proved) << text_of(collective, nranks);
    EXPECT_TRUE(report.any_calls) << text_of(collective, nranks) << ": " << report.why_not_any;
    EXPECT_EQ(report.method, CheckMethod::linear);
}

TEST(Sets, MakeAnyNumberOfCallsRight) {
    for (int nranks = 1; nranks <= 9; ++nranks) {
        for (const int sets : {2, 3}) {
            for (const std::uint64_t count : {1, 4 * nranks + 3}) {
                for (const Collective& collective : open_ones(count, nranks, sets)) {
                    expect_any_number_of_calls_right(collective, nranks);
                }
            }
        }
    }
}

TEST(Sets, MakeAnyNumberOfCallsRightHoweverRanksAreSpreadOverHosts) {
    for (const test::HostCase& each : open_recipes()) {
        if (!knows_hosts(each.kind, each.recipe)) continue;
        for (const test::Hosts& hosts : test::layouts()) {
            for (const int sets : {2, 3}) {
                Collective collective = test::collective_of(each, hosts, 35);
                collective.sets = sets;
                expect_any_number_of_calls_right(collective, static_cast<int>(hosts.size()));
            }
        }
    }
}

// With one set, whoever calls must keep several windows.
TEST(Sets, AreNeeded) {
    for (const Collective& collective : open_ones(5, 3, 1)) {
        const std::vector<Plan> plans = compile(collective, 3);
        checker::CallSequence calls;
        calls.add(plans, meaning_of(collective, plans));
        EXPECT_EQ(check(calls.stages()).verdict, Verdict::violated) << text_of(collective, 3);
    }
}

// Calls on one window may have any roots, since all hear of every end.
TEST(Sets, GoWithAnyRoots) {
    for (const int nranks : {2, 3, 4}) {
        for (Collective collective : open_ones(5, nranks, 2)) {
            if (!has_root(collective.kind)) continue;
            checker::CallSequence calls;
            for (const int root : {0, nranks - 1, 1, 1, nranks - 1}) {
                collective.root = root;
                calls.add(collective, compile(collective, nranks));
            }
            const CheckReport report = check(calls.stages());
            EXPECT_EQ(report.verdict, Verdict::proved) << text_of(collective, nranks);
            EXPECT_TRUE(report.any_calls) << text_of(collective, nranks) << report.why_not_any;
        }
    }
}

// Nobody takes a set again before it has heard of the end of the call that had it.
TEST(Sets, AreRefutedWithoutWordOfTheEnd) {
    constexpr int kRanks = 3;
    for (const Collective& collective : open_ones(5, kRanks, 2)) {
        std::vector<Plan> plans = compile(collective, kRanks);
        std::size_t removed = 0;
        for (Plan& plan : plans) {
            removed += std::erase_if(plan.instructions, [](const Instruction& instruction) {
                const auto* wait = std::get_if<Wait>(&instruction.action);
                return wait != nullptr && wait->value.constant < 0;
            });
        }
        EXPECT_EQ(removed == 0, facts_of(collective.kind).hears_all());
        if (removed == 0) continue;
        checker::CallSequence calls;
        calls.add(collective, plans);
        EXPECT_EQ(check(calls.stages()).verdict, Verdict::violated) << text_of(collective, kRanks);
    }
}

std::string refusal_of(const Collective& collective) {
    try {
        validate(collective, 4);
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        return error.what();
    }
    return "none";
}

TEST(Sets, ThatCannotBeAreRefused) {
    Collective collective;
    collective.recipe = "push";
    collective.count = 5;
    EXPECT_EQ(refusal_of(collective), "none");
    collective.sets = 0;
    EXPECT_EQ(refusal_of(collective), "allreduce: sets must be 1..16, found 0");
    collective.sets = 17;
    EXPECT_EQ(refusal_of(collective), "allreduce: sets must be 1..16, found 17");
    collective.sets = 2;
    collective.recipe = "ring";
    EXPECT_EQ(refusal_of(collective),
              "allreduce: recipe 'ring' leaves its window free at once: it has one set");
    collective.recipe = "auto";
    EXPECT_EQ(refusal_of(collective),
              "allreduce: recipe 'auto' leaves its window free at once: it has one set");
}

}  // namespace sets_test
}  // namespace peal
