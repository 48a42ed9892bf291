// SPDX-License-Identifier: Apache-2.0
// All-to-all between hosts: a rank stages what ranks of its host read, and puts what goes to other
// hosts straight to whom it is for.
//
// Chunk by chunk. In turn i a rank stages and puts chunk i of all its pieces, and takes chunk i-1
// of what it gets. The slot of a turn has a place for each rank: of this rank's host, for what it
// reads here; of others, for what it has put here.
//   1      my target may be written, to ranks of other hosts
//   i + 2  chunk i is staged, or in your target
// A slot is filled again four turns later: who has said i + 2 has taken chunk i-2.
#include "collectives/all_to_all_v.hpp"
#include "collectives/hosts.hpp"
#include "collectives/layout.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::hosts {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

// What this rank sends to a peer, of its input, or gets from it, of its output.
using PieceOf = Part (*)(const Site& here, const ExprPtr& peer);

class Exchange {
public:
    Exchange(const Site& site, const ExprPtr& longest, PieceOf sent, PieceOf received)
        : at(site), sent(sent), received(received), layout(site), slots(site, longest, nranks()) {}

    void run() const {
        layout.for_each_far(
            at, [](const Site& here, const ExprPtr& peer) { here.notify(peer, integer(1)); });
        at.b.EmitFor("i", integer(0), slots.chunks() + 1,
                     [&](LoweringBuilder& loop, const ExprPtr& i) {
                         loop.EmitIf(Less(i, slots.chunks()),
                                     [&](LoweringBuilder& b) { give(at.in(b), i); });
                         loop.EmitIf(Less(integer(0), i),
                                     [&](LoweringBuilder& b) { take(at.in(b), i - 1); });
                     });
        const ExprPtr done = slots.chunks() + 2;
        layout.notify_near(at, done);
        layout.wait_near(at, done);
        at.advance(done);
    }

private:
    static ExprPtr phase(const ExprPtr& i) { return i + 2; }

    Part chunk_of(const Part& piece, const ExprPtr& i) const {
        return shifted(slots.chunk_of(piece.count, i), piece.offset);
    }

    void give(const Site& here, const ExprPtr& i) const {
        layout.for_each_far(here, [&](const Site& inner, const ExprPtr& peer) {
            inner.b.EmitIf(Eq(i, integer(0)),
                           [&](LoweringBuilder& b) { inner.in(b).wait(peer, integer(1)); });
            const Part chunk = chunk_of(sent(inner, peer), i);
            inner.b.PutLater(here.target, peer, slots.place(i, rank()), here.input, chunk.offset,
                             chunk.count);
        });
        layout.for_each_near(here, [&](const Site& inner, const ExprPtr& peer) {
            inner.stage(chunk_of(sent(inner, peer), i), slots.place(i, peer));
            inner.notify(peer, phase(i));
        });
        here.b.EmitIf(Less(integer(1), layout.hosts()), [](LoweringBuilder& b) { b.Fence(); });
        layout.for_each_far(
            here, [&](const Site& inner, const ExprPtr& peer) { inner.notify(peer, phase(i)); });
        here.keep(chunk_of(sent(here, rank()), i), chunk_of(received(here, rank()), i).offset);
    }

    void take(const Site& here, const ExprPtr& i) const {
        layout.for_each_near(here, [&](const Site& inner, const ExprPtr& peer) {
            const Part chunk = chunk_of(received(inner, peer), i);
            inner.wait(peer, phase(i));
            inner.give(inner.load({slots.place(i, rank()), chunk.count}, peer), chunk.offset);
        });
        layout.for_each_far(here, [&](const Site& inner, const ExprPtr& peer) {
            const Part chunk = chunk_of(received(inner, peer), i);
            inner.wait(peer, phase(i));
            inner.give(inner.load_own({slots.place(i, peer), chunk.count}), chunk.offset);
        });
    }

    const Site& at;
    PieceOf sent, received;
    Layout layout;
    Slots slots;
};

Part even_piece(const Site& here, const ExprPtr& peer) { return block(here.count, peer); }

void lower_even(const Site& at) { Exchange(at, at.count, even_piece, even_piece).run(); }
void lower_counted(const Site& at) {
    Exchange(at, all_to_all_v::most_sent(at), all_to_all_v::piece_for, all_to_all_v::piece_of)
        .run();
}

}  // namespace

Entry exchange(CollectiveKind kind) {
    const bool is_counted = kind == CollectiveKind::all_to_all_v;
    return {{"hosts", "1 between hosts", is_counted ? "2 (sent + received) - 2 own" : "(4P-2) N",
             "any", "P-1 per chunk, P-1", "-", Reuse::at_once},
            is_counted ? lower_counted : lower_even,
            ring_of_block_per_rank,
            TargetUse::stages_in_ring,
            cell_per_rank,
            is_counted ? "what goes there" : "L (P-L) N"};
}

}  // namespace peal::collectives::hosts
