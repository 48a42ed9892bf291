// SPDX-License-Identifier: Apache-2.0
// Broadcast: every rank gets the root's vector.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::broadcast {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

// The root's part: stage, say so, and stay until everybody has said `read`.
void give(const Site& here, std::int64_t read) {
    here.stage(here.whole(), integer(0));
    here.notify_peers(1);
    if (!here.in_place) here.unstage(here.whole(), integer(0));
    here.wait_peers(read);
}

//   1  the root has staged
//   2  I have read it
void mesh(const Site& at) {
    at.if_root([&](const Site& here) { give(here, 2); },
               [&](const Site& here) {
                   here.wait(here.root, integer(1));
                   here.deliver(here.load(here.whole(), here.root), integer(0), integer(0));
                   here.notify(here.root, integer(2));
               });
    at.advance(integer(2));
}

// A binomial tree over places: the root has place 0, and the parent of a place is the place without
// its highest bit. Every rank reads its parent's target; inner ranks keep the vector for their
// children.
//   1  my target holds the vector
//   2  I have read it
class Tree {
public:
    explicit Tree(const Site& site)
        : at(site),
          place(site.b.Bind("place", (rank() + nranks() - site.root) % nranks())),
          bits(site.b.Bind("bits", CeilLog2(nranks()))),
          // Children are at place + 2^k for k from first_child on.
          first_child(site.b.Bind("first_child", FloorLog2(place * 2 + 1))),
          is_inner(Less(place + PowerOfTwo(first_child), nranks())) {}

    void run() const {
        at.b.EmitIf(
            Eq(place, integer(0)),
            [&](LoweringBuilder& b) { at.in(b).stage(at.whole(), integer(0)); },
            [&](LoweringBuilder& b) { fetch(at.in(b)); });
        for_each_child(
            [&](const Site& here, const ExprPtr& child) { here.notify(child, integer(1)); });
        at.b.EmitIf(binary(BinaryOp::logical_or, is_inner, Eq(place, integer(0))),
                    [&](LoweringBuilder& b) { at.in(b).unstage(at.whole(), integer(0)); });
        for_each_child(
            [&](const Site& here, const ExprPtr& child) { here.wait(child, integer(2)); });
        at.advance(integer(2));
    }

private:
    void fetch(const Site& here) const {
        const ExprPtr parent = here.b.Bind("parent", rank_at(place - PowerOfTwo(FloorLog2(place))));
        here.wait(parent, integer(1));
        const ExprPtr vector = here.load(here.whole(), parent);
        here.b.EmitIf(
            is_inner, [&](LoweringBuilder& b) { b.Store(vector, here.target, integer(0)); },
            [&](LoweringBuilder& b) { here.in(b).deliver(vector, integer(0), integer(0)); });
        here.notify(parent, integer(2));
    }

    void for_each_child(
        const std::function<void(const Site& here, const ExprPtr& child)>& body) const {
        at.b.EmitFor("k", first_child, bits, [&](LoweringBuilder& loop, const ExprPtr& k) {
            const ExprPtr child = place + PowerOfTwo(k);
            loop.EmitIf(Less(child, nranks()),
                        [&](LoweringBuilder& b) { body(at.in(b), rank_at(child)); });
        });
    }

    ExprPtr rank_at(const ExprPtr& some_place) const { return (some_place + at.root) % nranks(); }

    const Site& at;
    ExprPtr place, bits, first_child, is_inner;
};

void tree(const Site& at) { Tree(at).run(); }

// Rank r reads part r of the root's vector, then everybody collects the parts from their readers:
// the root's memory is read little more than once.
//   1  the root has staged
//   2  I hold my part
//   3  I have collected
void scatter_allgather(const Site& at) {
    const auto for_each_other = [&](const Site& here, const auto& body) {
        here.for_each_peer([&](const Site& inner, const ExprPtr& peer) {
            inner.b.EmitIf(NotEq(peer, at.root),
                           [&](LoweringBuilder& b) { body(inner.in(b), peer); });
        });
    };
    const auto collect = [&](const Site& here, const ExprPtr& peer) {
        const Part theirs = here.part_of(at.count, peer);
        here.deliver(here.load(theirs, peer), theirs.offset, theirs.offset);
    };
    at.b.EmitIf(
        Eq(rank(), at.root), [&](LoweringBuilder& b) { give(at.in(b), 3); },
        [&](LoweringBuilder& b) {
            const Site here = at.in(b);
            const Part mine = here.part_of(at.count, rank());
            here.wait(here.root, integer(1));
            b.Store(here.load(mine, here.root), here.target, mine.offset);
            for_each_other(here, [](const Site& inner, const ExprPtr& peer) {
                inner.notify(peer, integer(2));
            });
            collect(here, here.root);
            here.notify(here.root, integer(3));
            here.unstage(mine, mine.offset);
            for_each_other(here, [&](const Site& inner, const ExprPtr& peer) {
                inner.wait(peer, integer(2));
                collect(inner, peer);
                inner.notify(peer, integer(3));
            });
            for_each_other(
                here, [](const Site& inner, const ExprPtr& peer) { inner.wait(peer, integer(3)); });
        });
    at.advance(integer(3));
}

// The root and its readers share the work: the root writes the last part into everybody's target,
// and everybody reads the rest.
//   1  the root has staged; I have come: my target may be written
//   2  the root has written its part; I have read the rest
void joint(const Site& at) {
    const Part written = at.part_of(at.count, nranks() - 1);
    const Part rest = {integer(0), written.offset};
    at.if_root(
        [&](const Site& root) {
            root.stage(at.whole(), integer(0));
            root.notify_peers(1);
            root.for_each_peer_from_right([&](const Site& here, const ExprPtr& peer) {
                here.wait(peer, integer(1));
                here.b.RemoteStore(here.load_own(written), at.target, peer, written.offset);
                here.notify(peer, integer(2));
            });
            if (!at.in_place) root.unstage(at.whole(), integer(0));
            root.wait_peers(2);
        },
        [&](const Site& here) {
            here.notify(at.root, integer(1));
            here.wait(at.root, integer(1));
            here.deliver(here.load(rest, at.root), integer(0), integer(0));
            here.notify(at.root, integer(2));
            here.wait(at.root, integer(2));
            here.unstage(written, written.offset);
        });
    at.advance(integer(2));
}

// The root puts its vector into everybody's inbox.
void push(const Site& at) {
    const Inbox inbox(at, at.count);
    at.if_root(
        [&](const Site& here) {
            here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
                inbox.put(inner, peer, inner.take(at.whole()));
            });
            here.keep(at.whole(), integer(0));
        },
        [&](const Site& here) {
            here.wait(at.root, integer(1));
            here.give(inbox.get(here, at.root, at.count), integer(0));
        });
    at.advance(integer(1));
}

// The root stages its vector, everybody reads it.
void pull(const Site& at) {
    at.if_root(
        [&](const Site& here) {
            here.stage(at.whole(), integer(0));
            here.notify_peers(1);
            here.keep(at.whole(), integer(0));
        },
        [&](const Site& here) {
            here.wait(at.root, integer(1));
            here.give(here.load(at.whole(), at.root), integer(0));
        });
    at.advance(integer(1));
}

// In pieces of about so many bytes, but not in more than so many, since each costs a signal.
constexpr std::int64_t kPieceBytes = 8 << 10;
constexpr std::int64_t kMostPieces = 8;

ExprPtr pieces_of(const Site& at) {
    const std::int64_t piece = kPieceBytes / static_cast<std::int64_t>(bytes_of(at.element));
    return Max(Min(at.count / integer(piece), integer(kMostPieces)), integer(1));
}

// Like pull, piece by piece: one is read while the next is staged.
//   i + 1  the root has staged piece i
void stream(const Site& at) {
    const ExprPtr pieces = at.b.Bind("pieces", pieces_of(at));
    const auto for_each_piece = [&](const Site& here, const auto& body) {
        here.b.EmitFor("i", integer(0), pieces, [&](LoweringBuilder& loop, const ExprPtr& i) {
            const Site inner = here.in(loop);
            body(inner, inner.lines_of(at.count, pieces, i), i + 1);
        });
    };
    at.if_root(
        [&](const Site& root) {
            for_each_piece(root, [](const Site& here, const Part& piece, const ExprPtr& phase) {
                here.stage(piece, piece.offset);
                here.notify_peers(phase);
            });
            root.keep(at.whole(), integer(0));
        },
        [&](const Site& other) {
            for_each_piece(other, [&](const Site& here, const Part& piece, const ExprPtr& phase) {
                here.wait(at.root, phase);
                here.give(here.load(piece, at.root), piece.offset);
            });
        });
    at.advance(pieces);
}

// The root stages chunk after chunk, everybody reads and acknowledges them.
//   i + 1  staged chunk i; I have read chunk i
void pipeline(const Site& at) {
    const Slots slots(at, at.count, integer(1));
    at.if_root(
        [&](const Site& root) {
            slots.send(
                root, [&](const Site& here, const ExprPtr& i) { here.wait_peers(Slots::phase(i)); },
                [&](const Site& here, const ExprPtr& i) {
                    const Part chunk = slots.chunk(i);
                    here.stage(chunk, slots.place(i));
                    here.notify_peers(Slots::phase(i));
                    here.keep(chunk, chunk.offset);
                });
        },
        [&](const Site& other) {
            slots.receive(other, [&](const Site& here, const ExprPtr& i) {
                const Part chunk = slots.chunk(i);
                here.wait(at.root, Slots::phase(i));
                here.give(here.load({slots.place(i), chunk.count}, at.root), chunk.offset);
                here.notify(at.root, Slots::phase(i));
            });
        });
    at.advance(slots.chunks());
}

}  // namespace

std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "2 N; root 4 N", "N", "1; root P-1", "-", Reuse::at_once}, mesh, one_block},
        {{"tree", "2 ceil(log2 P)", "leaves 2 N; others 4 N", "N", "1 and one per child", "-",
          Reuse::at_once},
         tree,
         one_block},
        {{"scatter_allgather", "3", "(2 + 2/P) N; root 4 N", "N", "2P-3; root P-1", "-",
          Reuse::at_once},
         scatter_allgather,
         one_block},
        {{"joint", "2", "2 N; root (6 - 2/P) N", "N", "2; root 2(P-1)", "-", Reuse::at_once},
         joint,
         one_block},
        {{"pipeline", "2 at a time", "2 N; root 4 N", "any", "1 per chunk; root P-1", "-",
          Reuse::at_once},
         pipeline,
         ring_of_blocks,
         TargetUse::stages_in_ring},
        {{"push", "1", "2 N; root 2P N", "P N, in whole lines", "0; root P-1", "-", Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
        {{"pull", "1", "2 N; root 4 N", "N", "0; root P-1", "-", Reuse::later},
         pull,
         one_block,
         TargetUse::stages},
        {{"stream", "1 per piece", "2 N; root 4 N", "N", "0; root P-1 per piece", "-",
          Reuse::later},
         stream,
         one_block,
         TargetUse::stages,
         cell_per_rank,
         {},
         pieces_of},
    };
}

}  // namespace peal::collectives::broadcast
