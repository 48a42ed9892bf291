// SPDX-License-Identifier: Apache-2.0
// Scatter: rank r gets block r of the root's vector.
#include "collectives/catalogue.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

//   1  the root has staged
//   2  I have read my block
void mesh(const Site& at) {
    const Part mine = block(at.count, rank());
    at.b.EmitIf(
        Eq(rank(), at.root),
        [&](LoweringBuilder& b) {
            const Site here = at.in(b);
            here.stage(here.blocks(), integer(0));
            here.notify_peers(1);
            here.unstage(mine, integer(0));
            here.wait_peers(2);
        },
        [&](LoweringBuilder& b) {
            const Site here = at.in(b);
            here.wait(here.root, integer(1));
            here.deliver(here.load(mine, here.root), integer(0), mine.offset);
            here.notify(here.root, integer(2));
        });
    at.advance(integer(2));
}

}  // namespace

std::vector<Entry> scatter_recipes() {
    return {
        {{"mesh", "2", "2 N; root (2P+2) N", "P N", "1; root P-1", "-"}, mesh},
    };
}

}  // namespace peal::collectives
