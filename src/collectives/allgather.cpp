// SPDX-License-Identifier: Apache-2.0
// Allgather: every rank gets all ranks' blocks, in rank order.
#include "collectives/catalogue.hpp"
#include "collectives/ring.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

// Everybody pushes its block into everybody's target, starting with its right neighbour so that
// the pushes spread.
//   1  I have come: my target may be written
//   2  my block is in your target
void mesh(const Site& at) {
    const Part mine = block(at.count, rank());
    at.notify_peers(1);
    at.stage(at.whole(), mine.offset);
    at.b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const ExprPtr peer = loop.Bind("to", (rank() + i) % nranks());
        here.wait(peer, integer(1));
        loop.RemoteStore(here.load_input(here.whole(), mine.offset), at.target, peer, mine.offset);
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
    at.stage(at.whole(), block(at.count, rank()).offset);
    ring_steps(at, {way}, integer(1), [&](const Site& here, const ExprPtr& s) {
        const Part next = block(at.count, way.behind(s + 1));
        here.b.Store(here.load(next, way.from), here.target, next.offset);
    });
    ring_close(at, {way}, nranks(), [&] { at.unstage(at.blocks(), integer(0)); });
    at.advance(nranks());
}

}  // namespace

std::vector<Entry> allgather_recipes() {
    return {
        {{"mesh", "2", "4P N", "P N", "2(P-1)", "-"}, mesh},
        {{"ring", "P", "4P N", "P N", "P", "-"}, ring},
    };
}

}  // namespace peal::collectives
