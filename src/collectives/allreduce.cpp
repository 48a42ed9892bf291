// SPDX-License-Identifier: Apache-2.0
// Allreduce: every rank gets the combination of all ranks' vectors.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/ring.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::allreduce {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

constexpr std::int64_t kPieceBytes = 128 << 10;

// Everybody stages, meets, and combines all vectors in rank order.
//   1  staged
//   2  I have read all: in place, only now may targets be written
void mesh(const Site& at) {
    at.stage(at.whole(), integer(0));
    at.meet(1);
    const ExprPtr sum = at.combine_in_rank_order(at.whole());
    if (at.output) at.give(sum, integer(0));
    at.meet(2);
    if (!at.output) at.b.Store(sum, at.target, integer(0));
    at.advance(integer(2));
}

// Of a span of the vectors, rank r combines part r of all, then everybody collects the parts.
//   1  staged
//   2  my part is combined; it stands over part r of my own span, which nobody else has read
//   3  I have collected yours
void two_phases(const Site& at, const Part& span) {
    const auto part_of = [&](const Site& here, const ExprPtr& r) {
        return shifted(here.part_of(span.count, r), span.offset);
    };
    const Part mine = part_of(at, rank());
    at.stage(span, span.offset);
    at.meet(1);
    at.b.Store(at.combine_in_rank_order(mine), at.target, mine.offset);
    at.notify_peers(2);
    at.unstage(mine, mine.offset);
    at.for_each_peer([&](const Site& here, const ExprPtr& peer) {
        const Part theirs = part_of(here, peer);
        here.wait(peer, integer(2));
        here.deliver(here.load(theirs, peer), theirs.offset, theirs.offset);
        here.notify(peer, integer(3));
    });
    at.wait_peers(3);
    at.advance(integer(3));
}

void two_phase(const Site& at) { two_phases(at, at.whole()); }

// Each lane takes a part of the vector and meets those of its number on the other ranks: as many
// allreduces at once as there are lanes, which share nothing.
void lanes(const Site& at) { two_phases(at.of_lane(), at.part_of_lane(at.count)); }

// As two_phase, chunk after chunk, between private memories. In turn i a rank stages the parts that
// others combine of chunk i, combines its own part of chunk i-1 in rank order, and collects the
// others' parts of chunk i-2: whatever it needs of its peers was asked of them a turn ago. The
// result of its part stands where nothing is staged, in its own part of the slot.
//   2i + 1  staged chunk i
//   2i + 4  combined my part of chunk i
// A slot is filled again four turns later. Who has said 2(i+1) + 1 has collected chunk i-1.
class Pipeline {
public:
    explicit Pipeline(const Site& site) : at(site), slots(site, site.count, integer(1)) {}

    void run() const {
        at.b.EmitFor("i", integer(0), slots.chunks() + 2,
                     [&](LoweringBuilder& loop, const auto& i) {
                         loop.EmitIf(Less(i, slots.chunks()),
                                     [&](LoweringBuilder& b) { stage(at.in(b), i); });
                         loop.EmitIf(And(AtLeast(i, integer(1)), AtLeast(slots.chunks(), i)),
                                     [&](LoweringBuilder& b) { combine(at.in(b), i - 1); });
                         loop.EmitIf(AtLeast(i, integer(2)),
                                     [&](LoweringBuilder& b) { collect(at.in(b), i - 2); });
                     });
        const ExprPtr done = slots.chunks() * 2 + 3;
        at.meet(done);
        at.advance(done);
    }

private:
    // Of chunk i. The parts are the same in all chunks, so that in a slot that is filled again only
    // its result stands where a result stood.
    Part part_of(const Site& here, const ExprPtr& i, const ExprPtr& r) const {
        const Part full = here.part_of(slots.size(), r);
        const ExprPtr count = slots.chunk(i).count;
        const ExprPtr begin = Min(full.offset, count);
        return {begin, Min(full.offset + full.count, count) - begin};
    }

    static ExprPtr staged(const ExprPtr& i) { return i * 2 + 1; }
    static ExprPtr combined(const ExprPtr& i) { return i * 2 + 4; }

    void stage(const Site& here, const ExprPtr& i) const {
        const Part chunk = slots.chunk(i);
        const Part mine = part_of(here, i, rank());
        const ExprPtr after = mine.offset + mine.count;
        for (const Part& others : {Part{integer(0), mine.offset}, {after, chunk.count - after}}) {
            here.stage(shifted(others, chunk.offset), slots.place(i) + others.offset);
        }
        here.notify_peers(staged(i));
    }

    void combine(const Site& here, const ExprPtr& i) const {
        const Part chunk = slots.chunk(i);
        const Part mine = part_of(here, i, rank());
        const Part in_slot = shifted(mine, slots.place(i));
        here.wait_peers(staged(i));
        const ExprPtr result = here.combine_with_peers(
            shifted(mine, chunk.offset),
            [&](const Site& inner, const ExprPtr& peer) { return inner.load(in_slot, peer); });
        here.b.Store(result, here.target, in_slot.offset);
        here.notify_peers(combined(i));
        here.unstage(in_slot, chunk.offset + mine.offset);
    }

    void collect(const Site& here, const ExprPtr& i) const {
        const Part chunk = slots.chunk(i);
        here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
            const Part theirs = part_of(inner, i, peer);
            inner.wait(peer, combined(i));
            inner.give(inner.load(shifted(theirs, slots.place(i)), peer),
                       chunk.offset + theirs.offset);
        });
    }

    const Site& at;
    Slots slots;
};

void pipeline(const Site& at) { Pipeline(at).run(); }

// On a window, rank r combines part r of all and stores it into everybody's, in pieces that are
// still in its cache when they are copied.
//   1  my vector is there
//   2  my part is in your target
void direct(const Site& at) {
    at.stage(at.whole(), integer(0));
    at.meet(1);
    const Part mine = at.part_of(at.count, rank());
    const ExprPtr size = integer(kPieceBytes / static_cast<std::int64_t>(bytes_of(at.element)));
    const ExprPtr pieces = ceil_div(mine.count, size);
    at.b.EmitFor("i", integer(0), pieces, [&](LoweringBuilder& loop, const ExprPtr& i) {
        const Site here = at.in(loop);
        const Part piece = {mine.offset + i * size, Min(size, mine.count - i * size)};
        loop.Store(here.combine_in_rank_order(piece), at.target, piece.offset);
        here.for_each_peer_from_right([&](const Site& inner, const ExprPtr& peer) {
            inner.b.RemoteStore(inner.load_own(piece), at.target, peer, piece.offset);
        });
    });
    at.meet(2);
    at.unstage(at.whole(), integer(0));
    at.advance(integer(2));
}

// A vector that travels one way round the ring: reduced step by step, then handed on.
struct Travel {
    Way way;
    Part span;  // of the target

    Part part_of(const ExprPtr& i) const {
        const Part inner = part(span.count, nranks(), i);
        return {span.offset + inner.offset, inner.count};
    }
    // In step s the part that arrives was combined by s + 1 ranks; after P-1 steps rank r holds
    // part r, complete.
    void reduce(const Site& here, const ExprPtr& s) const {
        here.combine_from(way.from, part_of(way.behind(s + 2)));
    }
    void gather(const Site& here, const ExprPtr& s) const {
        const Part next = part_of(way.behind(s + 1));
        here.b.Store(here.load(next, way.from), here.target, next.offset);
    }
};

// Reduce-scatter round the ring, then allgather round the ring. No step waits for a reader: the
// word that allows a step has travelled all the way round, so the part that the step overwrites was
// read by then. The margin is exactly zero steps; the checker proves it.
//   1 .. P-1   steps of the reduce-scatter
//   P .. 2P-2  steps of the allgather
//   2P-1       I have read all I need of my neighbours
void travel(const Site& at, const std::vector<Travel>& travels) {
    std::vector<Way> ways;
    for (const Travel& each : travels) ways.push_back(each.way);
    at.stage(at.whole(), integer(0));
    ring_steps(at, ways, integer(1), [&](const Site& here, const ExprPtr& s) {
        for (const Travel& each : travels) each.reduce(here, s);
    });
    ring_steps(at, ways, nranks(), [&](const Site& here, const ExprPtr& s) {
        for (const Travel& each : travels) each.gather(here, s);
    });
    const ExprPtr done = nranks() * 2 - 1;
    ring_close(at, ways, done, [&] { at.unstage(at.whole(), integer(0)); });
    at.advance(done);
}

void ring(const Site& at) { travel(at, {{forward_way(), at.whole()}}); }

// Half of the vector goes one way, half the other, so both directions of each link are used.
void bidirectional_ring(const Site& at) {
    const ExprPtr half = at.count / integer(2);
    travel(at, {{forward_way(), {integer(0), half}}, {backward_way(), {half, at.count - half}}});
}

// Recursive halving, then recursive doubling, among Q = 2^L ranks; each of the P - Q extra ranks
// lends its vector to a partner before, and gets the result from it after.
//   1                  an extra rank has staged
//   2 .. L+1           halving: exchange with a rank Q/2, Q/4, ... 1 away; each keeps one half
//   L+2 .. 2L+1        doubling: the same in reverse
//   2L+2               the result is ready for the extra rank
//   2L+3               I have read all I need of you
class HalvingDoubling {
public:
    explicit HalvingDoubling(const Site& site)
        : at(site),
          levels(site.b.Bind("levels", FloorLog2(nranks()))),
          core(site.b.Bind("core", PowerOfTwo(levels))),
          ready(levels * 2 + 2),
          done(levels * 2 + 3) {}

    void run() {
        at.stage(at.whole(), integer(0));
        at.b.EmitIf(
            Less(rank(), core), [&](LoweringBuilder& b) { core_rank(at.in(b)); },
            [&](LoweringBuilder& b) { extra_rank(at.in(b)); });
        at.advance(done);
    }

private:
    void core_rank(const Site& here) const {
        const ExprPtr extra = rank() + core;
        const ExprPtr has_extra = Less(extra, nranks());
        here.b.EmitIf(has_extra, [&](LoweringBuilder& b) {
            here.in(b).wait(extra, integer(1));
            here.in(b).combine_from(extra, here.whole());
        });
        exchange(
            here, "half", integer(2),
            [&](const Site& site, const ExprPtr& k) {
                const ExprPtr width = core / PowerOfTwo(k + 1);
                site.combine_from(partner(width), range(rank(), width));
            },
            [&](const ExprPtr& k) { return core / PowerOfTwo(k + 1); });
        exchange(
            here, "double", levels + 2,
            [&](const Site& site, const ExprPtr& k) {
                const ExprPtr width = PowerOfTwo(k);
                const Part theirs = range(partner(width), width);
                site.b.Store(site.load(theirs, partner(width)), site.target, theirs.offset);
            },
            [&](const ExprPtr& k) { return PowerOfTwo(k); });
        here.b.EmitIf(has_extra, [&](LoweringBuilder& b) { here.in(b).notify(extra, ready); });
        here.b.EmitFor("k", integer(0), levels, [&](LoweringBuilder& b, const ExprPtr& k) {
            here.in(b).notify(partner(PowerOfTwo(k)), done);
        });
        here.unstage(here.whole(), integer(0));
        here.b.EmitFor("k", integer(0), levels, [&](LoweringBuilder& b, const ExprPtr& k) {
            here.in(b).wait(partner(PowerOfTwo(k)), done);
        });
        here.b.EmitIf(has_extra, [&](LoweringBuilder& b) { here.in(b).wait(extra, done); });
    }

    void extra_rank(const Site& here) const {
        const ExprPtr lender = rank() - core;
        here.notify(lender, integer(1));
        here.wait(lender, ready);
        here.deliver(here.load(here.whole(), lender), integer(0), integer(0));
        here.notify(lender, done);
    }

    void exchange(const Site& here, std::string_view hint, const ExprPtr& first_phase,
                  const std::function<void(const Site&, const ExprPtr& k)>& step,
                  const std::function<ExprPtr(const ExprPtr& k)>& width) const {
        here.b.EmitFor(hint, integer(0), levels, [&](LoweringBuilder& b, const ExprPtr& k) {
            const Site site = here.in(b);
            site.notify(partner(width(k)), first_phase + k);
            site.wait(partner(width(k)), first_phase + k);
            step(site, k);
        });
    }

    // The rank whose number differs in the bit `width`.
    static ExprPtr partner(const ExprPtr& width) {
        return rank() + width - width * 2 * (rank() / width % integer(2));
    }

    // Of Q parts, the aligned run of `width` that contains part r.
    Part range(const ExprPtr& r, const ExprPtr& width) const {
        const ExprPtr first = r / width * width;
        const ExprPtr begin = first * at.count / core;
        return {begin, (first + width) * at.count / core - begin};
    }

    const Site& at;
    ExprPtr levels, core, ready, done;
};

void halving_doubling(const Site& at) { HalvingDoubling(at).run(); }

// Everybody puts its vector into everybody's inbox, and combines what comes with its own.
void push(const Site& at) {
    const Inbox inbox(at, at.count);
    at.for_each_peer_from_right([&](const Site& here, const ExprPtr& peer) {
        inbox.put(here, peer, here.take(at.whole()));
    });
    at.wait_peers(1);
    at.give_combined(at.whole(), integer(0), [&](const Site& here, const ExprPtr& peer) {
        return inbox.get(here, peer, at.count);
    });
    at.advance(integer(1));
}

// As mesh, but the own vector is read where it is, and nobody waits for readers.
void pull(const Site& at) {
    at.stage(at.whole(), integer(0));
    at.meet(1);
    at.give_combined(at.whole(), integer(0), [&](const Site& here, const ExprPtr& peer) {
        return here.load(at.whole(), peer);
    });
    at.advance(integer(1));
}

}  // namespace

std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "(P+3) N", "N", "2(P-1)", "rank order", Reuse::at_once}, mesh, one_block},
        {{"two_phase", "3", "(5 + 1/P) N", "N", "3(P-1)", "rank order", Reuse::at_once},
         two_phase,
         one_block},
        {{"lanes", "3", "(5 + 1/P) N", "N", "3(P-1) L", "rank order", Reuse::at_once, true},
         lanes,
         one_block,
         TargetUse::any,
         cell_per_lane},
        {{"ring", "2P-1", "(9 - 5/P) N", "N", "2P-1", "part i: ranks i+1, i+2, ... i (mod P)",
          Reuse::at_once},
         ring,
         one_block},
        {{"bidirectional_ring", "2P-1", "(9 - 5/P) N", "N", "2(2P-1)",
          "as ring; the second half of the vector the other way round", Reuse::at_once},
         bidirectional_ring,
         one_block},
        {{"halving_doubling", "2 log2 P + 1", "(9 - 5/P) N", "N", "3 log2 P",
          "a binary tree over ranks", Reuse::at_once},
         halving_doubling,
         one_block},
        {{"direct", "2", "(7 - 1/P) N", "N", "2(P-1)", "rank order", Reuse::at_once},
         direct,
         one_block},
        {{"pipeline", "3 at a time", "(5 - 1/P) N", "any", "3(P-1) for one chunk", "rank order",
          Reuse::at_once},
         pipeline,
         ring_of_blocks,
         TargetUse::stages_in_ring},
        {{"push", "1", "(3P-1) N", "P N, in whole lines", "P-1", "rank order", Reuse::later},
         push,
         inbox,
         TargetUse::stages_in_boxes},
        {{"pull", "1", "(P+3) N", "N", "P-1", "rank order", Reuse::later},
         pull,
         one_block,
         TargetUse::stages},
    };
}

}  // namespace peal::collectives::allreduce
