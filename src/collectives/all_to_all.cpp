// SPDX-License-Identifier: Apache-2.0
// All-to-all: block d of rank r's input becomes block r of rank d's result.
#include "collectives/catalogue.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

// Pushes one block after another, to the right neighbour first so that the pushes spread. In place,
// the own blocks are set aside before anybody may write.
//   1  I have come: my target may be written
//   2  my block is in your target
class Push {
public:
    explicit Push(const Site& site)
        : at(site),
          mine(block(site.count, rank())),
          aside(site.input ? nullptr : site.load_own(site.blocks())) {}

    void own_block() const { at.stage(mine, mine.offset); }

    void block_to(const Site& here, const ExprPtr& peer) const {
        const Part theirs = block(at.count, peer);
        const ExprPtr piece = aside ? here.b.Slice(aside, theirs.offset, theirs.count)
                                    : here.b.Load(at.input, theirs.offset, theirs.count);
        here.b.RemoteStore(piece, at.target, peer, mine.offset);
        here.notify(peer, integer(2));
    }

    void finish() const {
        at.unstage(at.blocks(), integer(0));
        at.advance(integer(2));
    }

private:
    const Site& at;
    Part mine;
    ExprPtr aside;
};

void mesh(const Site& at) {
    const Push push(at);
    at.notify_peers(1);
    push.own_block();
    at.b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const ExprPtr peer = loop.Bind("to", (rank() + i) % nranks());
        here.wait(peer, integer(1));
        push.block_to(here, peer);
    });
    at.wait_peers(2);
    push.finish();
}

// In P-1 rounds: in round i each rank pushes to the rank i after it and does not go on before the
// block of the rank i before it has come, so that few pushes are under way at a time. In the second
// half of the rounds the receiver's own block has come already, and says that it is there.
void pairwise(const Site& at) {
    const Push push(at);
    const ExprPtr half = at.b.Bind("half", nranks() / integer(2) + 1);
    at.b.EmitFor("i", integer(1), half, [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        loop.EmitIf(Less(i, nranks()), [&](LoweringBuilder& b) {
            here.in(b).notify((rank() + nranks() - i) % nranks(), integer(1));
        });
    });
    push.own_block();
    at.b.EmitFor("i", integer(1), nranks(), [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const ExprPtr peer = loop.Bind("to", (rank() + i) % nranks());
        loop.EmitIf(Less(i, half), [&](LoweringBuilder& b) { here.in(b).wait(peer, integer(1)); });
        push.block_to(here, peer);
        here.wait((rank() + nranks() - i) % nranks(), integer(2));
    });
    push.finish();
}

}  // namespace

std::vector<Entry> all_to_all_recipes() {
    return {
        {{"mesh", "2", "4P N", "P N", "2(P-1)", "-"}, mesh},
        {{"pairwise", "P", "4P N", "P N", "P-1 + floor(P/2)", "-"}, pairwise},
    };
}

}  // namespace peal::collectives
