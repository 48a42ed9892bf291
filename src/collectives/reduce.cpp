// SPDX-License-Identifier: Apache-2.0
// Reduce: the root gets the combination of all ranks' vectors.
#include "collectives/catalogue.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

//   1  staged
//   2  the root has read all
void mesh(const Site& at) {
    at.stage(at.whole(), integer(0));
    at.b.EmitIf(
        Eq(rank(), at.root),
        [&](LoweringBuilder& b) {
            const Site here = at.in(b);
            here.wait_peers(1);
            here.deliver(here.combine_in_rank_order(here.whole()), integer(0), integer(0));
            here.notify_peers(2);
        },
        [&](LoweringBuilder& b) {
            const Site here = at.in(b);
            here.notify(here.root, integer(1));
            here.wait(here.root, integer(2));
        });
    at.advance(integer(2));
}

}  // namespace

std::vector<Entry> reduce_recipes() {
    return {
        {{"mesh", "2", "2 N; root (P+3) N", "N", "1; root P-1", "rank order"}, mesh},
    };
}

}  // namespace peal::collectives
