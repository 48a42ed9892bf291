// SPDX-License-Identifier: Apache-2.0
// Allgather: every rank gets all ranks' blocks, in rank order. With a count for each rank it is
// allgather_v.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/ring.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace allgather {
namespace {

// Everybody pushes its block into everybody's target, starting with its right neighbour so that
// the pushes spread.
//   1  I have come: my target may be written
//   2  my block is in your target
void mesh(const Site& at) {
    const Part mine = at.block_of(rank());
    const Part given{integer(0), mine.count};
    at.notify_peers(1);
    at.stage(given, mine.offset);
    at.b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const ExprPtr peer = loop.Bind("to", (rank() + i) % nranks());
        here.wait(peer, integer(1));
        loop.RemoteStore(here.load_input(given, mine.offset), at.target, peer, mine.offset);
        here.notify(peer, integer(2));
    });
    at.wait_peers(2);
    at.unstage(at.blocks(), integer(0));
    at.advance(integer(2));
}

//   1 .. P-1  steps round the ring
//   P         I have read all I need of my left neighbour
void ring(const Site& at) {
    const Way way = forward_way();
    at.stage(at.own_block(), at.block_of(rank()).offset);
    ring_steps(at, {way}, integer(1), [&](const Site& here, const ExprPtr& s) {
        const Part next = here.block_of(way.behind(s + 1));
        here.b.Store(here.load(next, way.from), here.target, next.offset);
    });
    ring_close(at, {way}, nranks(), [&] { at.unstage(at.blocks(), integer(0)); });
    at.advance(nranks());
}

// Everybody puts its block into everybody's inbox.
void push(const Site& at) {
    const Inbox inbox(at, at.largest());
    at.for_each_peer_from_right([&](const Site& here, const ExprPtr& peer) {
        inbox.put(here, peer, here.take(here.own_block()));
    });
    at.keep(at.own_block(), at.block_of(rank()).offset);
    at.for_each_peer([&](const Site& here, const ExprPtr& peer) {
        const Part theirs = here.block_of(peer);
        here.wait(peer, integer(1));
        here.give(inbox.get(here, peer, theirs.count), theirs.offset);
    });
    at.advance(integer(1));
}

// Everybody stages its block once, and reads everybody's.
void pull(const Site& at) {
    at.stage(at.own_block(), integer(0));
    at.notify_peers(1);
    at.keep(at.own_block(), at.block_of(rank()).offset);
    at.for_each_peer_from_right([&](const Site& here, const ExprPtr& peer) {
        const Part theirs = here.block_of(peer);
        here.wait(peer, integer(1));
        here.give(here.load({integer(0), theirs.count}, peer), theirs.offset);
    });
    at.advance(integer(1));
}

// Chunk by chunk: stage the own block, read everybody's a turn later.
void pipeline(const Site& at) {
    const Slots slots(at, at.largest(), integer(1));
    const auto stage = [&](const Site& here, const ExprPtr& i) {
        const Part mine = here.block_of(rank());
        const Part chunk = slots.chunk_of(mine.count, i);
        here.stage(chunk, slots.place(i));
        here.notify_peers(Slots::phase(i));
        here.keep(chunk, mine.offset + chunk.offset);
    };
    const auto fetch = [&](const Site& here, const ExprPtr& i) {
        here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
            const Part theirs = inner.block_of(peer);
            const Part chunk = slots.chunk_of(theirs.count, i);
            inner.wait(peer, Slots::phase(i));
            inner.give(inner.load({slots.place(i), chunk.count}, peer),
                       theirs.offset + chunk.offset);
        });
    };
    slots.exchange(at, stage, fetch);
}

}  // namespace

std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "4P N", "P N", "2(P-1)", "-", Reuse::at_once}, mesh, block_per_rank},
        {{"ring", "P", "4P N", "P N", "P", "-", Reuse::at_once}, ring, block_per_rank},
        {{"pipeline", "2 at a time", "(2P+2) N", "any", "P-1 per chunk, P-1", "-", Reuse::at_once},
         pipeline,
         ring_of_blocks,
         TargetUse::stages_in_ring},
        {{"push", "1", "(4P-2) N", "P N, in whole lines", "P-1", "-", Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
        {{"pull", "1", "(2P+2) N", "N", "P-1", "-", Reuse::later},
         pull,
         one_block,
         TargetUse::stages},
    };
}

}  // namespace allgather

namespace allgather_v {

std::vector<Entry> recipes() {
    using namespace allgather;
    return {
        {{"mesh", "2", "2P own + 2 all", "all", "2(P-1)", "-", Reuse::at_once},
         mesh,
         block_per_rank},
        {{"ring", "P", "4 all", "all", "P", "-", Reuse::at_once}, ring, block_per_rank},
        {{"pipeline", "2 at a time", "2 own + 2 all", "any", "P-1 per chunk, P-1", "-",
          Reuse::at_once},
         pipeline,
         ring_of_blocks,
         TargetUse::stages_in_ring},
        {{"push", "1", "2(P-1) own + 2 all", "P times the largest, in whole lines", "P-1", "-",
          Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
        {{"pull", "1", "2 own + 2 all", "the largest", "P-1", "-", Reuse::later},
         pull,
         one_block,
         TargetUse::stages},
    };
}

}  // namespace allgather_v

}  // namespace peal::collectives
