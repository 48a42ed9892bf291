// SPDX-License-Identifier: Apache-2.0
// Every collective, recipe, rank count and length, against golden: two calls in a row on the same
// windows, in random interleavings. Element type and operation run through all values.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "golden/number.hpp"
#include "golden/rehearse.hpp"
#include "peal/compile.hpp"
#include "support/placement_suffix.hpp"

namespace peal {
namespace collectives_property_test {

struct Case {
    CollectiveKind kind;
    std::string recipe;
    Placement placement;
};

std::vector<Case> cases() {
    std::vector<Case> list;
    for (const CollectiveKind kind : kCollectives) {
        std::vector<std::string> names = {"auto"};
        for (const Recipe& recipe : recipes(kind)) names.emplace_back(recipe.name);
        for (const std::string& recipe : names) {
            for (const Placement placement : kPlacements) {
                if (kind == CollectiveKind::barrier && placement != Placement::separate) continue;
                if (offers(kind, recipe, placement)) list.push_back({kind, recipe, placement});
            }
        }
    }
    return list;
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
    return std::string(name(info.param.kind)) + "_" + info.param.recipe +
           test::suffix_of(info.param.placement);
}

// None where no table says how much.
std::vector<std::int64_t> random_counts(CollectiveKind kind, std::uint64_t count, int nranks,
                                        std::mt19937_64& random) {
    std::vector<std::int64_t> counts(table_entries(kind, nranks));
    for (std::int64_t& each : counts) each = static_cast<std::int64_t>(random() % (count + 1));
    return counts;
}

// None, some, as many as ranks, and more than a vector register holds; among many ranks, where the
// same happens in smaller blocks, fewer than ranks, more, and many.
std::vector<std::uint64_t> lengths(std::uint64_t ranks) {
    if (ranks > 4) return {ranks - 1, ranks + 1, 255};
    return {0, 1, ranks - 1, ranks, ranks + 1, 255, 256, 1000};
}

class CollectivesProperty : public testing::TestWithParam<Case> {};

TEST_P(CollectivesProperty, GivesGolden) {
    std::mt19937_64 random(17);
    std::size_t turn = 0;
    // In place differs only in where the own block is.
    const std::vector<int> ranks = GetParam().placement == Placement::in_place
                                       ? std::vector<int>{1, 2, 3, 4, 7}
                                       : std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 33};
    for (const int nranks : ranks) {
        const auto p = static_cast<std::uint64_t>(nranks);
        for (const std::uint64_t count : lengths(p)) {
            Collective collective;
            collective.kind = GetParam().kind;
            collective.recipe = GetParam().recipe;
            collective.placement = GetParam().placement;
            collective.stage_bytes = 64 * p * (1 + turn % 5);  // many chunks, or few
            collective.count = count;
            collective.element = kElements[turn % kElements.size()];
            collective.op = kReduceOps[(turn / kElements.size()) % kReduceOps.size()];
            collective.root = static_cast<int>(random() % p);
            collective.counts = random_counts(collective.kind, count % 64, nranks, random);
            if (has_lanes(collective.kind, collective.recipe)) {
                collective.lanes = static_cast<int>(1 + turn % 7);
            }
            EngineOptions options;
            if (turn % 3 != 0) options.seed = random();
            ++turn;
            SCOPED_TRACE(testing::Message()
                         << nranks << " ranks, " << count << " x " << name(collective.element)
                         << " " << name(collective.op) << ", root " << collective.root);
            const golden::Outcome outcome = golden::rehearse(collective, nranks, 2, options);
            EXPECT_EQ(outcome.wrong.value_or("ok"), "ok");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, CollectivesProperty, testing::ValuesIn(cases()), case_name);

// In reverse order, with gaps.
TEST(Collectives, PiecesMayBeAnywhere) {
    std::mt19937_64 random(23);
    for (const Recipe& recipe : recipes(CollectiveKind::all_to_all_v)) {
        for (const int nranks : {1, 2, 3, 5, 8}) {
            Collective collective;
            collective.kind = CollectiveKind::all_to_all_v;
            collective.recipe = recipe.name;
            collective.stage_bytes = 128 * static_cast<std::uint64_t>(nranks);
            collective.counts = random_counts(collective.kind, 30, nranks, random);
            for (int row = 0; row < nranks; ++row) {
                for (int peer = 0; peer < nranks; ++peer) {
                    collective.sent_at.push_back((nranks - peer - 1) * (31 + row));
                    collective.received_at.push_back((nranks - peer - 1) * (33 + row) + row);
                }
            }
            const golden::Outcome outcome = golden::rehearse(collective, nranks, 2, {});
            EXPECT_EQ(outcome.wrong.value_or("ok"), "ok") << recipe.name << " " << nranks;
        }
    }
}

TEST(Collectives, TakeSetsInTurn) {
    std::mt19937_64 random(29);
    for (const Case& each : cases()) {
        if (reuse_of(each.kind, each.recipe) == Reuse::at_once) continue;
        for (const int nranks : {1, 2, 3, 5, 8}) {
            Collective collective;
            collective.kind = each.kind;
            collective.recipe = each.recipe;
            collective.placement = each.placement;
            collective.sets = 2 + nranks % 3;
            collective.count = random() % 70;
            collective.root = static_cast<int>(random() % static_cast<std::uint64_t>(nranks));
            collective.counts = random_counts(each.kind, 30, nranks, random);
            EngineOptions options;
            options.seed = random();
            const golden::Outcome outcome = golden::rehearse(collective, nranks, 7, options);
            EXPECT_EQ(outcome.wrong.value_or("ok"), "ok")
                << name(each.kind) << " " << each.recipe << " " << nranks;
        }
    }
}

TEST(Collectives, SixtyFourRanks) {
    for (const Case& each : cases()) {
        if (each.placement == Placement::in_place) continue;
        Collective collective;
        collective.kind = each.kind;
        collective.recipe = each.recipe;
        collective.placement = each.placement;
        collective.stage_bytes = 64 << 10;
        collective.count = 65;
        collective.root = 63;
        std::mt19937_64 random(5);
        collective.counts = random_counts(each.kind, 9, 64, random);
        const golden::Outcome outcome = golden::rehearse(collective, 64, 2, {});
        EXPECT_EQ(outcome.wrong.value_or("ok"), "ok") << name(each.kind) << " " << each.recipe;
    }
}

// With the inputs of call `call`.
golden::RankWork one_call(const std::vector<Plan>& plans, const Collective& collective, int call) {
    const golden::RankWork all =
        golden::rehearsal_of(plans, collective, ports_of(collective, plans.front()), call + 1);
    golden::RankWork work;
    work.before = [=](int rank, int, const auto& memory) { all.before(rank, call, memory); };
    work.after = [=](int rank, int, const auto& memory) { return all.after(rank, call, memory); };
    return work;
}

// Random sequences of different collectives, sizes, types and roots on one data window and one
// signal window: any collective after any other.
TEST(Collectives, AnyAfterAnyOtherOnSharedWindows) {
    const std::vector<Case> all = cases();
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        std::mt19937_64 random(seed);
        const int nranks = 2 + static_cast<int>(random() % 7);
        SymmetricMemory data = SymmetricMemory::window(nranks, 1 << 16);
        SymmetricMemory signal =
            SymmetricMemory::signal(nranks, static_cast<std::uint64_t>(kDefaultLanes * nranks));
        EngineOptions options;
        if (seed % 4 != 0) options.seed = seed;
        InProcessEngine engine(nranks, options);
        for (int step = 0; step < 25; ++step) {
            const Case& each = all[random() % all.size()];
            Collective collective;
            collective.kind = each.kind;
            collective.recipe = each.recipe;
            collective.placement = each.placement;
            collective.stage_bytes = 1 + random() % 4096;
            collective.count = random() % 200;
            collective.element = kElements[random() % kElements.size()];
            collective.op = kReduceOps[random() % kReduceOps.size()];
            collective.root = static_cast<int>(random() % static_cast<std::uint64_t>(nranks));
            collective.counts = random_counts(each.kind, 40, nranks, random);
            SCOPED_TRACE(testing::Message() << "seed " << seed << " step " << step << " "
                                            << name(each.kind) << " " << each.recipe);
            const std::vector<Plan> plans = compile(collective, nranks);
            golden::Stage stage(plans, {{"data", &data}, {"signal", &signal}});
            const golden::Outcome outcome =
                golden::run(plans, stage, engine, one_call(plans, collective, step));
            EXPECT_EQ(outcome.wrong.value_or("ok"), "ok");
        }
    }
}

// All ranks get identical bits even where the order of additions shows.
TEST(Collectives, ReductionsGiveEveryRankTheSameBits) {
    std::mt19937_64 random(3);
    for (const Recipe& recipe : recipes(CollectiveKind::allreduce)) {
        for (const Element element : {Element::f16, Element::bf16, Element::f32, Element::f64}) {
            Collective collective;
            collective.recipe = recipe.name;
            collective.element = element;
            collective.count = 97;
            const std::vector<Plan> plans = compile(collective, 7);
            golden::Stage stage(plans);
            for (int rank = 0; rank < 7; ++rank) {
                for (std::uint64_t i = 0; i < collective.count; ++i) {
                    const double value =
                        std::ldexp(static_cast<double>(random() % 2001) - 1000, -7);
                    golden::store(element, stage.memory(rank, 0) + i * bytes_of(element),
                                  {true, value, 0});
                }
            }
            InProcessEngine(7).run(plans, stage.bindings());
            for (int rank = 1; rank < 7; ++rank) {
                EXPECT_TRUE(std::equal(stage.memory(0, 1),
                                       stage.memory(0, 1) + plans[0].buffers[1].bytes,
                                       stage.memory(rank, 1)))
                    << recipe.name << " " << name(element) << " rank " << rank;
            }
        }
    }
}

}  // namespace collectives_property_test
}  // namespace peal
