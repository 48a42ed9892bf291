// SPDX-License-Identifier: Apache-2.0
// Gather: the root gets all ranks' blocks, in rank order.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::gather {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

//   1  staged
//   2  the root has read my block
void mesh(const Site& at) {
    const Part mine = block(at.count, rank());
    at.stage(at.whole(), mine.offset);
    at.if_root(
        [&](const Site& here) {
            here.unstage(mine, mine.offset);
            here.for_each_peer([&](const Site& inner, const ExprPtr& peer) {
                const Part theirs = block(at.count, peer);
                inner.wait(peer, integer(1));
                inner.deliver(inner.load(theirs, peer), theirs.offset, theirs.offset);
                inner.notify(peer, integer(2));
            });
        },
        [&](const Site& here) {
            here.notify(here.root, integer(1));
            here.wait(here.root, integer(2));
        });
    at.advance(integer(2));
}

// Everybody puts its block into the root's inbox.
void push(const Site& at) {
    const Inbox inbox(at, at.count);
    at.if_root(
        [&](const Site& here) {
            here.keep(at.whole(), block(at.count, rank()).offset);
            here.for_each_peer([&](const Site& inner, const ExprPtr& peer) {
                inner.wait(peer, integer(1));
                inner.give(inbox.get(inner, peer, at.count), block(at.count, peer).offset);
            });
        },
        [&](const Site& here) { inbox.put(here, at.root, here.take(at.whole())); });
    at.advance(integer(1));
}

// Everybody stages chunk after chunk; the root reads and acknowledges them.
//   i + 1  staged chunk i; I have read chunk i
void pipeline(const Site& at) {
    const Slots slots(at, at.count, integer(1));
    at.if_root(
        [&](const Site& root) {
            slots.receive(root, [&](const Site& here, const ExprPtr& i) {
                const Part chunk = slots.chunk(i);
                here.keep(chunk, block(at.count, rank()).offset + chunk.offset);
                here.for_each_peer([&](const Site& inner, const ExprPtr& peer) {
                    inner.wait(peer, Slots::phase(i));
                    inner.give(inner.load({slots.place(i), chunk.count}, peer),
                               block(at.count, peer).offset + chunk.offset);
                    inner.notify(peer, Slots::phase(i));
                });
            });
        },
        [&](const Site& other) { slots.send_to_root(other); });
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
         ring_of_blocks,
         TargetUse::stages_in_ring},
        {{"push", "1", "2 N; root 2P N", "P N, in whole lines", "1; root 0", "-", Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
    };
}

}  // namespace peal::collectives::gather
