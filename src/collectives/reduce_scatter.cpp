// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter: rank r gets block r of the combination of all ranks' vectors of P blocks. With a
// count for each rank it is reduce_scatter_v.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/ring.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace reduce_scatter {
namespace {

//   1  staged
//   2  I have read all. (In place, block r is written before: nobody else reads it here.)
void mesh(const Site& at) {
    const Part mine = at.block_of(rank());
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
        here.combine_from(way.from, here.block_of(way.behind(s + 2)));
    });
    ring_close(at, {way}, nranks(), [&] { at.unstage(at.block_of(rank()), integer(0)); });
    at.advance(nranks());
}

// Block p goes into the inbox of rank p, which combines what comes with its own.
void push(const Site& at) {
    const Inbox inbox(at, at.largest());
    at.for_each_peer_from_right([&](const Site& here, const ExprPtr& peer) {
        inbox.put(here, peer, here.take(here.block_of(peer)));
    });
    at.wait_peers(1);
    const Part mine = at.block_of(rank());
    at.give_combined(mine, integer(0), [&](const Site& here, const ExprPtr& peer) {
        return inbox.get(here, peer, mine.count);
    });
    at.advance(integer(1));
}

// Chunk by chunk: stage the peers' blocks, combine the own block a turn later.
void pipeline(const Site& at) {
    const Slots slots(at, at.largest(), nranks());
    const auto stage = [&](const Site& here, const ExprPtr& i) {
        here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
            const Part theirs = inner.block_of(peer);
            inner.stage(shifted(slots.chunk_of(theirs.count, i), theirs.offset),
                        slots.place(i, peer));
            inner.notify(peer, Slots::phase(i));
        });
    };
    const auto fetch = [&](const Site& here, const ExprPtr& i) {
        const Part mine = here.block_of(rank());
        const Part chunk = slots.chunk_of(mine.count, i);
        here.wait_peers(Slots::phase(i));
        here.give_combined(shifted(chunk, mine.offset), chunk.offset,
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

}  // namespace reduce_scatter

namespace reduce_scatter_v {

std::vector<Entry> recipes() {
    using namespace reduce_scatter;
    return {
        {{"mesh", "2", "2 all + (P+1) own", "all", "2(P-1)", "rank order", Reuse::at_once},
         mesh,
         block_per_rank},
        {{"ring", "P", "5 all + 2 own - 3 left's", "all", "P",
          "block i: ranks i+1, i+2, ... i (mod P)", Reuse::at_once},
         ring,
         block_per_rank},
        {{"pipeline", "2 at a time", "2 all + (P-1) own", "any", "P-1 per chunk, P-1", "rank order",
          Reuse::at_once},
         pipeline,
         ring_of_block_per_rank,
         TargetUse::stages_in_ring},
        {{"push", "1", "2 all + (P-1) own", "P times the largest, in whole lines", "P-1",
          "rank order", Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
    };
}

}  // namespace reduce_scatter_v

}  // namespace peal::collectives
