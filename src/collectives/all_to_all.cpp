// SPDX-License-Identifier: Apache-2.0
// All-to-all: block d of rank r's input becomes block r of rank d's result.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::all_to_all {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

// Pushes one block after another, to the right neighbour first so that the pushes spread, and gets
// the blocks of those it pushes to. In place, its own blocks for them are set aside before any of
// them may write.
//   1  I have come: my target may be written
//   2  my block is in your target
class Exchange {
public:
    explicit Exchange(const Site& site) : Exchange(site, site.blocks()) {}
    // `served`: the blocks of the ranks that it pushes to.
    Exchange(const Site& site, const Part& served)
        : at(site),
          blocks(served),
          mine(block(site.count, rank())),
          aside(site.input ? nullptr : site.load_own(served)) {}

    void own_block(const Site& here) const { here.stage(mine, mine.offset); }

    void block_to(const Site& here, const ExprPtr& peer) const {
        const Part theirs = block(at.count, peer);
        const ExprPtr piece = aside
                                  ? here.b.Slice(aside, theirs.offset - blocks.offset, theirs.count)
                                  : here.take(theirs);
        here.b.RemoteStore(piece, at.target, peer, mine.offset);
        here.notify(peer, integer(2));
    }

    void finish() const {
        at.unstage(blocks, blocks.offset);
        at.advance(integer(2));
    }

private:
    const Site& at;
    Part blocks, mine;
    ExprPtr aside;
};

void mesh(const Site& at) {
    const Exchange exchange(at);
    at.notify_peers(1);
    exchange.own_block(at);
    at.b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const ExprPtr peer = loop.Bind("to", (rank() + i) % nranks());
        here.wait(peer, integer(1));
        exchange.block_to(here, peer);
    });
    at.wait_peers(2);
    exchange.finish();
}

// In P-1 rounds: in round i each rank pushes to the rank i after it and does not go on before the
// block of the rank i before it has come, so that few pushes are under way at a time. In the second
// half of the rounds the receiver's own block has come already, and says that it is there.
void pairwise(const Site& at) {
    const Exchange exchange(at);
    const ExprPtr half = at.b.Bind("half", nranks() / integer(2) + 1);
    at.b.EmitFor("i", integer(1), half, [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        loop.EmitIf(Less(i, nranks()), [&](LoweringBuilder& b) {
            here.in(b).notify((rank() + nranks() - i) % nranks(), integer(1));
        });
    });
    exchange.own_block(at);
    at.b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const ExprPtr peer = loop.Bind("to", (rank() + i) % nranks());
        loop.EmitIf(Less(i, half), [&](LoweringBuilder& b) { here.in(b).wait(peer, integer(1)); });
        exchange.block_to(here, peer);
        here.wait((rank() + nranks() - i) % nranks(), integer(2));
    });
    exchange.finish();
}

// Each lane serves some of the ranks. What a pair of ranks says to each other is said by one lane
// here and one there, so a cell has one writer and one waiter, as without lanes.
void lanes(const Site& at) {
    const ExprPtr first = at.b.Bind("first", lane() * nranks() / nlanes());
    const ExprPtr end = at.b.Bind("end", (lane() + 1) * nranks() / nlanes());
    const auto for_each_peer = [&](const Site::PeerBody& body) {
        at.b.EmitFor("i", first, end, [&](LoweringBuilder& loop, const ExprPtr& i) {
            // Not all ranks begin with the same one.
            const ExprPtr peer = loop.Bind("to", first + (rank() + i) % (end - first));
            loop.EmitIf(NotEq(peer, rank()),
                        [&](LoweringBuilder& inner) { body(at.in(inner), peer); });
        });
    };
    const Exchange exchange(at, {first * at.count, (end - first) * at.count});
    for_each_peer([&](const Site& here, const ExprPtr& peer) { here.notify(peer, integer(1)); });
    at.b.EmitIf(And(AtLeast(rank(), first), Less(rank(), end)),
                [&](LoweringBuilder& b) { exchange.own_block(at.in(b)); });
    for_each_peer([&](const Site& here, const ExprPtr& peer) {
        here.wait(peer, integer(1));
        exchange.block_to(here, peer);
    });
    for_each_peer([&](const Site& here, const ExprPtr& peer) { here.wait(peer, integer(2)); });
    exchange.finish();
}

// Block p goes into the inbox of rank p, whether or not it has come.
void push(const Site& at) {
    const Inbox inbox(at, at.count);
    at.for_each_peer_from_right([&](const Site& here, const ExprPtr& peer) {
        inbox.put(here, peer, here.take(block(at.count, peer)));
    });
    const Part mine = block(at.count, rank());
    at.keep(mine, mine.offset);
    at.for_each_peer([&](const Site& here, const ExprPtr& peer) {
        here.wait(peer, integer(1));
        here.give(inbox.get(here, peer, at.count), block(at.count, peer).offset);
    });
    at.advance(integer(1));
}

// Chunk by chunk: stage the peers' blocks, read theirs a turn later.
void pipeline(const Site& at) {
    const Slots slots(at, at.count, nranks());
    const auto stage = [&](const Site& here, const ExprPtr& i) {
        const Part chunk = slots.chunk(i);
        here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
            inner.stage(shifted(chunk, block(at.count, peer).offset), slots.place(i, peer));
            inner.notify(peer, Slots::phase(i));
        });
        const Part mine = shifted(chunk, block(at.count, rank()).offset);
        here.keep(mine, mine.offset);
    };
    const auto fetch = [&](const Site& here, const ExprPtr& i) {
        const Part chunk = slots.chunk(i);
        here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
            inner.wait(peer, Slots::phase(i));
            inner.give(inner.load({slots.place(i, rank()), chunk.count}, peer),
                       block(at.count, peer).offset + chunk.offset);
        });
    };
    slots.exchange(at, stage, fetch);
}

}  // namespace

std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "4P N", "P N", "2(P-1)", "-", Reuse::at_once}, mesh, block_per_rank},
        {{"pairwise", "P", "4P N", "P N", "P-1 + floor(P/2)", "-", Reuse::at_once},
         pairwise,
         block_per_rank},
        {{"lanes", "2", "4P N", "P N", "2(P-1)", "-", Reuse::at_once, true}, lanes, block_per_rank},
        {{"pipeline", "2 at a time", "(4P-2) N", "any", "P-1 per chunk, P-1", "-", Reuse::at_once},
         pipeline,
         ring_of_block_per_rank,
         TargetUse::stages_in_ring},
        {{"push", "1", "(4P-2) N", "P N, in whole lines", "P-1", "-", Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
    };
}

}  // namespace peal::collectives::all_to_all
