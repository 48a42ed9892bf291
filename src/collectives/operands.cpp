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

// The count per rank, from whichever buffer is there to tell.
ExprPtr count_of(CollectiveKind kind, const Operands& o) {
    const auto per_rank = [](const ExprPtr& memory) { return size_of(memory) / nranks(); };
    switch (kind) {
        case CollectiveKind::allreduce:
        case CollectiveKind::broadcast:
        case CollectiveKind::reduce: return size_of(first_of(o.input, o.output, o.target));
        case CollectiveKind::allgather:
        case CollectiveKind::gather:
            return o.input ? size_of(o.input) : per_rank(first_of(o.output, o.target, nullptr));
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::scatter:
            return o.output ? size_of(o.output) : per_rank(first_of(o.input, o.target, nullptr));
        case CollectiveKind::all_to_all: return per_rank(first_of(o.input, o.output, o.target));
        case CollectiveKind::all_to_all_v:
        case CollectiveKind::barrier: return nullptr;
    }
    return nullptr;
}

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
            return {sent_before(at, rank(), nranks()), received_before(at, nranks(), rank()),
                    most_received(at)};
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
    count = count_of(kind_of(call), *this);
}

void require_sizes(CollectiveKind kind, const Site& at) {
    at.b.Require(size_of(at.signal), Compare::ge, nranks());
    if (at.root) {
        at.b.Require(at.root, Compare::ge, integer(0));
        at.b.Require(at.root, Compare::lt, nranks());
    }
    const Sizes sizes = sizes_of(kind, at);
    if (at.input) at.b.Require(size_of(at.input), Compare::eq, sizes.input);
    if (at.output) at.b.Require(size_of(at.output), Compare::eq, sizes.output);
    if (!at.target) return;
    // In place the target itself told the count, so it must come out even.
    at.b.Require(size_of(at.target), at.in_place() ? Compare::eq : Compare::ge, sizes.target);
}

}  // namespace peal::collectives
