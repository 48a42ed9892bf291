// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/catalogue.hpp"
#include "peal/builder.hpp"
#include "peal/error.hpp"
#include "peal/ops.hpp"

namespace peal {
namespace facts_test {

using enum CollectiveKind;

bool has_operand(CollectiveKind kind, std::string_view wanted) {
    const auto& operands = ir::find_op(collectives::op_of(kind))->operands;
    return std::any_of(operands.begin(), operands.end(),
                       [&](const ir::OperandSpec& operand) { return operand.name == wanted; });
}

bool has_attribute(CollectiveKind kind, std::string_view wanted) {
    const auto& attributes = ir::find_op(collectives::op_of(kind))->attributes;
    return std::any_of(
        attributes.begin(), attributes.end(),
        [&](const ir::AttributeSpec& attribute) { return attribute.name == wanted; });
}

TEST(Facts, AreWhatTheOpsSay) {
    for (const CollectiveKind kind : kCollectives) {
        const CollectiveFacts facts = facts_of(kind);
        EXPECT_EQ(facts.has_root(), has_operand(kind, "root")) << name(kind);
        EXPECT_EQ(facts.is_counted(), has_operand(kind, "counts")) << name(kind);
        EXPECT_EQ(facts.has_data(), has_operand(kind, "target")) << name(kind);
        EXPECT_EQ(facts.has_data(), has_operand(kind, "input")) << name(kind);
        EXPECT_EQ(facts.reduces, has_attribute(kind, "op")) << name(kind);
    }
}

std::vector<CollectiveKind> kinds_that(bool (*is_so)(const CollectiveFacts& facts)) {
    std::vector<CollectiveKind> list;
    for (const CollectiveKind kind : kCollectives) {
        if (is_so(facts_of(kind))) list.push_back(kind);
    }
    return list;
}

TEST(Facts, OfSizes) {
    using Kinds = std::vector<CollectiveKind>;
    EXPECT_EQ(kinds_that([](const auto& facts) { return facts.input_is_larger(); }),
              (Kinds{reduce_scatter, reduce_scatter_v, scatter}));
    EXPECT_EQ(kinds_that([](const auto& facts) { return facts.output_is_larger(); }),
              (Kinds{allgather, allgather_v, gather}));
    EXPECT_EQ(kinds_that([](const auto& facts) { return facts.has_blocks(); }),
              (Kinds{reduce_scatter, allgather, all_to_all, gather, scatter}));
    EXPECT_EQ(kinds_that([](const auto& facts) { return facts.is_counted(); }),
              (Kinds{all_to_all_v, allgather_v, reduce_scatter_v}));
    EXPECT_EQ(kinds_that([](const auto& facts) { return !facts.has_data(); }), (Kinds{barrier}));
}

TEST(Facts, OfWhoGivesAndGets) {
    using Kinds = std::vector<CollectiveKind>;
    EXPECT_EQ(kinds_that([](const auto& facts) { return !facts.gives(1, 0) && facts.gives(0, 0); }),
              (Kinds{broadcast, scatter}));
    EXPECT_EQ(kinds_that([](const auto& facts) { return !facts.gets(1, 0) && facts.gets(0, 0); }),
              (Kinds{reduce, gather}));
    EXPECT_EQ(kinds_that([](const auto& facts) { return facts.has_root(); }),
              (Kinds{broadcast, reduce, gather, scatter}));
    EXPECT_EQ(kinds_that([](const auto& facts) { return facts.reduces; }),
              (Kinds{allreduce, reduce_scatter, reduce_scatter_v, reduce, scan, exscan}));
    EXPECT_EQ(kinds_that([](const auto& facts) { return facts.gets(1, 1) && !facts.gets(0, 1); }),
              (Kinds{reduce, gather, exscan}));
    EXPECT_EQ(kinds_that([](const auto& facts) { return !facts.hears_all(); }),
              (Kinds{broadcast, reduce, gather, scatter, scan, exscan}));
    EXPECT_FALSE(facts_of(barrier).gives(0, 0));
    EXPECT_FALSE(facts_of(barrier).gets(0, 0));
}

TEST(Facts, GiveTheSizesOfBuffers) {
    for (const CollectiveKind kind : kCollectives) {
        Collective collective;
        collective.kind = kind;
        collective.count = 7;
        for (std::size_t i = 0; i < table_entries(kind, 3); ++i) {
            collective.counts.push_back(static_cast<std::int64_t>(i) + 1);
        }
        const auto expected = [&](Share share, std::uint64_t counted) -> std::uint64_t {
            switch (share) {
                case Share::nothing: return 0;
                case Share::block: return 7;
                case Share::blocks: return 21;
                case Share::counted: return counted;
                case Share::piece: return 2;
                case Share::pieces: return 1 + 2 + 3;
            }
            return 0;
        };
        EXPECT_EQ(input_count(collective, 1, 3), expected(facts_of(kind).input, 4 + 5 + 6));
        EXPECT_EQ(output_count(collective, 1, 3), expected(facts_of(kind).output, 2 + 5 + 8));
    }
}

TEST(Facts, SayWhereTheOwnPartIs) {
    Collective collective;
    collective.kind = gather;
    collective.count = 7;
    EXPECT_EQ(own_offset(collective, 0), 0U);
    EXPECT_EQ(own_offset(collective, 2), 14U);
    collective.kind = allgather_v;
    collective.counts = {5, 0, 4};
    EXPECT_EQ(own_offset(collective, 0), 0U);
    EXPECT_EQ(own_offset(collective, 2), 5U);
}

TEST(Recipes, SayWhenTheirWindowIsFree) {
    EXPECT_EQ(name(Reuse::at_once), "at once");
    EXPECT_EQ(name(Reuse::later), "later");
    for (const CollectiveKind kind : kCollectives) {
        EXPECT_EQ(reuse_of(kind, "auto"), Reuse::at_once);
        for (const Recipe& recipe : recipes(kind)) {
            const bool is_open =
                recipe.name == "push" || recipe.name == "pull" || recipe.name == "stream";
            EXPECT_EQ(reuse_of(kind, recipe.name), is_open ? Reuse::later : Reuse::at_once)
                << name(kind) << " " << recipe.name;
        }
    }
}

std::vector<const collectives::Entry*> all_entries(CollectiveKind kind) {
    std::vector<const collectives::Entry*> list;
    for (const auto* entries :
         {&collectives::entries(kind), &collectives::entries_of_hosts(kind)}) {
        for (const collectives::Entry& entry : *entries) list.push_back(&entry);
    }
    return list;
}

// One call of a recipe, with what it is given.
struct OneCall {
    bool has_hosts = false;
    bool is_private = true;
    std::int64_t sets = 1;
};

// Whether the op takes it.
bool accepts(CollectiveKind kind, std::string_view recipe, const OneCall& given) {
    ir::KernelBuilder k("kernel");
    const ir::ExprPtr by_rank = k.Table("hosts", {ir::nranks()});
    const ir::ExprPtr by_piece = k.Table("counts", {ir::nranks()});
    const ir::ExprPtr by_pair = k.Table("pairs", {ir::nranks(), ir::nranks()});
    const ir::ExprPtr vector = k.Tensor("input", Element::f32, {ir::integer(8)});
    const ir::ExprPtr result = k.Tensor("output", Element::f32, {ir::integer(8)});
    const ir::ExprPtr data = k.Window("data", Element::f32, {ir::integer(8)});
    const ir::ExprPtr signal = k.Window("signal", Element::i64, {ir::nranks()});
    const auto operand = [&](std::string_view name) -> ir::ExprPtr {
        if (name == "target") return data;
        if (name == "signal") return signal;
        if (name == "root") return ir::integer(0);
        if (name == "counts") return facts_of(kind).counts_pairs() ? by_pair : by_piece;
        if (name == "hosts" && given.has_hosts) return by_rank;
        if (name == "input" && given.is_private) return vector;
        if (name == "output" && given.is_private) return result;
        return nullptr;
    };
    const ir::OpSpec& op = *ir::find_op(collectives::op_of(kind));
    std::vector<ir::ExprPtr> operands;
    for (const ir::OperandSpec& spec : op.operands) operands.push_back(operand(spec.name));
    std::vector<ir::Attribute> attributes = {{"recipe", std::string(recipe)}};
    if (given.sets > 1) attributes.push_back({"sets", given.sets});
    try {
        k.Body().Emit(ir::make_call(op.name, operands, std::move(attributes)));
        return true;
    } catch (const Error&) {
        return false;
    }
}

// The ops know recipes by name, the catalogue by what they are: both say the same.
TEST(Recipes, AreWhatTheirOpsTakeThemFor) {
    for (const CollectiveKind kind : kCollectives) {
        for (const collectives::Entry* entry : all_entries(kind)) {
            const std::string_view recipe = entry->row.name;
            const std::string what = std::string(name(kind)) + " " + std::string(recipe);
            const bool has_hosts = knows_hosts(kind, recipe);
            EXPECT_TRUE(accepts(kind, recipe, {.has_hosts = has_hosts})) << what;
            if (has_operand(kind, "hosts")) {
                EXPECT_FALSE(accepts(kind, recipe, {.has_hosts = !has_hosts})) << what;
            }
            if (!facts_of(kind).has_data()) continue;
            EXPECT_EQ(accepts(kind, recipe, {.has_hosts = has_hosts, .is_private = false}),
                      offers(kind, recipe, Placement::window))
                << what;
            EXPECT_EQ(accepts(kind, recipe, {.has_hosts = has_hosts, .sets = 2}),
                      entry->row.reuse == Reuse::later)
                << what;
        }
    }
}

// What may share the line of a signal comes in a box of `count` elements from each sender.
TEST(Recipes, StageInBoxesWhereEachSenderHasOne) {
    for (const CollectiveKind kind : kCollectives) {
        for (const collectives::Entry* entry : all_entries(kind)) {
            EXPECT_EQ(entry->use == collectives::TargetUse::stages_in_boxes,
                      entry->target_size == collectives::inbox)
                << name(kind) << " " << entry->row.name;
        }
    }
}

}  // namespace facts_test
}  // namespace peal
