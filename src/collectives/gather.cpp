// SPDX-License-Identifier: Apache-2.0
// Gather: the root gets all ranks' blocks, in rank order.
#include "collectives/catalogue.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

//   1  staged
//   2  the root has read my block
void mesh(const Site& at) {
    const Part mine = block(at.count, rank());
    at.stage(at.whole(), mine.offset);
    at.b.EmitIf(
        Eq(rank(), at.root),
        [&](LoweringBuilder& b) {
            const Site here = at.in(b);
            here.unstage(mine, mine.offset);
            here.for_each_peer([&](const Site& inner, const ExprPtr& peer) {
                const Part theirs = block(at.count, peer);
                inner.wait(peer, integer(1));
                inner.deliver(inner.load(theirs, peer), theirs.offset, theirs.offset);
                inner.notify(peer, integer(2));
            });
        },
        [&](LoweringBuilder& b) {
            const Site here = at.in(b);
            here.notify(here.root, integer(1));
            here.wait(here.root, integer(2));
        });
    at.advance(integer(2));
}

}  // namespace

std::vector<Entry> gather_recipes() {
    return {
        {{"mesh", "2", "2 N; root (2P+2) N", "P N", "1; root P-1", "-"}, mesh},
    };
}

}  // namespace peal::collectives
