// SPDX-License-Identifier: Apache-2.0
#include "collectives/site.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

Part part(const ExprPtr& total, const ExprPtr& parts, const ExprPtr& i) {
    const ExprPtr begin = i * total / parts;
    const ExprPtr end = (i + 1) * total / parts;
    return {begin, end - begin};
}

Part shifted(const Part& part, const ExprPtr& offset) { return {offset + part.offset, part.count}; }

ExprPtr Min(const ExprPtr& a, const ExprPtr& b) { return binary(BinaryOp::min, a, b); }

Part block(const ExprPtr& count, const ExprPtr& i) { return {i * count, count}; }

ExprPtr ceil_div(const ExprPtr& a, const ExprPtr& b) { return (a + b - 1) / b; }

ExprPtr size_of(const ExprPtr& memory) {
    ExprPtr elements = integer(1);
    for (const ExprPtr& dimension : type_of(*memory).shape) elements = elements * dimension;
    return elements;
}

Part Site::block_of(const ExprPtr& r) const {
    if (!counts) return block(count, r);
    const VarPtr k = b.FreshIndex("k");
    const ExprPtr before = fold(FoldOp::sum, k, integer(0), r, table_at(counts, {k}));
    return {b.Bind("before", before), count_of(r)};
}

ExprPtr Site::count_of(const ExprPtr& r) const { return counts ? table_at(counts, {r}) : count; }

Part Site::blocks() const {
    if (!counts) return {integer(0), nranks() * count};
    const VarPtr k = b.FreshIndex("k");
    return {integer(0), fold(FoldOp::sum, k, integer(0), nranks(), table_at(counts, {k}))};
}

ExprPtr Site::largest() const {
    if (!counts) return count;
    const VarPtr k = b.FreshIndex("k");
    return fold(FoldOp::max, k, integer(0), nranks(), table_at(counts, {k}));
}

void Site::find_own_block(const CollectiveFacts& facts) {
    if (!in_place) return;
    if (facts.output_is_larger()) input_offset = block_of(rank()).offset;
    if (facts.input_is_larger()) output_offset = block_of(rank()).offset;
}

namespace {

// What parts are made of.
ExprPtr unit_of(const Site& at, const ExprPtr& total, const ExprPtr& parts) {
    const ExprPtr has_lines = Min(total / (parts * at.line()), integer(1));
    return at.b.Bind("unit", has_lines * (at.line() - 1) + 1);
}

}  // namespace

ExprPtr Site::longest_part(const ExprPtr& total) const {
    const ExprPtr unit = unit_of(*this, total, nranks());
    return ceil_div(ceil_div(total, unit), nranks()) * unit;
}

Part Site::part_of(const ExprPtr& total, const ExprPtr& r) const {
    return lines_of(total, nranks(), r);
}

Part Site::part_of_lane(const ExprPtr& total) const { return lines_of(total, nlanes(), lane()); }

Part Site::lines_of(const ExprPtr& total, const ExprPtr& parts, const ExprPtr& i) const {
    const ExprPtr unit = unit_of(*this, total, parts);
    const ExprPtr units = ceil_div(total, unit);
    const auto boundary = [&](const ExprPtr& k) { return Min(k * units / parts * unit, total); };
    const ExprPtr begin = b.Bind("begin", boundary(i));
    return {begin, boundary(i + 1) - begin};
}

Site Site::of_lane() const {
    Site same = *this;
    same.first_cell = lane() * nranks();
    return same;
}

// ---------------------------------------------------------------------------- data

void Site::stage(const Part& from, const ExprPtr& at) const {
    if (input) b.Store(take(from), target, in_set(at));
}

void Site::unstage(const Part& from, const ExprPtr& at) const {
    if (output) give(load_own(from), at);
}

void Site::deliver(const ExprPtr& tile, const ExprPtr& output_at, const ExprPtr& target_at) const {
    if (output) {
        give(tile, output_at);
    } else {
        b.Store(tile, target, target_at);
    }
}

ExprPtr Site::take(const Part& from) const {
    return b.Load(input, input_offset ? input_offset + from.offset : from.offset, from.count);
}

void Site::give(const ExprPtr& tile, const ExprPtr& at) const {
    b.Store(tile, output, output_offset ? output_offset + at : at);
}

void Site::keep(const Part& from, const ExprPtr& at) const {
    if (!in_place) give(take(from), at);
}

ExprPtr Site::load_input(const Part& from, const ExprPtr& target_at) const {
    return input ? take(from) : b.Load(target, target_at, from.count);
}

ExprPtr Site::load(const Part& from, const ExprPtr& peer) const {
    return b.RemoteLoad(target, peer, in_set(from.offset), from.count);
}

ExprPtr Site::load_own(const Part& from) const {
    return b.Load(target, in_set(from.offset), from.count);
}

ExprPtr Site::combine_in_rank_order(const Part& from) const {
    return combine_ranks(nranks(), load(from, integer(0)), [&](const Site& here, const ExprPtr& r) {
        return here.b.EmitIfExpr(
            NotEq(r, rank()), [&](LoweringBuilder& then) { return in(then).load(from, r); },
            [&](LoweringBuilder& other) { return in(other).load_own(from); });
    });
}

ExprPtr Site::combine_with_peers(const Part& own, const PeerTile& theirs) const {
    const auto term = [&](const Site& here, const ExprPtr& r) {
        return here.b.EmitIfExpr(
            NotEq(r, rank()), [&](LoweringBuilder& then) { return theirs(in(then), r); },
            [&](LoweringBuilder& other) { return in(other).take(own); });
    };
    return combine_ranks(nranks(), term(*this, integer(0)), term);
}

void Site::give_combined(const Part& own, const ExprPtr& at, const PeerTile& theirs) const {
    const auto combine = [&](LoweringBuilder& inner) {
        const Site here = in(inner);
        here.give(here.combine_with_peers(own, theirs), at);
    };
    // A single rank has its result in place.
    if (in_place) {
        b.EmitIf(Less(integer(1), nranks()), combine);
    } else {
        combine(b);
    }
}

ExprPtr Site::combine_ranks(const ExprPtr& end, const ExprPtr& first, const PeerTile& term) const {
    return b.EmitForReduce("r", integer(1), end, first,
                           [&](LoweringBuilder& loop, const ExprPtr& r, const ExprPtr& acc) {
                               return loop.Combine(op, acc, term(in(loop), r));
                           });
}

void Site::combine_from(const ExprPtr& peer, const Part& part) const {
    b.Store(b.Combine(op, load(part, peer), load_own(part)), target, part.offset);
}

// ---------------------------------------------------------------------------- signals

void Site::notify(const ExprPtr& peer, const ExprPtr& phase) const {
    b.Notify(signal, peer, cell_of(rank()), b.Generation(signal) + phase);
}

void Site::wait(const ExprPtr& peer, const ExprPtr& phase) const {
    b.Wait(signal, cell_of(peer), b.Generation(signal) + phase);
}

void Site::notify_peers(const ExprPtr& phase) const {
    for_each_peer([&](const Site& at, const ExprPtr& peer) { at.notify(peer, phase); });
}

void Site::wait_peers(const ExprPtr& phase) const {
    for_each_peer([&](const Site& at, const ExprPtr& peer) { at.wait(peer, phase); });
}

void Site::meet(const ExprPtr& phase) const {
    notify_peers(phase);
    wait_peers(phase);
}

void Site::advance(const ExprPtr& phases) const {
    if (tells_end) notify_peers(phases + 1);
    b.Advance(signal, tells_end ? phases + 1 : phases);
}

void Site::for_each_peer(const PeerBody& body) const {
    b.EmitFor("peer", integer(0), nranks(), [&](LoweringBuilder& loop, const ExprPtr& peer) {
        loop.EmitIf(NotEq(peer, rank()), [&](LoweringBuilder& inner) { body(in(inner), peer); });
    });
}

void Site::for_each_peer_from_right(const PeerBody& body) const {
    b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        body(in(loop), loop.Bind("to", (rank() + i) % nranks()));
    });
}

void Site::if_root(const std::function<void(const Site&)>& at_root,
                   const std::function<void(const Site&)>& elsewhere) const {
    b.EmitIf(
        Eq(rank(), root), [&](LoweringBuilder& then) { at_root(in(then)); },
        [&](LoweringBuilder& other) { elsewhere(in(other)); });
}

}  // namespace peal::collectives
