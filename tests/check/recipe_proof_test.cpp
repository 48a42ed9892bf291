// SPDX-License-Identifier: Apache-2.0
// Every built-in recipe, wherever its data is, is proved on 2 to 16 ranks: any number of calls,
// in the way it asks to be called.
#include <gtest/gtest.h>

#include <algorithm>

#include "check/call_sequence.hpp"
#include "support/placement_suffix.hpp"

namespace peal {
namespace recipe_proof_test {

struct Case {
    CollectiveKind kind;
    std::string recipe;
    Placement placement;
};

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            for (const Placement placement : kPlacements) {
                if (kind == CollectiveKind::barrier && placement != Placement::separate) continue;
                if (offers(kind, recipe.name, placement)) {
                    list.push_back({kind, std::string(recipe.name), placement});
                }
            }
        }
    }
    return list;
}

std::vector<Case> pipeline_cases() {
    std::vector<Case> list = cases();
    std::erase_if(list, [](const Case& each) { return each.recipe != "pipeline"; });
    return list;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    return std::string(name(info.param.kind)) + "_" + info.param.recipe +
           test::suffix_of(info.param.placement);
}

Collective collective_of(const Case& the, std::uint64_t count, int nranks) {
    Collective collective;
    collective.kind = the.kind;
    collective.recipe = the.recipe;
    collective.placement = the.placement;
    collective.count = count;
    collective.root = nranks / 2;
    for (std::size_t i = 0; i < table_entries(the.kind, nranks); ++i) {
        collective.counts.push_back(static_cast<std::int64_t>(count * (i * 5 % 7) / 7));
    }
    return collective;
}

// "", or what is wrong.
std::string fault_of(const Collective& collective, int nranks) {
    checker::CallSequence calls;
    calls.add(collective, compile(collective, nranks));
    const CheckReport report = check(calls.stages());
    if (report.verdict == Verdict::proved && report.any_calls) return "";
    return report.violations.empty() ? report.why_explored + report.bound + report.why_not_any
                                     : report.violations.front().message;
}

std::uint64_t blocks_per_slot(CollectiveKind kind, std::uint64_t nranks) {
    switch (kind) {
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::all_to_all:
        case CollectiveKind::all_to_all_v:
        case CollectiveKind::reduce_scatter_v:
        case CollectiveKind::scatter: return nranks;
        default: return 1;
    }
}

std::vector<Case> lane_cases() {
    std::vector<Case> list = cases();
    std::erase_if(list, [](const Case& each) { return !has_lanes(each.kind, each.recipe); });
    return list;
}

class RecipeProof : public testing::TestWithParam<Case> {};
class LaneProof : public testing::TestWithParam<Case> {};
class PipelineProof : public testing::TestWithParam<Case> {};

TEST_P(RecipeProof, Holds) {
    for (int nranks = 2; nranks <= 16; ++nranks) {
        const auto p = static_cast<std::uint64_t>(nranks);
        for (const std::uint64_t count : {std::uint64_t{1}, p + 1, 4 * p + 3}) {
            EXPECT_EQ(fault_of(collective_of(GetParam(), count, nranks), nranks), "")
                << nranks << " ranks, " << count << " elements";
        }
    }
}

// Chunks of a few elements, and chunks of whole lines with a part for each rank; enough of them to
// fill every slot again, and a last one that is not full.
TEST_P(PipelineProof, HoldsForSeveralChunks) {
    for (const int nranks : {2, 3, 4, 8, 16}) {
        const auto p = static_cast<std::uint64_t>(nranks);
        for (const std::uint64_t stage_bytes : {4 * 4 * p, 4 * 128 * p}) {
            const std::uint64_t chunk = stage_bytes / 16 / blocks_per_slot(GetParam().kind, p);
            Collective collective = collective_of(GetParam(), 6 * chunk + chunk / 2, nranks);
            collective.stage_bytes = stage_bytes;
            EXPECT_EQ(fault_of(collective, nranks), "")
                << nranks << " ranks, " << collective.count << " elements, " << stage_bytes;
        }
    }
}

// More lanes than ranks, elements or both among them.
TEST_P(LaneProof, HoldsForAnyNumberOfLanes) {
    for (const int lanes : {1, 3, 4, 7, 16}) {
        for (const int nranks : {1, 2, 3, 5, 8}) {
            for (const std::uint64_t count :
                 {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{6}, std::uint64_t{1000}}) {
                Collective collective = collective_of(GetParam(), count, nranks);
                collective.lanes = lanes;
                EXPECT_EQ(fault_of(collective, nranks), "")
                    << lanes << " lanes, " << nranks << " ranks, " << count << " elements";
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, LaneProof, testing::ValuesIn(lane_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(All, RecipeProof, testing::ValuesIn(cases()), case_name);
INSTANTIATE_TEST_SUITE_P(All, PipelineProof, testing::ValuesIn(pipeline_cases()), case_name);

// Pieces that are not packed: in reverse order, with gaps of different lengths.
TEST(OffsetsProof, HoldsWhereverPiecesAre) {
    for (const Recipe& recipe : recipes(CollectiveKind::all_to_all_v)) {
        for (const int nranks : {2, 3, 4, 8}) {
            const Case the{CollectiveKind::all_to_all_v, std::string(recipe.name),
                           Placement::separate};
            for (const std::uint64_t stage_bytes : {std::uint64_t{0}, std::uint64_t(16 * nranks)}) {
                Collective collective = collective_of(the, 9, nranks);
                collective.stage_bytes = stage_bytes;
                for (int row = 0; row < nranks; ++row) {
                    for (int peer = 0; peer < nranks; ++peer) {
                        collective.sent_at.push_back((nranks - peer) * (10 + row));
                        collective.received_at.push_back((nranks - peer) * (11 + row) - 5);
                    }
                }
                EXPECT_EQ(fault_of(collective, nranks), "") << recipe.name << " " << nranks;
            }
        }
    }
}

// With as many pieces as there can be, with one set by turns of the caller's and with several.
TEST(OpenRecipe, IsProvedInPieces) {
    for (const int nranks : {2, 3, 4}) {
        for (const std::uint64_t count : {4096, 10001, 40000}) {
            for (const int sets : {1, 2, 3}) {
                Collective collective;
                collective.kind = CollectiveKind::broadcast;
                collective.recipe = "stream";
                collective.count = count;
                collective.root = nranks - 1;
                collective.sets = sets;
                checker::CallSequence calls;
                calls.add(collective, compile(collective, nranks));
                const CheckReport report = check(calls.stages());
                EXPECT_EQ(report.verdict, Verdict::proved)
                    << nranks << " ranks, " << count << " elements, " << sets << " sets";
            }
        }
    }
}

// The windows of an open recipe may not be used again at once: the checker sees why.
TEST(OpenRecipe, NeedsItsWindowsInTurn) {
    for (const Case& each : cases()) {
        const Collective collective = collective_of(each, 5, 3);
        const std::vector<Plan> plans = compile(collective, 3);
        checker::CallSequence calls;
        calls.add(plans, meaning_of(collective, plans));
        const Verdict verdict = check(calls.stages()).verdict;
        const auto& list = recipes(each.kind);
        const auto recipe = std::find_if(list.begin(), list.end(), [&](const Recipe& candidate) {
            return candidate.name == each.recipe;
        });
        EXPECT_EQ(verdict, recipe->reuse == Reuse::later ? Verdict::violated : Verdict::proved)
            << name(each.kind) << " " << each.recipe;
    }
}

}  // namespace recipe_proof_test
}  // namespace peal
