// SPDX-License-Identifier: Apache-2.0
#include "collectives/catalogue.hpp"

#include <algorithm>
#include <cassert>

#include "collectives/choose.hpp"
#include "collectives/hosts.hpp"
#include "collectives/inbox.hpp"
#include "collectives/slots.hpp"
#include "peal/ops.hpp"

namespace peal::collectives {
namespace {

using ir::ops::kAllgather, ir::ops::kAllgatherV, ir::ops::kAllreduce, ir::ops::kAllToAll,
    ir::ops::kAllToAllV, ir::ops::kBarrier, ir::ops::kBroadcast, ir::ops::kExscan, ir::ops::kGather,
    ir::ops::kReduce, ir::ops::kReduceScatter, ir::ops::kReduceScatterV, ir::ops::kScan,
    ir::ops::kScatter;

struct Row {
    std::string_view name, op;
    std::vector<Entry> entries;
    std::vector<Entry> of_hosts = {};
};

// In the order of CollectiveKind.
std::vector<Row> all_rows() {
    std::vector<Row> table = {
        {"allreduce", kAllreduce, allreduce::recipes()},
        {"reduce_scatter", kReduceScatter, reduce_scatter::recipes()},
        {"allgather", kAllgather, allgather::recipes()},
        {"broadcast", kBroadcast, broadcast::recipes()},
        {"all_to_all", kAllToAll, all_to_all::recipes()},
        {"all_to_all_v", kAllToAllV, all_to_all_v::recipes()},
        {"allgather_v", kAllgatherV, allgather_v::recipes()},
        {"reduce_scatter_v", kReduceScatterV, reduce_scatter_v::recipes()},
        {"reduce", kReduce, reduce::recipes()},
        {"gather", kGather, gather::recipes()},
        {"scatter", kScatter, scatter::recipes()},
        {"scan", kScan, scan::recipes()},
        {"exscan", kExscan, exscan::recipes()},
        {"barrier", kBarrier, barrier::recipes()},
    };
    for (const CollectiveKind kind : kCollectives) {
        table[static_cast<std::size_t>(kind)].of_hosts = hosts::recipes(kind);
    }
    return table;
}

const std::vector<Row>& rows() {
    static const std::vector<Row> table = all_rows();
    return table;
}

const Row& row(CollectiveKind kind) { return rows()[static_cast<std::size_t>(kind)]; }

// if <the first rule fits> { its recipe } else if ... else { the last rule's recipe }
void lower_choice(const Site& at, std::span<const Rule> rules) {
    const Rule& rule = rules.front();
    const auto apply = [&](LoweringBuilder& b) { entry(rule.kind, rule.recipe).lower(at.in(b)); };
    if (rules.size() == 1) return apply(at.b);
    at.b.EmitIf(condition_of(rule, at), apply,
                [&](LoweringBuilder& b) { lower_choice(at.in(b), rules.subspan(1)); });
}

}  // namespace

const std::vector<Entry>& entries(CollectiveKind kind) { return row(kind).entries; }

const std::vector<Entry>& entries_of_hosts(CollectiveKind kind) { return row(kind).of_hosts; }

const Entry& entry(CollectiveKind kind, std::string_view recipe) {
    const std::string_view wanted = recipe == "auto" ? rules_of_auto(kind).front().recipe : recipe;
    for (const auto* list : {&entries(kind), &entries_of_hosts(kind)}) {
        for (const Entry& entry : *list) {
            if (entry.row.name == wanted) return entry;
        }
    }
    assert(false && "the registry admits only recipes that there are");
    return entries(kind).front();
}

std::string_view op_of(CollectiveKind kind) { return row(kind).op; }

CollectiveKind kind_of(const ir::Call& composite) {
    for (const CollectiveKind kind : kCollectives) {
        if (op_of(kind) == composite.op) return kind;
    }
    assert(false && "not a composite op");
    return CollectiveKind::barrier;
}

ExprPtr one_block(const Site& at) { return at.largest(); }
ExprPtr block_per_rank(const Site& at) { return at.blocks().count; }
ExprPtr inbox(const Site& at) { return Inbox(at, at.largest()).size(); }
ExprPtr ring_of_blocks(const Site&) { return Slots::least(ir::integer(1)); }
ExprPtr ring_of_block_per_rank(const Site&) { return Slots::least(ir::nranks()); }

ExprPtr one_phase(const Site&) { return ir::integer(1); }

ExprPtr cell_per_rank() { return ir::nranks(); }
ExprPtr cell_per_lane() { return ir::nlanes() * ir::nranks(); }

namespace {

ExprPtr whole_lines(const Site& at, const ExprPtr& elements) {
    return ceil_div(elements, ir::integer(at.line())) * at.line();
}

// Of one of several sets. Boxes have whole lines.
ExprPtr size_of_set(const Entry& recipe, const Site& at) {
    const ExprPtr size = recipe.target_size(at);
    return recipe.use == TargetUse::stages_in_boxes ? size : whole_lines(at, size);
}

void lower_in_sets(const Entry& recipe, const Site& at, std::int64_t sets, bool hears_all) {
    Site here = at;
    here.tells_end = !hears_all;
    const ExprPtr generation = at.b.Generation(at.signal);
    const ExprPtr phases = recipe.phases(at);
    const ExprPtr by_call = hears_all ? phases : phases + 1;
    const ExprPtr call = generation / by_call;
    here.set = at.b.Bind("set", call % ir::integer(sets) * size_of_set(recipe, at));
    if (!hears_all) {
        const ExprPtr ended = generation - by_call * (sets - 1);
        at.for_each_peer(
            [&](const Site& site, const ExprPtr& peer) { site.b.Wait(at.signal, peer, ended); });
    }
    recipe.lower(here);
}

}  // namespace

ExprPtr Entry::least_target(const Site& at, std::int64_t sets) const {
    if (!target_size) return nullptr;
    return sets == 1 ? target_size(at) : size_of_set(*this, at) * sets;
}

void lower_composite(const ir::Call& composite, LoweringBuilder& builder) {
    const CollectiveKind kind = kind_of(composite);
    const std::string& recipe = ir::word(composite, "recipe");
    Site at(Operands(composite), builder);
    at.find_own_block(facts_of(kind));
    const Entry& chosen = entry(kind, recipe);
    const std::int64_t sets = at.target ? ir::number(composite, "sets") : 1;
    require_sizes(kind, at, chosen.least_target(at, sets), chosen.signal_size());
    if (recipe == "auto") {
        lower_choice(at, rules_of_auto(kind));
    } else if (sets > 1) {
        lower_in_sets(chosen, at, sets, facts_of(kind).hears_all());
    } else {
        chosen.lower(at);
    }
}

}  // namespace peal::collectives

namespace peal {

std::string_view name(CollectiveKind kind) { return collectives::row(kind).name; }

std::optional<CollectiveKind> collective_from(std::string_view wanted) {
    for (const CollectiveKind kind : kCollectives) {
        if (name(kind) == wanted) return kind;
    }
    return std::nullopt;
}

const std::vector<Recipe>& recipes(CollectiveKind kind) {
    static const std::vector<std::vector<Recipe>> table = [] {
        std::vector<std::vector<Recipe>> all;
        for (const auto& row : collectives::rows()) {
            std::vector<Recipe>& list = all.emplace_back();
            for (const auto& entry : row.entries) list.push_back(entry.row);
        }
        return all;
    }();
    return table[static_cast<std::size_t>(kind)];
}

Reuse reuse_of(CollectiveKind kind, std::string_view recipe) {
    return collectives::entry(kind, recipe).row.reuse;
}

bool knows_hosts(CollectiveKind kind, std::string_view recipe) {
    const auto& list = collectives::entries_of_hosts(kind);
    return std::any_of(list.begin(), list.end(),
                       [&](const collectives::Entry& entry) { return entry.row.name == recipe; });
}

bool has_lanes(CollectiveKind kind, std::string_view recipe) {
    return collectives::entry(kind, recipe).row.has_lanes;
}

std::string_view name(Reuse reuse) { return reuse == Reuse::at_once ? "at once" : "later"; }

namespace {

// On every rank.
bool result_fills_window(const CollectiveFacts& facts) {
    return facts.has_data() && !facts.is_counted() && !facts.input_is_larger() &&
           facts.getters == Holders::everybody;
}

}  // namespace

bool offers(CollectiveKind kind, std::string_view recipe, Placement placement) {
    const CollectiveFacts facts = facts_of(kind);
    switch (placement) {
        case Placement::separate: return true;
        case Placement::in_place: return !facts.counts_pairs();
        case Placement::window:
            return !facts.is_counted() &&
                   collectives::entry(kind, recipe).use == collectives::TargetUse::any;
        case Placement::into_window:
            return result_fills_window(facts) && offers(kind, recipe, Placement::window);
    }
    return false;
}

std::string_view name(Placement placement) {
    constexpr std::array<std::string_view, kPlacements.size()> kNames = {"separate", "in place",
                                                                         "window", "into a window"};
    return kNames[static_cast<std::size_t>(placement)];
}

}  // namespace peal
