// SPDX-License-Identifier: Apache-2.0
// A collective as a program of one line, with its arguments.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/all_to_all_v.hpp"
#include "collectives/catalogue.hpp"
#include "peal/builder.hpp"
#include "peal/error.hpp"
#include "peal/limits.hpp"

namespace peal {
namespace {

using namespace ir;  // NOLINT: reads like the IR it makes

[[noreturn]] void reject(CollectiveKind kind, const std::string& why) {
    throw Error(Fault::usage, fmt::format("{}: {}", name(kind), why));
}
[[noreturn]] void reject(const Collective& collective, const std::string& why) {
    reject(collective.kind, why);
}

void validate_mode(const Collective& collective) {
    if (collective.recipe == "auto") return;
    std::vector<std::string_view> names = {"auto"};
    for (const Recipe& recipe : recipes(collective.kind)) names.push_back(recipe.name);
    for (const auto& entry : collectives::entries_of_hosts(collective.kind)) {
        names.push_back(entry.row.name);
    }
    if (std::find(names.begin(), names.end(), collective.recipe) == names.end()) {
        reject(collective, fmt::format("there is no recipe '{}'; choose one of {}",
                                       collective.recipe, fmt::join(names, ", ")));
    }
}

void validate_hosts(const Collective& collective, int nranks) {
    const auto ranks = static_cast<std::size_t>(nranks);
    if (knows_hosts(collective.kind, collective.recipe)) {
        if (collective.hosts.size() == ranks) return;
        reject(collective,
               fmt::format("recipe '{}' asks for the host of each of {} ranks, found {} entries",
                           collective.recipe, nranks, collective.hosts.size()));
    }
    if (!collective.hosts.empty() && collective.hosts.size() != ranks) {
        reject(collective, fmt::format("hosts must have {} entries, one for each rank, found {}",
                                       nranks, collective.hosts.size()));
    }
}

// Counted from 0, in the order in which ranks mention them.
std::vector<std::int64_t> counted_hosts(const std::vector<std::int64_t>& hosts) {
    std::vector<std::int64_t> known, numbers;
    for (const std::int64_t host : hosts) {
        const auto found = std::find(known.begin(), known.end(), host);
        numbers.push_back(found - known.begin());
        if (found == known.end()) known.push_back(host);
    }
    return numbers;
}

void validate_sets(const Collective& collective) {
    if (collective.sets < 1 || collective.sets > kMaxSets) {
        reject(collective, fmt::format("sets must be 1..{}, found {}", kMaxSets, collective.sets));
    }
    if (collective.sets > 1 && reuse_of(collective.kind, collective.recipe) == Reuse::at_once) {
        reject(collective, fmt::format("recipe '{}' leaves its window free at once: it has one set",
                                       collective.recipe));
    }
}

void validate_offsets(const Collective& collective) {
    for (const auto& [what, offsets] : {std::pair("sent_at", &collective.sent_at),
                                        std::pair("received_at", &collective.received_at)}) {
        if (offsets->size() != collective.counts.size()) {
            reject(collective, fmt::format("{} must have as many entries as counts, {}, found {}",
                                           what, collective.counts.size(), offsets->size()));
        }
        for (const std::int64_t offset : *offsets) {
            if (offset < 0) {
                reject(collective, fmt::format("{} must not be negative, found {}", what, offset));
            }
        }
    }
}

void validate_placement(const Collective& collective) {
    if (offers(collective.kind, collective.recipe, collective.placement)) return;
    if (facts_of(collective.kind).counts_pairs()) {
        reject(collective, "input and output must be separate; there is no in-place form");
    }
    if (facts_of(collective.kind).is_counted()) {
        reject(collective, "input and output must be private; there is no form on a window");
    }
    reject(collective,
           fmt::format("recipe '{}' stages private memory; choose another one on a window",
                       collective.recipe));
}

void validate_lanes(const Collective& collective) {
    if (collective.lanes > 1 && !has_lanes(collective.kind, collective.recipe)) {
        std::vector<std::string_view> names;
        for (const Recipe& recipe : recipes(collective.kind)) {
            if (recipe.has_lanes) names.push_back(recipe.name);
        }
        reject(collective,
               fmt::format(
                   "recipe '{}' has one lane, found {}{}", collective.recipe, collective.lanes,
                   names.empty() ? "; there is none with more"
                                 : fmt::format("; with more there is {}", fmt::join(names, ", "))));
    }
    if (collective.lanes < 0 || collective.lanes > kMaxLanes) {
        reject(collective,
               fmt::format("lanes must be 1..{}, found {}", kMaxLanes, collective.lanes));
    }
}

// Signals are 64 bits wide: a generation never comes to an end.
constexpr Element kSignalElement = Element::i64;

ExprPtr signal_for(KernelBuilder& k, const Collective& collective) {
    return k.Window("signal", kSignalElement,
                    {collectives::entry(collective.kind, collective.recipe).signal_size()});
}

struct Shapes {
    std::vector<ExprPtr> input, output;
};

ExprPtr sum_over_ranks(KernelBuilder& k, const std::function<ExprPtr(const ExprPtr&)>& term) {
    const VarPtr index = k.Body().FreshIndex("k");
    return fold(FoldOp::sum, index, integer(0), nranks(), term(index));
}

// all_to_all_v says itself where its pieces end.
Shapes pairwise_shapes(KernelBuilder& k, const collectives::Operands& sizes) {
    const collectives::Site at(sizes, k.Body());
    return {{collectives::all_to_all_v::input_size(at)},
            {collectives::all_to_all_v::output_size(at)}};
}

Shapes piece_shapes(KernelBuilder& k, const CollectiveFacts& facts, const ExprPtr& counts) {
    const auto shape = [&](Share share) -> std::vector<ExprPtr> {
        if (share == Share::piece) return {table_at(counts, {rank()})};
        return {sum_over_ranks(k, [&](const ExprPtr& r) { return table_at(counts, {r}); })};
    };
    return {shape(facts.input), shape(facts.output)};
}

Shapes even_shapes(CollectiveKind kind, const ExprPtr& n) {
    const CollectiveFacts facts = facts_of(kind);
    const auto shape = [&](Share share) {
        return share == Share::blocks ? std::vector<ExprPtr>{nranks(), n} : std::vector<ExprPtr>{n};
    };
    return {shape(facts.input), shape(facts.output)};
}

// What a memory of both holds.
const std::vector<ExprPtr>& larger(CollectiveKind kind, const Shapes& shapes) {
    return facts_of(kind).input_is_larger() ? shapes.input : shapes.output;
}

std::vector<ExprPtr> data_shape(const Collective& collective, const Shapes& shapes,
                                const collectives::Operands& sizes, KernelBuilder& k) {
    if (collective.placement == Placement::window) return larger(collective.kind, shapes);
    if (collective.placement == Placement::into_window) return shapes.output;
    const collectives::Entry& recipe = collectives::entry(collective.kind, collective.recipe);
    const ExprPtr least = recipe.least_target(collectives::Site(sizes, k.Body()), collective.sets);
    if (recipe.use != collectives::TargetUse::stages_in_ring) return {least};
    return {Max(k.Symbol("stage"), least)};
}

}  // namespace

std::size_t table_entries(CollectiveKind kind, int nranks) {
    const auto ranks = static_cast<std::size_t>(nranks);
    const CollectiveFacts facts = facts_of(kind);
    return facts.counts_pairs() ? ranks * ranks : facts.counts_ranks() ? ranks : 0;
}

void validate_counts(CollectiveKind kind, std::span<const std::int64_t> counts, int nranks) {
    const std::size_t wanted = table_entries(kind, nranks);
    if (counts.size() != wanted) {
        reject(kind, fmt::format("counts must have {} entries (one for each {}{} ranks), found {}",
                                 wanted, facts_of(kind).counts_pairs() ? "pair of " : "of ", nranks,
                                 counts.size()));
    }
    for (const std::int64_t count : counts) {
        if (count < 0) reject(kind, fmt::format("counts must not be negative, found {}", count));
    }
}

void validate(const Collective& collective, int nranks) {
    if (nranks < 1 || nranks > kMaxRanks) {
        reject(collective, fmt::format("ranks must be 1..{}, found {}", kMaxRanks, nranks));
    }
    validate_mode(collective);
    if (has_root(collective.kind) && (collective.root < 0 || collective.root >= nranks)) {
        reject(collective,
               fmt::format("root must be 0..{}, found {}", nranks - 1, collective.root));
    }
    validate_placement(collective);
    validate_hosts(collective, nranks);
    validate_sets(collective);
    validate_lanes(collective);
    if (facts_of(collective.kind).is_counted()) {
        validate_counts(collective.kind, collective.counts, nranks);
    }
    if (!collective.sent_at.empty() || !collective.received_at.empty()) {
        if (!facts_of(collective.kind).counts_pairs()) {
            reject(collective, "sent_at and received_at are for all_to_all_v only");
        }
        validate_offsets(collective);
    }
    const std::uint64_t limit = (std::uint64_t{1} << 48) / bytes_of(collective.element) /
                                static_cast<std::uint64_t>(nranks);
    if (collective.count > limit) {
        reject(collective,
               fmt::format("count must be at most {}, found {}", limit, collective.count));
    }
}

int lanes_of(const Collective& collective) {
    if (!has_lanes(collective.kind, collective.recipe)) return 1;
    return collective.lanes != 0 ? collective.lanes : kDefaultLanes;
}

ir::Program program_of(const Collective& collective) {
    const CollectiveKind kind = collective.kind;
    KernelBuilder k{std::string(name(kind))};
    std::vector<Attribute> attributes;
    if (has_reduction(kind)) attributes.push_back({"op", std::string(name(collective.op))});
    attributes.push_back({"recipe", collective.recipe});
    if (collective.sets != 1) attributes.push_back({"sets", std::int64_t{collective.sets}});

    ExprPtr hosts;
    if (knows_hosts(kind, collective.recipe)) hosts = k.Table("hosts", {nranks()});
    if (!facts_of(kind).has_data()) {
        const ExprPtr signal = signal_for(k, collective);
        k.Body().Emit(make_call(collectives::op_of(kind), {signal, hosts}, attributes));
        return std::move(k).Finish();
    }
    const CollectiveFacts facts = facts_of(kind);
    const bool counted = facts.is_counted();
    ExprPtr counts;
    const auto table_of_pairs = [&](std::string_view what) {
        return k.Table(what, {nranks(), nranks()});
    };
    if (facts.counts_pairs()) counts = table_of_pairs("counts");
    if (facts.counts_ranks()) counts = k.Table("counts", {nranks()});
    collectives::Operands sizes;
    sizes.element = collective.element;
    sizes.counts = counts;
    sizes.hosts = hosts;
    if (!collective.sent_at.empty()) {
        sizes.sent_at = table_of_pairs("sent_at");
        sizes.received_at = table_of_pairs("received_at");
    }
    if (!counted) sizes.count = k.Symbol("n");
    const Shapes shapes = facts.counts_pairs()   ? pairwise_shapes(k, sizes)
                          : facts.counts_ranks() ? piece_shapes(k, facts, counts)
                                                 : even_shapes(kind, sizes.count);
    ExprPtr input, output;
    if (is_apart(collective.placement)) {
        input = k.Tensor("input", collective.element, shapes.input, Direction::in);
    }
    if (collective.placement == Placement::separate) {
        output = k.Tensor("output", collective.element, shapes.output, Direction::out);
    } else if (collective.placement == Placement::in_place) {
        input = output =
            k.Tensor("buffer", collective.element, larger(kind, shapes), Direction::inout);
    }
    const ExprPtr data =
        k.Window("data", collective.element, data_shape(collective, shapes, sizes, k));
    const ExprPtr signal = signal_for(k, collective);
    std::vector<ExprPtr> operands = {data, signal};
    if (has_root(kind)) operands.push_back(k.Scalar("root"));
    if (counted) operands.push_back(counts);
    operands.push_back(input);
    operands.push_back(output);
    if (facts.counts_pairs()) {
        operands.insert(operands.end(), {sizes.sent_at, sizes.received_at});
    }
    if (hosts) operands.push_back(hosts);
    k.Body().Emit(make_call(collectives::op_of(kind), operands, attributes));
    return std::move(k).Finish();
}

Bindings bindings_of(const Collective& collective) {
    Bindings bindings;
    if (knows_hosts(collective.kind, collective.recipe)) {
        bindings.tables["hosts"] = counted_hosts(collective.hosts);
    }
    if (!facts_of(collective.kind).has_data()) return bindings;
    if (facts_of(collective.kind).is_counted()) {
        bindings.tables["counts"] = collective.counts;
        if (!collective.sent_at.empty()) {
            bindings.tables["sent_at"] = collective.sent_at;
            bindings.tables["received_at"] = collective.received_at;
        }
    } else {
        bindings.integers["n"] = static_cast<std::int64_t>(collective.count);
    }
    if (has_root(collective.kind)) bindings.integers["root"] = collective.root;
    if (collectives::entry(collective.kind, collective.recipe).use ==
        collectives::TargetUse::stages_in_ring) {
        const std::uint64_t bytes =
            collective.stage_bytes ? collective.stage_bytes : kDefaultStageBytes;
        bindings.integers["stage"] =
            static_cast<std::int64_t>(bytes / bytes_of(collective.element));
    }
    return bindings;
}

namespace {

// Of ranks before `end`.
std::uint64_t sum_of_counts(const Collective& collective, int end) {
    const auto begin = collective.counts.begin();
    return static_cast<std::uint64_t>(std::accumulate(begin, begin + end, std::int64_t{0}));
}

// Up to the end of the last of the pieces counts[first + i * step], at offsets[row + i] or packed.
std::uint64_t end_of_pieces(const Collective& collective, std::size_t first, std::size_t step,
                            std::size_t nranks, const std::vector<std::int64_t>& offsets,
                            std::size_t row) {
    std::int64_t end = 0;
    for (std::size_t i = 0; i < nranks; ++i) {
        const std::int64_t count = collective.counts[first + i * step];
        const std::int64_t begin = offsets.empty() ? end : offsets[row * nranks + i];
        end = std::max(end, begin + count);
    }
    return static_cast<std::uint64_t>(end);
}

std::uint64_t elements_of(Share share, const Collective& collective, int rank, int nranks) {
    switch (share) {
        case Share::block: return collective.count;
        case Share::blocks: return collective.count * static_cast<std::uint64_t>(nranks);
        case Share::piece:
            return static_cast<std::uint64_t>(collective.counts[static_cast<std::size_t>(rank)]);
        case Share::pieces: return sum_of_counts(collective, nranks);
        default: return 0;
    }
}

}  // namespace

std::uint64_t input_count(const Collective& collective, int rank, int nranks) {
    const CollectiveFacts facts = facts_of(collective.kind);
    if (facts.counts_pairs()) {
        const auto row = static_cast<std::size_t>(rank), all = static_cast<std::size_t>(nranks);
        return end_of_pieces(collective, row * all, 1, all, collective.sent_at, row);
    }
    return elements_of(facts.input, collective, rank, nranks);
}

std::uint64_t output_count(const Collective& collective, int rank, int nranks) {
    const CollectiveFacts facts = facts_of(collective.kind);
    if (facts.counts_pairs()) {
        const auto row = static_cast<std::size_t>(rank), all = static_cast<std::size_t>(nranks);
        return end_of_pieces(collective, row, all, all, collective.received_at, row);
    }
    return elements_of(facts.output, collective, rank, nranks);
}

std::uint64_t own_offset(const Collective& collective, int rank) {
    if (facts_of(collective.kind).counts_ranks()) return sum_of_counts(collective, rank);
    return collective.count * static_cast<std::uint64_t>(rank);
}

}  // namespace peal
