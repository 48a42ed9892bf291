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

ExprPtr is_first() { return Eq(rank(), integer(0)); }
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
        at.b.EmitIf(
            has_above(),
            [&](LoweringBuilder& b) {
                slots.send(
                    at.in(b),
                    [&](const Site& here, const ExprPtr& i) {
                        here.wait(rank() + 1, Slots::phase(i));
                    },
                    [&](const Site& here, const ExprPtr& i) { link(here, i); });
            },
            [&](LoweringBuilder& b) {
                slots.receive(at.in(b), [&](const Site& here, const ExprPtr& i) { end(here, i); });
            });
        at.advance(slots.chunks());
    }

private:
    ExprPtr staged_below(const Site& here, const ExprPtr& i) const {
        return here.load({slots.place(i), slots.chunk(i).count}, rank() - 1);
    }

    void link(const Site& here, const ExprPtr& i) const {
        const Part chunk = slots.chunk(i);
        const Part slot{slots.place(i), chunk.count};
        here.b.EmitIf(
            is_first(),
            [&](LoweringBuilder& b) {
                const Site first = here.in(b);
                first.stage(chunk, slot.offset);
                first.notify(rank() + 1, Slots::phase(i));
                if (kOwn == Own::counts) first.keep(chunk, chunk.offset);
            },
            [&](LoweringBuilder& b) {
                const Site next = here.in(b);
                next.wait(rank() - 1, Slots::phase(i));
                b.Store(b.Combine(at.op, staged_below(next, i), next.take(chunk)), at.target,
                        slot.offset);
                next.notify(rank() + 1, Slots::phase(i));
                next.give(kOwn == Own::counts ? next.load_own(slot) : staged_below(next, i),
                          chunk.offset);
                next.notify(rank() - 1, Slots::phase(i));
            });
    }

    void end(const Site& here, const ExprPtr& i) const {
        const Part chunk = slots.chunk(i);
        const auto take_over = [&](LoweringBuilder& b) {
            const Site last = here.in(b);
            last.wait(rank() - 1, Slots::phase(i));
            const ExprPtr before = staged_below(last, i);
            last.give(kOwn == Own::counts ? b.Combine(at.op, before, last.take(chunk)) : before,
                      chunk.offset);
            last.notify(rank() - 1, Slots::phase(i));
        };
        here.b.EmitIf(has_below(), take_over, [&](LoweringBuilder& b) {
            if (kOwn == Own::counts) here.in(b).keep(chunk, chunk.offset);  // a single rank
        });
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
