// SPDX-License-Identifier: Apache-2.0
// How many elements a collective moves, and the sizes that its operands must have.
#include "collectives/all_to_all_v.hpp"
#include "collectives/catalogue.hpp"
#include "peal/limits.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: reads like the IR it makes

namespace {

ExprPtr first_of(const ExprPtr& a, const ExprPtr& b, const ExprPtr& c = nullptr) {
    return a ? a : (b ? b : c);
}

bool is_same_memory(const ExprPtr& a, const ExprPtr& b) {
    const auto* x = a ? as<Var>(a) : nullptr;
    const auto* y = b ? as<Var>(b) : nullptr;
    return x && y && x->name == y->name;
}

// The count per rank, from whichever buffer is there to tell: one that holds a single block, or
// else one that holds all.
ExprPtr count_of(const CollectiveFacts& facts, const Operands& o) {
    if (!facts.has_data() || facts.is_counted()) return nullptr;
    const auto size_of_all = [&](const ExprPtr& memory) {
        return facts.has_blocks() ? size_of(memory) / nranks() : size_of(memory);
    };
    if (facts.output_is_larger()) {
        return o.input && !o.in_place ? size_of(o.input)
                                      : size_of_all(first_of(o.output, o.target));
    }
    if (facts.input_is_larger()) {
        return o.output && !o.in_place ? size_of(o.output)
                                       : size_of_all(first_of(o.input, o.target));
    }
    return size_of_all(first_of(o.input, o.output, o.target));
}

// `target`: of a memory that holds both input and output.
struct Sizes {
    ExprPtr input, output, target;
};

Sizes sizes_of(const CollectiveFacts& facts, const Site& at) {
    if (!facts.has_data()) return {};
    if (facts.counts_pairs()) {
        return {all_to_all_v::input_size(at), all_to_all_v::output_size(at), {}};
    }
    if (facts.counts_ranks()) {
        const ExprPtr own = at.count_of(rank());
        const bool gives_one = facts.input == Share::piece;
        const ExprPtr all = at.blocks().count;
        return {gives_one ? own : all, gives_one ? all : own, all};
    }
    const ExprPtr all = nranks() * at.count;
    const auto size = [&](bool blocks) { return blocks ? all : at.count; };
    return {size(facts.input == Share::blocks), size(facts.output == Share::blocks),
            size(facts.has_blocks())};
}

}  // namespace

Operands::Operands(const Call& call)
    : target(operand(call, "target")),
      signal(operand(call, "signal")),
      input(operand(call, "input")),
      output(operand(call, "output")),
      root(operand(call, "root")),
      counts(operand(call, "counts")),
      sent_at(operand(call, "sent_at")),
      received_at(operand(call, "received_at")),
      hosts(operand(call, "hosts")) {
    for (const Attribute& attribute : call.attributes) {
        if (attribute.name == "op") op = *reduce_op_from(std::get<std::string>(attribute.value));
    }
    if (target) element = type_of(*target).element;
    in_place = is_same_memory(input, output);
    const CollectiveFacts facts = facts_of(kind_of(call));
    count = count_of(facts, *this);
}

std::int64_t Operands::line() const {
    return static_cast<std::int64_t>(kCacheLineBytes / bytes_of(element));
}

void require_sizes(CollectiveKind kind, const Site& at, const ExprPtr& window,
                   const ExprPtr& cells) {
    at.b.Require(size_of(at.signal), Compare::ge, cells);
    if (at.root) {
        at.b.Require(at.root, Compare::ge, integer(0));
        at.b.Require(at.root, Compare::lt, nranks());
    }
    const Sizes sizes = sizes_of(facts_of(kind), at);
    // A memory that holds input and output told the count itself, so it must come out even.
    if (at.in_place) {
        at.b.Require(size_of(at.input), Compare::eq, sizes.target);
    } else {
        if (at.input) at.b.Require(size_of(at.input), Compare::eq, sizes.input);
        if (at.output) at.b.Require(size_of(at.output), Compare::eq, sizes.output);
    }
    if (!at.target) return;
    if (at.on_window()) {
        at.b.Require(size_of(at.target), Compare::eq, sizes.target);
    } else {
        at.b.Require(size_of(at.target), Compare::ge, window);
    }
}

}  // namespace peal::collectives
