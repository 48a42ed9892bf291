// SPDX-License-Identifier: Apache-2.0
// Reduce: the root gets the combination of all ranks' vectors.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::reduce {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

//   1  staged
//   2  the root has read all
void mesh(const Site& at) {
    at.stage(at.whole(), integer(0));
    at.if_root(
        [&](const Site& here) {
            here.wait_peers(1);
            here.deliver(here.combine_in_rank_order(here.whole()), integer(0), integer(0));
            here.notify_peers(2);
        },
        [&](const Site& here) {
            here.notify(here.root, integer(1));
            here.wait(here.root, integer(2));
        });
    at.advance(integer(2));
}

// Everybody puts its vector into the root's inbox.
void push(const Site& at) {
    const Inbox inbox(at, at.count);
    at.if_root(
        [&](const Site& here) {
            here.wait_peers(1);
            here.give_combined(at.whole(), integer(0), [&](const Site& inner, const ExprPtr& peer) {
                return inbox.get(inner, peer, at.count);
            });
        },
        [&](const Site& here) { inbox.put(here, at.root, here.take(at.whole())); });
    at.advance(integer(1));
}

// Everybody stages chunk after chunk; the root combines and acknowledges them.
//   i + 1  staged chunk i; I have read chunk i
void pipeline(const Site& at) {
    const Slots slots(at, at.count, integer(1));
    at.if_root(
        [&](const Site& root) {
            slots.receive(root, [&](const Site& here, const ExprPtr& i) {
                const Part chunk = slots.chunk(i);
                here.wait_peers(Slots::phase(i));
                here.give_combined(chunk, chunk.offset,
                                   [&](const Site& inner, const ExprPtr& peer) {
                                       return inner.load({slots.place(i), chunk.count}, peer);
                                   });
                here.notify_peers(Slots::phase(i));
            });
        },
        [&](const Site& other) { slots.send_to_root(other); });
    at.advance(slots.chunks());
}

}  // namespace

std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "2 N; root (P+3) N", "N", "1; root P-1", "rank order", Reuse::at_once},
         mesh,
         one_block},
        {{"pipeline", "2 at a time", "2 N; root (P+1) N", "any", "1 per chunk; root P-1",
          "rank order", Reuse::at_once},
         pipeline,
         ring_of_blocks,
         TargetUse::stages_in_ring},
        {{"push", "1", "2 N; root (P+1) N", "P N, in whole lines", "1; root 0", "rank order",
          Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
    };
}

}  // namespace peal::collectives::reduce
