// SPDX-License-Identifier: Apache-2.0
// Scatter: rank r gets block r of the root's vector.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::scatter {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

//   1  the root has staged
//   2  I have read my block
void mesh(const Site& at) {
    const Part mine = block(at.count, rank());
    at.if_root(
        [&](const Site& here) {
            here.stage(here.blocks(), integer(0));
            here.notify_peers(1);
            here.unstage(mine, integer(0));
            here.wait_peers(2);
        },
        [&](const Site& here) {
            here.wait(here.root, integer(1));
            here.deliver(here.load(mine, here.root), integer(0), mine.offset);
            here.notify(here.root, integer(2));
        });
    at.advance(integer(2));
}

// The root puts block p into the inbox of rank p.
void push(const Site& at) {
    const Inbox inbox(at, at.count);
    at.if_root(
        [&](const Site& here) {
            here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
                inbox.put(inner, peer, inner.take(block(at.count, peer)));
            });
            here.keep(block(at.count, rank()), integer(0));
        },
        [&](const Site& here) {
            here.wait(at.root, integer(1));
            here.give(inbox.get(here, at.root, at.count), integer(0));
        });
    at.advance(integer(1));
}

// The root stages chunk after chunk of all blocks; each rank reads and acknowledges its own.
//   i + 1  staged chunk i; I have read chunk i
void pipeline(const Site& at) {
    const Slots slots(at, at.count, nranks());
    at.if_root(
        [&](const Site& root) {
            slots.send(
                root, [&](const Site& here, const ExprPtr& i) { here.wait_peers(Slots::phase(i)); },
                [&](const Site& here, const ExprPtr& i) {
                    const Part chunk = slots.chunk(i);
                    here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
                        inner.stage(shifted(chunk, block(at.count, peer).offset),
                                    slots.place(i, peer));
                        inner.notify(peer, Slots::phase(i));
                    });
                    here.keep(shifted(chunk, block(at.count, rank()).offset), chunk.offset);
                });
        },
        [&](const Site& other) {
            slots.receive(other, [&](const Site& here, const ExprPtr& i) {
                const Part chunk = slots.chunk(i);
                here.wait(at.root, Slots::phase(i));
                here.give(here.load({slots.place(i, rank()), chunk.count}, at.root), chunk.offset);
                here.notify(at.root, Slots::phase(i));
            });
        });
    at.advance(slots.chunks());
}

}  // namespace

std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "2 N; root (2P+2) N", "P N", "1; root P-1", "-", Reuse::at_once},
         mesh,
         block_per_rank},
        {{"pipeline", "2 at a time", "2 N; root 2P N", "any", "1 per chunk; root P-1", "-",
          Reuse::at_once},
         pipeline,
         ring_of_block_per_rank,
         TargetUse::stages_in_ring},
        {{"push", "1", "2 N; root 2P N", "P N, in whole lines", "0; root P-1", "-", Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
    };
}

}  // namespace peal::collectives::scatter
