// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter: rank r gets block r of the combination of all ranks' vectors of P blocks.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/ring.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::reduce_scatter {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

//   1  staged
//   2  I have read all. (In place, block r is written before: nobody else reads it here.)
void mesh(const Site& at) {
    const Part mine = block(at.count, rank());
    at.stage(at.blocks(), integer(0));
    at.meet(1);
    at.deliver(at.combine_in_rank_order(mine), integer(0), mine.offset);
    at.meet(2);
    at.advance(integer(2));
}

//   1 .. P-1  steps round the ring; block r is combined last, on rank r
//   P         I have read all I need of my left neighbour
void ring(const Site& at) {
    const Way way = forward_way();
    at.stage(at.blocks(), integer(0));
    ring_steps(at, {way}, integer(1), [&](const Site& here, const ExprPtr& s) {
        here.combine_from(way.from, block(at.count, way.behind(s + 2)));
    });
    ring_close(at, {way}, nranks(), [&] { at.unstage(block(at.count, rank()), integer(0)); });
    at.advance(nranks());
}

// Block p goes into the inbox of rank p, which combines what comes with its own.
void push(const Site& at) {
    const Inbox inbox(at, at.count);
    at.for_each_peer_from_right([&](const Site& here, const ExprPtr& peer) {
        inbox.put(here, peer, here.take(block(at.count, peer)));
    });
    at.wait_peers(1);
    at.give_combined(
        block(at.count, rank()), integer(0),
        [&](const Site& here, const ExprPtr& peer) { return inbox.get(here, peer, at.count); });
    at.advance(integer(1));
}

// Chunk by chunk: stage the peers' blocks, combine the own block a turn later.
void pipeline(const Site& at) {
    const Slots slots(at, at.count, nranks());
    const auto stage = [&](const Site& here, const ExprPtr& i) {
        const Part chunk = slots.chunk(i);
        here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
            inner.stage(shifted(chunk, block(at.count, peer).offset), slots.place(i, peer));
            inner.notify(peer, Slots::phase(i));
        });
    };
    const auto fetch = [&](const Site& here, const ExprPtr& i) {
        const Part chunk = slots.chunk(i);
        here.wait_peers(Slots::phase(i));
        here.give_combined(shifted(chunk, block(at.count, rank()).offset), chunk.offset,
                           [&](const Site& inner, const ExprPtr& peer) {
                               return inner.load({slots.place(i, rank()), chunk.count}, peer);
                           });
    };
    slots.exchange(at, stage, fetch);
}

}  // namespace

std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "(3P+1) N", "P N", "2(P-1)", "rank order", Reuse::at_once},
         mesh,
         block_per_rank},
        {{"ring", "P", "(5P-1) N", "P N", "P", "block i: ranks i+1, i+2, ... i (mod P)",
          Reuse::at_once},
         ring,
         block_per_rank},
        {{"pipeline", "2 at a time", "(3P-1) N", "any", "P-1 per chunk, P-1", "rank order",
          Reuse::at_once},
         pipeline,
         ring_of_block_per_rank,
         TargetUse::stages_in_ring},
        {{"push", "1", "(3P-1) N", "P N, in whole lines", "P-1", "rank order", Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
    };
}

}  // namespace peal::collectives::reduce_scatter
