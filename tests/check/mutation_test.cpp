// SPDX-License-Identifier: Apache-2.0
// Every built-in recipe, and every example with lanes, is as strong as it must be and no stronger:
// break its plans in every small way, and the checker finds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "check/call_sequence.hpp"
#include "check/plans.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"
#include "peal/program.hpp"
#include "support/layouts.hpp"

namespace peal {
namespace mutation_test {

enum class Change { deleted, earlier, later, shifted };

struct Mutant {
    Change change;
    int rank;
    std::size_t index;  // of the instruction in the plan as it was
    std::string text;
    std::vector<Plan> plans;
};

bool is_sync(const Instruction& instruction) {
    return std::holds_alternative<Notify>(instruction.action) ||
           std::holds_alternative<Wait>(instruction.action);
}

std::uint64_t element_bytes(const Plan& plan) { return bytes_of(plan.buffers.front().element); }

// Every range of an instruction, to be changed in place.
std::vector<Range*> ranges_of(Instruction& instruction) {
    if (auto* copy = std::get_if<Copy>(&instruction.action)) return {&copy->dst, &copy->src};
    std::vector<Range*> ranges;
    if (auto* reduce = std::get_if<Reduce>(&instruction.action)) {
        ranges.push_back(&reduce->dst);
        for (Range& src : reduce->src) ranges.push_back(&src);
    }
    return ranges;
}

using Visit = std::function<void(const Mutant&)>;

void mutate_sync(const std::vector<Plan>& plans, int rank, std::size_t i, const Visit& visit) {
    const Plan& plan = plans[static_cast<std::size_t>(rank)];
    const std::string text = to_text(plan.instructions[i], plan);
    const auto with = [&](Change change, const std::function<void(Plan&)>& edit) {
        Mutant mutant{change, rank, i, text, plans};
        edit(mutant.plans[static_cast<std::size_t>(rank)]);
        visit(mutant);
    };
    with(Change::deleted, [&](Plan& changed) { test::erase_instruction(changed, i); });
    const std::size_t lane = plan.lane_of(i);
    const auto swapped = [](std::size_t a, std::size_t b) {
        return [=](Plan& changed) { std::swap(changed.instructions[a], changed.instructions[b]); };
    };
    if (i > plan.lane_begin(lane)) with(Change::earlier, swapped(i, i - 1));
    if (i + 1 < plan.lane_end(lane)) with(Change::later, swapped(i, i + 1));
}

void mutate_ranges(const std::vector<Plan>& plans, int rank, std::size_t i, const Visit& visit) {
    const Plan& plan = plans[static_cast<std::size_t>(rank)];
    Instruction original = plan.instructions[i];
    for (std::size_t r = 0; r < ranges_of(original).size(); ++r) {
        Mutant mutant{Change::shifted, rank, i, to_text(plan.instructions[i], plan), plans};
        Instruction& changed = mutant.plans[static_cast<std::size_t>(rank)].instructions[i];
        ranges_of(changed)[r]->offset += element_bytes(plan);
        visit(mutant);
    }
}

void for_each_mutant(const std::vector<Plan>& plans, const Visit& visit) {
    for (const Plan& plan : plans) {
        for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
            if (is_sync(plan.instructions[i])) {
                mutate_sync(plans, plan.rank, i, visit);
            } else {
                mutate_ranges(plans, plan.rank, i, visit);
            }
        }
    }
}

// What is checked: the recipe call after call, and, if its windows may be used again at once, the
// recipe followed by an allreduce over all of the same window, which every rank stages as soon as
// the recipe returns: so the contract on return is needed too.
struct Trial {
    Collective collective, next;
    std::vector<Plan> next_plans;

    bool proves(const std::vector<Plan>& plans) const {
        checker::CallSequence calls;
        calls.add(collective, plans);
        const bool is_open = calls.stages().size() > 1;
        if (!is_proved(calls.stages())) return false;
        if (is_open) return true;
        calls.add(next, next_plans);
        return is_proved(calls.stages());
    }

    // A plan that is not even well formed does not prove.
    static bool is_proved(const std::vector<CheckStage>& stages) {
        CheckOptions options;
        options.calls = 2;
        options.max_violations = 1;
        try {
            return check(stages, options).verdict == Verdict::proved;
        } catch (const Error&) {
            return false;
        }
    }
};

// A notify that is left out while a later one on the same cell says more: the peer waits longer,
// for the later word, but not in vain. It stays in the recipe because the peer can go on sooner.
bool later_notify_stands_in(const Mutant& mutant, const std::vector<Plan>& plans) {
    const auto& list = plans[static_cast<std::size_t>(mutant.rank)].instructions;
    const auto* lost = std::get_if<Notify>(&list[mutant.index].action);
    if (mutant.change != Change::deleted || !lost) return false;
    return std::any_of(list.begin() + static_cast<std::ptrdiff_t>(mutant.index) + 1, list.end(),
                       [&](const Instruction& later) {
                           const auto* notify = std::get_if<Notify>(&later.action);
                           return notify && notify->cell == lost->cell;
                       });
}

// The rounds of a pairwise exchange hold ranks back on purpose; order does not need all of them. In
// a broadcast between hosts ranks wait for a chunk before they hand on the one before.
bool is_pacing(const Collective& collective) {
    return collective.recipe == "pairwise" ||
           (collective.kind == CollectiveKind::broadcast && collective.recipe == "hosts");
}

struct Case {
    CollectiveKind kind;
    std::string recipe;
    int nranks;
    int lanes = 0;
};

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            for (const int nranks : {3, 4}) {
                list.push_back({kind, std::string(recipe.name), nranks});
                if (recipe.has_lanes) list.push_back({kind, std::string(recipe.name), nranks, 3});
            }
        }
    }
    return list;
}

// Slots with room for an element per rank, and so much data that they are filled again. Pieces are
// of one size: a wait for the chunk that a short piece does not have guards nothing.
void make_several_chunks(Collective& collective, int nranks) {
    const auto p = static_cast<std::uint64_t>(nranks);
    const bool has_block_per_rank = collective.kind == CollectiveKind::reduce_scatter ||
                                    collective.kind == CollectiveKind::reduce_scatter_v ||
                                    collective.kind == CollectiveKind::all_to_all ||
                                    collective.kind == CollectiveKind::scatter;
    collective.stage_bytes = 4 * p * bytes_of(collective.element);
    collective.count = has_block_per_rank ? 6 : 6 * p;
    std::fill(collective.counts.begin(), collective.counts.end(),
              collective.kind == CollectiveKind::allgather_v ? 6 * nranks : 6);
}

// Each mutant of the plans, which prove themselves, is found or is one of those that order as much.
void expect_found_or_equivalent(const std::string& what, const std::vector<Plan>& plans,
                                const std::function<bool(const std::vector<Plan>&)>& proves,
                                bool is_paced) {
    ASSERT_TRUE(proves(plans));
    int found = 0;
    int equivalent = 0;
    for_each_mutant(plans, [&](const Mutant& mutant) {
        if (!proves(mutant.plans)) {
            ++found;
            return;
        }
        ++equivalent;
        // A sync that moves past another sync, or past data that it does not guard, orders as much
        // as it must. Nothing else may be left out or moved.
        const bool moved = mutant.change == Change::earlier || mutant.change == Change::later;
        const bool paced = mutant.change == Change::deleted && is_paced;
        EXPECT_TRUE(moved || later_notify_stands_in(mutant, plans) || paced)
            << "still proves: " << (mutant.change == Change::deleted ? "without " : "shifted ")
            << "rank " << mutant.rank << ", instruction " << mutant.index << ": " << mutant.text;
    });
    testing::Test::RecordProperty("found", found);
    testing::Test::RecordProperty("equivalent", equivalent);
    std::cout << what << ": " << found << " found, " << equivalent << " equivalent\n";
}

class Mutation : public testing::TestWithParam<Case> {};

TEST_P(Mutation, IsFoundOrEquivalent) {
    Collective collective;
    collective.kind = GetParam().kind;
    collective.recipe = GetParam().recipe;
    collective.lanes = GetParam().lanes;
    collective.count = static_cast<std::uint64_t>(4 * GetParam().nranks + 3);
    for (std::size_t i = 0; i < table_entries(collective.kind, GetParam().nranks); ++i) {
        collective.counts.push_back(2 + static_cast<std::int64_t>(i) % 3);
    }
    if (collective.recipe == "pipeline") make_several_chunks(collective, GetParam().nranks);
    const std::vector<Plan> plans = compile(collective, GetParam().nranks);
    Trial trial;
    trial.collective = collective;
    trial.next.recipe = "mesh";
    trial.next.count = collective.count * static_cast<std::uint64_t>(GetParam().nranks);
    trial.next_plans = compile(trial.next, GetParam().nranks);
    const std::string what = std::string(name(collective.kind)) + " " + collective.recipe + " " +
                             std::to_string(GetParam().nranks) + " " +
                             std::to_string(lanes_of(collective));
    expect_found_or_equivalent(
        what, plans, [&](const std::vector<Plan>& mutant) { return trial.proves(mutant); },
        is_pacing(collective));
}

class HostMutation : public testing::TestWithParam<test::HostCase> {};

// More chunks than slots, with something for every rank in each.
Collective chunked(const test::HostCase& the, const test::Hosts& hosts) {
    const std::uint64_t p = hosts.size();
    Collective collective = test::collective_of(the, hosts, 7);
    std::fill(collective.counts.begin(), collective.counts.end(), 7);
    collective.stage_bytes = 1;  // as little as there can be: an element in each place
    if (the.kind == CollectiveKind::allreduce) collective.count = 7 * p;
    if (the.kind == CollectiveKind::broadcast) {  // a line for each rank
        collective.stage_bytes = 8 * kCacheLineBytes * p;
        collective.count = 9 * kCacheLineBytes / 4 * p;
    }
    return collective;
}

// What follows uses the whole window, and its callers write it before they call, and read it after.
TEST_P(HostMutation, IsFoundOrEquivalent) {
    for (const test::Hosts& hosts : {test::Hosts{0, 0, 1, 1}, {0, 1, 2}}) {
        const auto nranks = static_cast<int>(hosts.size());
        const Collective collective = chunked(GetParam(), hosts);
        const std::vector<Plan> plans = compile(collective, nranks);
        Trial trial;
        trial.collective = collective;
        trial.next.recipe = "mesh";
        trial.next.placement = Placement::window;
        for (const Buffer& buffer : plans.front().buffers) {
            if (buffer.kind == BufferKind::window) trial.next.count = buffer.elements();
        }
        trial.next_plans = compile(trial.next, nranks);
        expect_found_or_equivalent(
            std::string(name(collective.kind)) + " " + collective.recipe + " " +
                test::text_of(hosts),
            plans, [&](const std::vector<Plan>& mutant) { return trial.proves(mutant); },
            is_pacing(collective));
    }
}

INSTANTIATE_TEST_SUITE_P(All, HostMutation, testing::ValuesIn(test::host_cases()),
                         [](const auto& info) {
                             return std::string(name(info.param.kind)) + "_" + info.param.recipe;
                         });

struct LaneCase {
    CollectiveKind kind;
    std::string kernel;
    int lanes;
};

class LaneMutation : public testing::TestWithParam<LaneCase> {};

// Call after call on the same windows.
TEST_P(LaneMutation, IsFoundOrEquivalent) {
    constexpr int kRanks = 3;
    Collective collective;
    collective.kind = GetParam().kind;
    collective.count = 7;
    CompileOptions options;
    options.lanes = GetParam().lanes;
    Bindings bindings;
    bindings.integers["n"] = static_cast<std::int64_t>(collective.count);
    const ir::Program program =
        parse_file(PEAL_SOURCE_DIR "/examples/" + GetParam().kernel + ".peal");
    const std::vector<Plan> plans = compile(program, GetParam().kernel, bindings, kRanks, options);
    const Meaning meaning = meaning_of(collective, plans);
    const auto proves = [&](const std::vector<Plan>& mutant) {
        return Trial::is_proved({{&mutant, &meaning, {}}});
    };
    expect_found_or_equivalent(GetParam().kernel + " " + std::to_string(GetParam().lanes), plans,
                               proves, false);
}

INSTANTIATE_TEST_SUITE_P(
    All, LaneMutation,
    testing::Values(LaneCase{CollectiveKind::allreduce, "lanes_allreduce", 2},
                    LaneCase{CollectiveKind::allreduce, "lanes_allreduce", 3},
                    LaneCase{CollectiveKind::all_to_all, "lanes_all_to_all", 2},
                    LaneCase{CollectiveKind::all_to_all, "lanes_all_to_all", 3}),
    [](const auto& info) { return info.param.kernel + "_" + std::to_string(info.param.lanes); });

INSTANTIATE_TEST_SUITE_P(All, Mutation, testing::ValuesIn(cases()), [](const auto& info) {
    return std::string(name(info.param.kind)) + "_" + info.param.recipe + "_" +
           std::to_string(info.param.nranks) +
           (info.param.lanes == 0 ? "" : "_" + std::to_string(info.param.lanes) + "lanes");
});

}  // namespace mutation_test
}  // namespace peal
