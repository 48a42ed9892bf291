// SPDX-License-Identifier: Apache-2.0
// Scan: rank r gets the combination of the vectors of ranks 0 to r, in rank order. Exscan: of ranks
// 0 to r-1; rank 0 gets nothing.
#include "collectives/catalogue.hpp"
#include "collectives/inbox.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

enum class Own : std::uint8_t { counts, does_not };  // in what a rank gets

ExprPtr has_below() { return Less(integer(0), rank()); }
ExprPtr has_above() { return Less(rank() + 1, nranks()); }

void for_each_below(const Site& at, const Site::PeerBody& body) {
    at.b.EmitFor("peer", integer(0), rank(),
                 [&](LoweringBuilder& loop, const ExprPtr& peer) { body(at.in(loop), peer); });
}

void for_each_above(const Site& at, const Site::PeerBody& body) {
    at.b.EmitFor("peer", rank() + 1, nranks(),
                 [&](LoweringBuilder& loop, const ExprPtr& peer) { body(at.in(loop), peer); });
}

void notify_above(const Site& at, std::int64_t phase) {
    for_each_above(
        at, [&](const Site& here, const ExprPtr& peer) { here.notify(peer, integer(phase)); });
}

void wait_below(const Site& at, std::int64_t phase) {
    for_each_below(at,
                   [&](const Site& here, const ExprPtr& peer) { here.wait(peer, integer(phase)); });
}

// What the ranks below give, and then, if it counts, what `own` loads. On rank 0 only if it does.
ExprPtr prefix(const Site& at, Own own_part, const Site::PeerTile& below,
               const std::function<ExprPtr(const Site& here)>& own) {
    if (own_part == Own::does_not) return at.combine_ranks(rank(), below(at, integer(0)), below);
    const auto term = [&](const Site& here, const ExprPtr& r) {
        return here.b.EmitIfExpr(
            Less(r, rank()), [&](LoweringBuilder& then) { return below(at.in(then), r); },
            [&](LoweringBuilder& other) { return own(at.in(other)); });
    };
    return at.combine_ranks(rank() + 1, term(at, integer(0)), term);
}

// That, to the output. In place, rank 0 has it there already.
void give_prefix(const Site& at, Own own_part, const Site::PeerTile& below) {
    const auto give = [&](LoweringBuilder& inner) {
        const Site here = at.in(inner);
        here.give(prefix(here, own_part, below,
                         [&](const Site& site) { return site.take(site.whole()); }),
                  integer(0));
    };
    if (own_part == Own::does_not || at.in_place) {
        at.b.EmitIf(has_below(), give);
    } else {
        give(at.b);
    }
}

// Nobody reads the last rank.
void stage_for_above(const Site& at) {
    if (!at.input) return;
    at.b.EmitIf(has_above(), [&](LoweringBuilder& b) { at.in(b).stage(at.whole(), integer(0)); });
}

//   1  staged, for the ranks above
//   2  I have read you, for the ranks below: on a window, only now may it be written
template <Own kOwn>
void mesh(const Site& at) {
    const auto below = [&](const Site& here, const ExprPtr& peer) {
        return here.load(at.whole(), peer);
    };
    const auto acknowledge = [&](const Site& here) {
        for_each_below(
            here, [](const Site& inner, const ExprPtr& peer) { inner.notify(peer, integer(2)); });
        for_each_above(
            here, [](const Site& inner, const ExprPtr& peer) { inner.wait(peer, integer(2)); });
    };
    stage_for_above(at);
    notify_above(at, 1);
    wait_below(at, 1);
    if (at.output) {
        give_prefix(at, kOwn, below);
        acknowledge(at);
    } else {
        const auto own = [&](const Site& here) { return here.load_input(at.whole(), integer(0)); };
        const auto later = [&](LoweringBuilder& b) {
            const Site here = at.in(b);
            const ExprPtr result = prefix(here, kOwn, below, own);
            acknowledge(here);
            b.Store(result, at.target, integer(0));
        };
        // What rank 0 has staged is its result, too.
        at.b.EmitIf(has_below(), later, [&](LoweringBuilder& b) {
            const Site first = at.in(b);
            acknowledge(first);
            if (!at.input) return;
            b.EmitIf(Eq(nranks(), integer(1)), [&](LoweringBuilder& alone) {
                first.in(alone).stage(at.whole(), integer(0));
            });
        });
    }
    at.advance(integer(2));
}

// Everybody puts its vector into the inboxes of the ranks above.
template <Own kOwn>
void push(const Site& at) {
    const Inbox inbox(at, at.count);
    for_each_above(at, [&](const Site& here, const ExprPtr& peer) {
        inbox.put(here, peer, here.take(at.whole()));
    });
    wait_below(at, 1);
    give_prefix(at, kOwn, [&](const Site& here, const ExprPtr& peer) {
        return inbox.get(here, peer, at.count);
    });
    at.advance(integer(1));
}

// Everybody stages its vector once, and reads those of the ranks below.
template <Own kOwn>
void pull(const Site& at) {
    stage_for_above(at);
    notify_above(at, 1);
    wait_below(at, 1);
    give_prefix(at, kOwn,
                [&](const Site& here, const ExprPtr& peer) { return here.load(at.whole(), peer); });
    at.advance(integer(1));
}

// A chain, chunk by chunk: each rank adds its own to what the rank before has staged, and stages
// that for the next one.
//   i + 1  staged chunk i, for the rank above; I have read chunk i, for the rank below
template <Own kOwn>
class Chain {
public:
    explicit Chain(const Site& site) : at(site), slots(site, site.count, integer(1)) {}

    void run() const {
        const auto send = [&](LoweringBuilder& b, const Slots::Step& stage) {
            slots.send(
                at.in(b),
                [](const Site& here, const ExprPtr& i) { here.wait(rank() + 1, Slots::phase(i)); },
                stage);
        };
        const auto begin = [&](LoweringBuilder& b) {
            send(b, [&](const Site& here, const ExprPtr& i) { first(here, i); });
        };
        const auto go_on = [&](LoweringBuilder& b) {
            send(b, [&](const Site& here, const ExprPtr& i) { link(here, i); });
        };
        const auto end = [&](LoweringBuilder& b) {
            slots.receive(at.in(b), [&](const Site& here, const ExprPtr& i) { last(here, i); });
        };
        const auto alone = [&](LoweringBuilder& b) {
            if (kOwn == Own::counts) at.in(b).keep(at.whole(), integer(0));
        };
        at.b.EmitIf(
            has_above(), [&](LoweringBuilder& b) { b.EmitIf(has_below(), go_on, begin); },
            [&](LoweringBuilder& b) { b.EmitIf(has_below(), end, alone); });
        at.advance(slots.chunks());
    }

private:
    Part slot(const ExprPtr& i) const { return {slots.place(i), slots.chunk(i).count}; }

    void first(const Site& here, const ExprPtr& i) const {
        const Part chunk = slots.chunk(i);
        here.stage(chunk, slots.place(i));
        here.notify(rank() + 1, Slots::phase(i));
        if (kOwn == Own::counts) here.keep(chunk, chunk.offset);
    }

    // What the rank below has staged, and then the own chunk.
    ExprPtr combined(const Site& here, const ExprPtr& i) const {
        const ExprPtr own = here.take(slots.chunk(i));
        return here.b.Combine(at.op, here.load(slot(i), rank() - 1), own);
    }

    void link(const Site& here, const ExprPtr& i) const {
        const ExprPtr to = slots.chunk(i).offset;
        here.wait(rank() - 1, Slots::phase(i));
        here.b.Store(combined(here, i), at.target, slots.place(i));
        here.notify(rank() + 1, Slots::phase(i));
        if (kOwn == Own::does_not) here.give(here.load(slot(i), rank() - 1), to);
        here.notify(rank() - 1, Slots::phase(i));
        if (kOwn == Own::counts) here.give(here.load_own(slot(i)), to);
    }

    void last(const Site& here, const ExprPtr& i) const {
        here.wait(rank() - 1, Slots::phase(i));
        here.give(kOwn == Own::counts ? combined(here, i) : here.load(slot(i), rank() - 1),
                  slots.chunk(i).offset);
        here.notify(rank() - 1, Slots::phase(i));
    }

    const Site& at;
    Slots slots;
};

template <Own kOwn>
void pipeline(const Site& at) {
    Chain<kOwn>(at).run();
}

}  // namespace

namespace scan {
std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "rank r: (r+4) N", "N", "P-1", "rank order", Reuse::at_once},
         mesh<Own::counts>,
         one_block},
        {{"pipeline", "P-1, then 1 at a time", "5 N; the ends less", "any",
          "2 per chunk; the ends 1", "rank order", Reuse::at_once},
         pipeline<Own::counts>,
         ring_of_blocks,
         TargetUse::stages_in_ring},
        {{"push", "1", "rank r: (2P-r) N", "P N, in whole lines", "P-1-r", "rank order",
          Reuse::later},
         push<Own::counts>,
         inbox,
         TargetUse::stages_in_boxes},
        {{"pull", "1", "rank r: (r+4) N", "N", "P-1-r", "rank order", Reuse::later},
         pull<Own::counts>,
         one_block,
         TargetUse::stages},
    };
}
}  // namespace scan

namespace exscan {
std::vector<Entry> recipes() {
    return {
        {{"mesh", "2", "rank r: (r+3) N", "N", "P-1", "rank order", Reuse::at_once},
         mesh<Own::does_not>,
         one_block},
        {{"pipeline", "P-1, then 1 at a time", "5 N; the ends less", "any",
          "2 per chunk; the ends 1", "rank order", Reuse::at_once},
         pipeline<Own::does_not>,
         ring_of_blocks,
         TargetUse::stages_in_ring},
        {{"push", "1", "rank r: (2P-1-r) N", "P N, in whole lines", "P-1-r", "rank order",
          Reuse::later},
         push<Own::does_not>,
         inbox,
         TargetUse::stages_in_boxes},
        {{"pull", "1", "rank r: (r+3) N", "N", "P-1-r", "rank order", Reuse::later},
         pull<Own::does_not>,
         one_block,
         TargetUse::stages},
    };
}
}  // namespace exscan

}  // namespace peal::collectives
