// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter: rank r gets block r of the combination of all ranks' vectors of P blocks.
#include "collectives/catalogue.hpp"
#include "collectives/ring.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

//   1  staged
//   2  I have read all. (In place, block r is written before: nobody else reads it here.)
void mesh(const Site& at) {
    const Part mine = block(at.count, rank());
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
        here.combine_from(way.from, block(at.count, way.behind(s + 2)));
    });
    ring_close(at, {way}, nranks(), [&] { at.unstage(block(at.count, rank()), integer(0)); });
    at.advance(nranks());
}

}  // namespace

std::vector<Entry> reduce_scatter_recipes() {
    return {
        {{"mesh", "2", "(3P+1) N", "P N", "2(P-1)", "rank order"}, mesh},
        {{"ring", "P", "(5P-1) N", "P N", "P", "block i: ranks i+1, i+2, ... i (mod P)"}, ring},
    };
}

}  // namespace peal::collectives
