// SPDX-License-Identifier: Apache-2.0
// All-to-all: block d of rank r's input becomes block r of rank d's result.
#include "collectives/catalogue.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

// Everybody pushes its blocks, to its right neighbour first so that the pushes spread. In place,
// the own blocks are set aside before anybody may write.
//   1  I have come: my target may be written
//   2  my block is in your target
// `pace` is called after each push with its number.
void push(const Site& at, const std::function<void(const Site&, const ExprPtr& i)>& pace) {
    const Part mine = block(at.count, rank());
    const ExprPtr aside = at.input ? nullptr : at.load_own(at.blocks());
    at.notify_peers(1);
    at.stage(mine, mine.offset);
    at.b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const ExprPtr peer = loop.Bind("to", (rank() + i) % nranks());
        const Part theirs = block(at.count, peer);
        const ExprPtr piece = aside ? loop.Slice(aside, theirs.offset, theirs.count)
                                    : loop.Load(at.input, theirs.offset, theirs.count);
        here.wait(peer, integer(1));
        loop.RemoteStore(piece, at.target, peer, mine.offset);
        here.notify(peer, integer(2));
        pace(here, i);
    });
}

void finish(const Site& at) {
    at.unstage(at.blocks(), integer(0));
    at.advance(integer(2));
}

void mesh(const Site& at) {
    push(at, [](const Site&, const ExprPtr&) {});
    at.wait_peers(2);
    finish(at);
}

// The same, in P-1 rounds: in round i each rank sends to the rank i after it and does not go on
// before the block of the rank i before it has come, so that few pushes are under way at a time.
void pairwise(const Site& at) {
    push(at, [](const Site& here, const ExprPtr& i) {
        here.wait((rank() + nranks() - i) % nranks(), integer(2));
    });
    finish(at);
}

}  // namespace

std::vector<Entry> all_to_all_recipes() {
    return {
        {{"mesh", "2", "4P N", "-"}, mesh},
        {{"pairwise", "P", "4P N", "-"}, pairwise},
    };
}

}  // namespace peal::collectives
