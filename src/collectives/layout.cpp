// SPDX-License-Identifier: Apache-2.0
#include "collectives/layout.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: reads like the IR it makes

namespace {

// 1 unless a equals b.
ExprPtr differ(const ExprPtr& a, const ExprPtr& b) { return Min((a - b) * (a - b), integer(1)); }

}  // namespace

Layout::Layout(const Site& at)
    : table_(at.hosts),
      hosts_(at.b.Bind("hosts_in_all", hosts_of(at))),
      own_(at.b.Bind("own_host", host_of(rank()))),
      size_(at.b.Bind("ranks_here", nranks() - others_before(at, own_, nranks()))),
      first_(at.b.Bind("first", leader_of(at, own_))) {
    // They are counted from 0, and there is a rank on each.
    const VarPtr k = at.b.FreshIndex("k");
    at.b.Require(fold(FoldOp::max, k, integer(0), nranks(), integer(0) - host_of(k)), Compare::eq,
                 integer(0));
    const VarPtr host = at.b.FreshIndex("host");
    at.b.Require(fold(FoldOp::max, host, integer(0), hosts_, others_before(at, host, nranks())),
                 Compare::lt, nranks());
}

ExprPtr Layout::hosts_of(const Site& at) {
    const VarPtr k = at.b.FreshIndex("k");
    return fold(FoldOp::max, k, integer(0), nranks(), table_at(at.hosts, {k})) + 1;
}

ExprPtr Layout::host_of(const ExprPtr& r) const { return table_at(table_, {r}); }

ExprPtr Layout::others_before(const Site& at, const ExprPtr& host, const ExprPtr& r) const {
    const VarPtr k = at.b.FreshIndex("k");
    return fold(FoldOp::sum, k, integer(0), r, differ(host_of(k), host));
}

// How many ranks of its host are before it.
ExprPtr Layout::place_of(const Site& at, const ExprPtr& r) const {
    return r - others_before(at, host_of(r), r);
}

// The rank of this host that follows `r`; the first one follows the last.
ExprPtr Layout::next_here(const Site& at, const ExprPtr& r) const {
    const VarPtr k = at.b.FreshIndex("k");
    const ExprPtr is_here = integer(1) - differ(host_of(k), own_);
    const ExprPtr left =
        at.b.Bind("left", fold(FoldOp::max, k, r + 1, nranks(), is_here * (nranks() - k)));
    const ExprPtr is_last = integer(1) - Min(left, integer(1));
    return is_last * first_ + (integer(1) - is_last) * (nranks() - left);
}

// The ranks of this host take turns as holders of those that are not of it: the k-th of these has
// the holder at place k mod ranks_here().
void Layout::for_each_rank(const Site& at, const HolderBody& body) const {
    at.b.EmitForReduce("r", integer(0), nranks(), first_,
                       [&](LoweringBuilder& loop, const ExprPtr& r, const ExprPtr& deputy) {
                           const ExprPtr is_far = loop.Bind("is_far", differ(host_of(r), own_));
                           const ExprPtr holder = loop.Bind("holder", r + is_far * (deputy - r));
                           body(at.in(loop), r, holder);
                           return loop.EmitIfExpr(
                               Eq(is_far, integer(1)),
                               [&](LoweringBuilder& b) { return next_here(at.in(b), deputy); },
                               [&](LoweringBuilder&) { return deputy; });
                       });
}

void Layout::for_each_held(const Site& at, const Site::PeerBody& body) const {
    for_each_rank(at, [&](const Site& here, const ExprPtr& r, const ExprPtr& holder) {
        here.b.EmitIf(Eq(holder, rank()), [&](LoweringBuilder& b) { body(here.in(b), r); });
    });
}

void Layout::for_each_not_held(const Site& at, const HolderBody& body) const {
    for_each_rank(at, [&](const Site& here, const ExprPtr& r, const ExprPtr& holder) {
        here.b.EmitIf(NotEq(holder, rank()),
                      [&](LoweringBuilder& b) { body(here.in(b), r, holder); });
    });
}

void Layout::for_each_principal(const Site& at, const Site::PeerBody& body) const {
    for_each_held(at, [&](const Site& here, const ExprPtr& r) {
        here.b.EmitIf(NotEq(r, rank()), [&](LoweringBuilder& b) { body(here.in(b), r); });
    });
}

void Layout::for_each_deputy(const Site& at, const Site::PeerBody& body) const {
    for_each_far(at, [&](const Site& here, const ExprPtr& peer) {
        const ExprPtr there = here.b.Bind("there", host_of(peer));
        const ExprPtr size = nranks() - others_before(here, there, nranks());
        const ExprPtr holder = others_before(here, there, rank()) % size;
        here.b.EmitIf(Eq(place_of(here, peer), holder),
                      [&](LoweringBuilder& b) { body(here.in(b), peer); });
    });
}

void Layout::for_each_near(const Site& at, const Site::PeerBody& body) const {
    at.for_each_peer([&](const Site& here, const ExprPtr& peer) {
        here.b.EmitIf(Eq(host_of(peer), own_), [&](LoweringBuilder& b) { body(here.in(b), peer); });
    });
}

void Layout::for_each_far(const Site& at, const Site::PeerBody& body) const {
    at.for_each_peer_from_right([&](const Site& here, const ExprPtr& peer) {
        here.b.EmitIf(NotEq(host_of(peer), own_),
                      [&](LoweringBuilder& b) { body(here.in(b), peer); });
    });
}

void Layout::notify_near(const Site& at, const ExprPtr& phase) const {
    for_each_near(at, [&](const Site& here, const ExprPtr& peer) { here.notify(peer, phase); });
}

void Layout::wait_near(const Site& at, const ExprPtr& phase) const {
    for_each_near(at, [&](const Site& here, const ExprPtr& peer) { here.wait(peer, phase); });
}

ExprPtr Layout::leader_of(const Site& at, const ExprPtr& host) const {
    const VarPtr k = at.b.FreshIndex("k");
    const ExprPtr last = nranks() - 1;
    const ExprPtr is_there = integer(1) - differ(host_of(k), host);
    return last - fold(FoldOp::max, k, integer(0), nranks(), is_there * (last - k));
}

void Layout::for_each_leader(const Site& at, const Site::PeerBody& body) const {
    for_each_far(at, [&](const Site& here, const ExprPtr& peer) {
        here.b.EmitIf(Eq(place_of(here, peer), integer(0)),
                      [&](LoweringBuilder& b) { body(here.in(b), peer); });
    });
}

ExprPtr Layout::combine_near(const Site& at, const Site::PeerTile& term) const {
    return at.b.EmitForReduce(
        "r", first_ + 1, nranks(), term(at, first_),
        [&](LoweringBuilder& loop, const ExprPtr& r, const ExprPtr& acc) {
            return loop.EmitIfExpr(
                Eq(host_of(r), own_),
                [&](LoweringBuilder& b) { return b.Combine(at.op, acc, term(at.in(b), r)); },
                [&](LoweringBuilder&) { return acc; });
        });
}

ExprPtr Layout::combine_hosts(const Site& at, const Site::PeerTile& term) const {
    return at.combine_ranks(hosts_, term(at, integer(0)), term);
}

}  // namespace peal::collectives
