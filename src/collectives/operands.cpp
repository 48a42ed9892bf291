// SPDX-License-Identifier: Apache-2.0
// How many elements a collective moves, and the sizes that its operands must have.
#include "collectives/all_to_all_v.hpp"
#include "collectives/catalogue.hpp"
#include "collectives/requirements.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: reads like the IR it makes

namespace {

const ExprPtr& first_of(const ExprPtr& a, const ExprPtr& b, const ExprPtr& c) {
    return a ? a : (b ? b : c);
}

bool is_same_memory(const ExprPtr& a, const ExprPtr& b) {
    const auto* x = a ? as<Var>(a) : nullptr;
    const auto* y = b ? as<Var>(b) : nullptr;
    return x && y && x->name == y->name;
}

// The count per rank, from whichever buffer is there to tell.
ExprPtr count_of(CollectiveKind kind, const Operands& o) {
    const auto per_rank = [](const ExprPtr& memory) { return size_of(memory) / nranks(); };
    switch (kind) {
        case CollectiveKind::allreduce:
        case CollectiveKind::broadcast:
        case CollectiveKind::reduce: return size_of(first_of(o.input, o.output, o.target));
        case CollectiveKind::allgather:
        case CollectiveKind::gather:
            return o.input && !o.in_place ? size_of(o.input)
                                          : per_rank(first_of(o.output, o.target, nullptr));
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::scatter:
            return o.output && !o.in_place ? size_of(o.output)
                                           : per_rank(first_of(o.input, o.target, nullptr));
        case CollectiveKind::all_to_all: return per_rank(first_of(o.input, o.output, o.target));
        case CollectiveKind::all_to_all_v:
        case CollectiveKind::barrier: return nullptr;
    }
    return nullptr;
}

bool gives_one_of_its_blocks(CollectiveKind kind) {
    return kind == CollectiveKind::allgather || kind == CollectiveKind::gather;
}

bool gets_one_of_its_blocks(CollectiveKind kind) {
    return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::scatter;
}

// `target`: of a memory that holds both input and output.
struct Sizes {
    ExprPtr input, output, target;
};

Sizes sizes_of(CollectiveKind kind, const Site& at) {
    const ExprPtr one = at.count;
    const ExprPtr all = at.count ? nranks() * at.count : nullptr;
    switch (kind) {
        case CollectiveKind::allreduce:
        case CollectiveKind::broadcast:
        case CollectiveKind::reduce: return {one, one, one};
        case CollectiveKind::allgather:
        case CollectiveKind::gather: return {one, all, all};
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::scatter: return {all, one, all};
        case CollectiveKind::all_to_all: return {all, all, all};
        case CollectiveKind::all_to_all_v:
            return {all_to_all_v::sent_before(at, rank(), nranks()),
                    all_to_all_v::received_before(at, nranks(), rank()),
                    {}};
        case CollectiveKind::barrier: return {};
    }
    return {};
}

}  // namespace

Operands::Operands(const Call& call)
    : target(operand(call, "target")),
      signal(operand(call, "signal")),
      input(operand(call, "input")),
      output(operand(call, "output")),
      root(operand(call, "root")),
      counts(operand(call, "counts")) {
    for (const Attribute& attribute : call.attributes) {
        if (attribute.name == "op") op = *reduce_op_from(std::get<std::string>(attribute.value));
    }
    if (target) element = type_of(*target).element;
    in_place = is_same_memory(input, output);
    const CollectiveKind kind = kind_of(call);
    count = count_of(kind, *this);
    if (in_place) {
        if (gives_one_of_its_blocks(kind)) input_offset = rank() * count;
        if (gets_one_of_its_blocks(kind)) output_offset = rank() * count;
    }
}

std::int64_t Operands::line() const {
    return static_cast<std::int64_t>(kCacheLineBytes / bytes_of(element));
}

void require_sizes(CollectiveKind kind, const Site& at, const ExprPtr& window) {
    at.b.Require(size_of(at.signal), Compare::ge, nranks());
    if (at.root) {
        at.b.Require(at.root, Compare::ge, integer(0));
        at.b.Require(at.root, Compare::lt, nranks());
    }
    const Sizes sizes = sizes_of(kind, at);
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
