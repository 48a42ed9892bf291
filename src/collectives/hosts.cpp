// SPDX-License-Identifier: Apache-2.0
#include "collectives/hosts.hpp"

#include "collectives/layout.hpp"

namespace peal::collectives::hosts {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

// A host's first rank hears from the others, tells the other hosts' first ranks, hears from them
// and tells the others.
//   1  I have come; all of my host have
//   2  all have
void lower_barrier(const Site& at) {
    const Layout layout(at);
    const ExprPtr leader = at.b.Bind("leader", layout.leader_of(at, layout.own()));
    at.b.EmitIf(
        Eq(rank(), leader),
        [&](LoweringBuilder& b) {
            const Site here = at.in(b);
            layout.wait_near(here, integer(1));
            layout.for_each_leader(here, [](const Site& inner, const ExprPtr& peer) {
                inner.notify(peer, integer(1));
            });
            layout.for_each_leader(
                here, [](const Site& inner, const ExprPtr& peer) { inner.wait(peer, integer(1)); });
            layout.notify_near(here, integer(2));
        },
        [&](LoweringBuilder& b) {
            at.in(b).notify(leader, integer(1));
            at.in(b).wait(leader, integer(2));
        });
    at.advance(integer(2));
}

}  // namespace

Entry barrier() {
    return {
        {"hosts", "3, of these 1 between hosts", "0", "-", "1; leaders H+L-2", "-", Reuse::at_once},
        lower_barrier,
        nullptr,
        TargetUse::any,
        cell_per_rank,
        "0"};
}

std::vector<Entry> recipes(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::allreduce: return {allreduce(), allreduce_leaders()};
        case CollectiveKind::reduce_scatter:
        case CollectiveKind::reduce_scatter_v: return {reduce_scatter()};
        case CollectiveKind::allgather:
        case CollectiveKind::allgather_v: return {allgather()};
        case CollectiveKind::broadcast: return {broadcast(), broadcast_leaders()};
        case CollectiveKind::all_to_all:
        case CollectiveKind::all_to_all_v: return {exchange(kind)};
        case CollectiveKind::barrier: return {barrier()};
        default: return {};
    }
}

}  // namespace peal::collectives::hosts
