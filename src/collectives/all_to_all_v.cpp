// SPDX-License-Identifier: Apache-2.0
// All-to-all with a count per pair of ranks.
#include "collectives/all_to_all_v.hpp"

#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::all_to_all_v {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

ExprPtr sum_below(const Site& at, const ExprPtr& end,
                  const std::function<ExprPtr(const ExprPtr& k)>& term) {
    const VarPtr k = at.b.FreshIndex("k");
    return fold(FoldOp::sum, k, integer(0), end, term(k));
}

// Elements that `from` sends to ranks below `to`.
ExprPtr sent_before(const Site& at, const ExprPtr& from, const ExprPtr& to) {
    return sum_below(at, to, [&](const ExprPtr& k) { return table_at(at.counts, {from, k}); });
}

// Elements that `to` gets from ranks below `from`: where the piece of `from` is when all are
// packed.
ExprPtr received_before(const Site& at, const ExprPtr& from, const ExprPtr& to) {
    return sum_below(at, from, [&](const ExprPtr& k) { return table_at(at.counts, {k, to}); });
}

}  // namespace

Part piece_for(const Site& at, const ExprPtr& peer) {
    return {at.sent_at ? table_at(at.sent_at, {rank(), peer}) : sent_before(at, rank(), peer),
            table_at(at.counts, {rank(), peer})};
}

Part piece_of(const Site& at, const ExprPtr& peer) {
    return {at.received_at ? table_at(at.received_at, {rank(), peer})
                           : received_before(at, peer, rank()),
            table_at(at.counts, {peer, rank()})};
}

namespace {

// The target, where all that this rank gets is packed.
void unstage_pieces(const Site& at) {
    if (!at.received_at) {
        return at.unstage({integer(0), received_before(at, nranks(), rank())}, integer(0));
    }
    at.b.EmitFor("from", integer(0), nranks(), [&](LoweringBuilder& loop, const ExprPtr& from) {
        const Site here = at.in(loop);
        const Part piece = piece_of(here, from);
        here.unstage({received_before(here, from, rank()), piece.count}, piece.offset);
    });
}

// As all_to_all: push when the receiver has come, and say so.
//   1  I have come: my target may be written
//   2  my piece is in your target
void mesh(const Site& at) {
    at.notify_peers(1);
    at.stage(piece_for(at, rank()), received_before(at, rank(), rank()));
    at.b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const ExprPtr peer = loop.Bind("to", (rank() + i) % nranks());
        const Part mine = piece_for(here, peer);
        here.wait(peer, integer(1));
        loop.RemoteStore(here.take(mine), at.target, peer, received_before(here, rank(), peer));
        here.notify(peer, integer(2));
    });
    at.wait_peers(2);
    unstage_pieces(at);
    at.advance(integer(2));
}

// As push of all_to_all; every box has room for the largest piece of all.
void push(const Site& at) {
    const Inbox inbox(at, most_sent(at));
    at.for_each_peer_from_right([&](const Site& here, const ExprPtr& peer) {
        inbox.put(here, peer, here.take(piece_for(here, peer)));
    });
    at.keep(piece_for(at, rank()), piece_of(at, rank()).offset);
    at.for_each_peer([&](const Site& here, const ExprPtr& peer) {
        const Part theirs = piece_of(here, peer);
        here.wait(peer, integer(1));
        here.give(inbox.get(here, peer, theirs.count), theirs.offset);
    });
    at.advance(integer(1));
}

// As pipeline of all_to_all; a short piece has empty chunks at its end.
void pipeline(const Site& at) {
    const Slots slots(at, most_sent(at), nranks());
    const auto stage = [&](const Site& here, const ExprPtr& i) {
        here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
            const Part piece = piece_for(inner, peer);
            inner.stage(shifted(slots.chunk_of(piece.count, i), piece.offset),
                        slots.place(i, peer));
            inner.notify(peer, Slots::phase(i));
        });
        const Part mine = piece_for(here, rank());
        const Part chunk = slots.chunk_of(mine.count, i);
        here.keep(shifted(chunk, mine.offset), piece_of(here, rank()).offset + chunk.offset);
    };
    const auto fetch = [&](const Site& here, const ExprPtr& i) {
        here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
            const Part theirs = piece_of(inner, peer);
            const Part chunk = slots.chunk_of(theirs.count, i);
            inner.wait(peer, Slots::phase(i));
            inner.give(inner.load({slots.place(i, rank()), chunk.count}, peer),
                       theirs.offset + chunk.offset);
        });
    };
    slots.exchange(at, stage, fetch);
}

ExprPtr inbox_of_pieces(const Site& at) { return Inbox(at, most_sent(at)).size(); }

}  // namespace

ExprPtr input_size(const Site& at) {
    if (!at.sent_at) return sent_before(at, rank(), nranks());
    const VarPtr to = at.b.FreshIndex("to");
    const Part piece = piece_for(at, to);
    return fold(FoldOp::max, to, integer(0), nranks(), piece.offset + piece.count);
}

ExprPtr output_size(const Site& at) {
    if (!at.received_at) return received_before(at, nranks(), rank());
    const VarPtr from = at.b.FreshIndex("from");
    const Part piece = piece_of(at, from);
    return fold(FoldOp::max, from, integer(0), nranks(), piece.offset + piece.count);
}

ExprPtr most_received(const Site& at) {
    const VarPtr to = at.b.FreshIndex("to");
    return fold(FoldOp::max, to, integer(0), nranks(), received_before(at, nranks(), to));
}

ExprPtr most_sent(const Site& at) {
    const VarPtr from = at.b.FreshIndex("from");
    const VarPtr to = at.b.FreshIndex("to");
    return fold(FoldOp::max, from, integer(0), nranks(),
                fold(FoldOp::max, to, integer(0), nranks(), table_at(at.counts, {from, to})));
}

std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "2 (sent + received)", "the most that a rank receives", "2(P-1)", "-",
          Reuse::at_once},
         mesh,
         most_received},
        {{"pipeline", "2 at a time", "2 (sent + received) - 2 own", "any", "P-1 per chunk, P-1",
          "-", Reuse::at_once},
         pipeline,
         ring_of_block_per_rank,
         TargetUse::stages_in_ring},
        {{"push", "1", "2 (sent + received) - 2 own", "P times the largest piece, in whole lines",
          "P-1", "-", Reuse::later},
         push,
         inbox_of_pieces,
         TargetUse::stages},
    };
}

}  // namespace peal::collectives::all_to_all_v
