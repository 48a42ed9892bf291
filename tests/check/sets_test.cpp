// SPDX-License-Identifier: Apache-2.0
// Open recipes whose calls take several sets in turn: any number of calls, on one window.
#include <gtest/gtest.h>

#include <algorithm>

#include "check/call_sequence.hpp"
#include "peal/error.hpp"

namespace peal {
namespace sets_test {

std::vector<Collective> open_ones(std::uint64_t count, int nranks, int sets) {
    std::vector<Collective> list;
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            if (recipe.reuse == Reuse::at_once) continue;
            Collective collective;
            collective.kind = kind;
            collective.recipe = recipe.name;
            collective.count = count;
            collective.sets = sets;
            collective.root = nranks / 2;
            for (std::size_t i = 0; i < table_entries(kind, nranks); ++i) {
                collective.counts.push_back(static_cast<std::int64_t>(count * (i * 5 % 7) / 7));
            }
            list.push_back(std::move(collective));
        }
    }
    return list;
}

std::string text_of(const Collective& collective, int nranks) {
    return std::string(name(collective.kind)) + " " + collective.recipe + ", " +
           std::to_string(nranks) + " ranks, " + std::to_string(collective.count) + " elements, " +
           std::to_string(collective.sets) + " sets";
}

TEST(Sets, MakeAnyNumberOfCallsRight) {
    for (int nranks = 1; nranks <= 9; ++nranks) {
        for (const int sets : {2, 3}) {
            for (const std::uint64_t count : {1, 4 * nranks + 3}) {
                for (const Collective& collective : open_ones(count, nranks, sets)) {
                    validate(collective, nranks);
                    checker::CallSequence calls;
                    calls.add(collective, compile(collective, nranks));
                    ASSERT_EQ(calls.stages().size(), 1U);
                    const CheckReport report = check(calls.stages());
                    EXPECT_EQ(report.verdict, Verdict::proved) << text_of(collective, nranks);
                    EXPECT_TRUE(report.any_calls)
                        << text_of(collective, nranks) << ": " << report.why_not_any;
                    EXPECT_EQ(report.method, CheckMethod::linear);
                }
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
