// SPDX-License-Identifier: Apache-2.0
// Reductions and allgathers of a vector of P blocks between hosts: block r ends, or begins, at rank
// r, which is its home.
//
// Reducing: on each host the holder of block r combines it over the ranks of the host, in rank
// order; deputies put what they have into the inbox of the home, which combines the hosts' parts in
// the order of hosts. Gathering: the home puts its block into the slots of its deputies, and the
// ranks of a host read it from the holder. An allreduce is one after the other. So each block goes
// once to each other host, and every rank has its share of that.
//
// Chunk by chunk, in turns; what a rank does in turn t with one chunk it needs of others of the
// turn before:
//   stage    its own part of all blocks that others of its host hold
//   combine  the blocks that it holds, of its host; puts them home
//   finish   its own block, of all hosts; an allgather begins here, with the block itself
//            puts it to its deputies
//   relay    has its principals' blocks; says so on its host
//   collect  reads the blocks that others of its host hold
// Rank w tells rank p in turn t: 2t + 2 staged, combined; 2t + 3 finished, relayed. Phase 1 says
// that its target may be written; it goes to ranks of other hosts.
//
// A slot is filled again S turns later, and nobody says that it has read: a rank has heard, over
// some ranks, from all. Of a reduction S = 5: who combines or finishes chunk c in turn t knows that
// all ranks have ended turn t - 4, in which they finished chunk c - 5 or collected it; of an
// allgather it takes one turn more. The checker proves it, and refutes one slot less.
#include "collectives/hosts.hpp"
#include "collectives/layout.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::hosts {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

constexpr std::int64_t kReducing = 5;
constexpr std::int64_t kGathering = 6;

class Blocks {
public:
    // Of the vector that is reduced or gathered.
    using BlockOf = std::function<Part(const Site& here, const ExprPtr& r)>;

    struct Form {
        bool reduces, gathers;
        std::int64_t slots() const { return reduces ? kReducing : kGathering; }
    };

    Blocks(const Site& site, Form form, const ExprPtr& longest, BlockOf block_of)
        : at(site),
          form(form),
          block_of(std::move(block_of)),
          layout(site),
          slots(site, longest, form.reduces ? nranks() + layout.hosts() : nranks(), form.slots()) {}

    void run() const {
        enter();
        const std::int64_t last = (form.reduces ? 2 : 0) + (form.gathers ? 2 : 0);
        const ExprPtr turns = slots.chunks() + last;
        at.b.EmitFor("i", integer(0), turns, [&](LoweringBuilder& loop, const ExprPtr& turn) {
            const auto step = [&](std::int64_t behind, auto&& what) {
                const ExprPtr i = turn - behind;
                loop.EmitIf(And(AtLeast(i, integer(0)), Less(i, slots.chunks())),
                            [&](LoweringBuilder& b) { what(at.in(b), i); });
            };
            const auto self = [&](auto method) {
                return [this, method](const Site& here, const ExprPtr& i) {
                    (this->*method)(here, i);
                };
            };
            if (form.reduces) {
                step(0, self(&Blocks::stage));
                step(1, self(&Blocks::combine));
            }
            step(home_turn(), self(&Blocks::finish));
            if (form.gathers) {
                step(home_turn() + 1, self(&Blocks::relay));
                step(home_turn() + 2, self(&Blocks::collect));
            }
        });
        const ExprPtr done = turns * 2 + 2;
        layout.notify_near(at, done);
        layout.wait_near(at, done);
        at.advance(done);
    }

private:
    // ---- phases, of chunk i

    std::int64_t home_turn() const { return form.reduces ? 2 : 0; }
    static ExprPtr entered() { return integer(1); }
    static ExprPtr staged(const ExprPtr& i) { return i * 2 + 2; }
    static ExprPtr combined(const ExprPtr& i) { return (i + 1) * 2 + 2; }
    ExprPtr finished(const ExprPtr& i) const { return (i + home_turn()) * 2 + 3; }
    ExprPtr relayed(const ExprPtr& i) const { return (i + home_turn() + 1) * 2 + 3; }

    // ---- places

    // Chunk i of block r: in the vector, and in the slot.
    Part in_vector(const Site& here, const ExprPtr& i, const ExprPtr& r) const {
        const Part block = block_of(here, r);
        return shifted(slots.chunk_of(block.count, i), block.offset);
    }
    Part in_slot(const Site& here, const ExprPtr& i, const ExprPtr& r) const {
        return {slots.place(i, r), slots.chunk_of(block_of(here, r).count, i).count};
    }
    // What a host's deputy has put for this rank.
    ExprPtr inbox(const ExprPtr& i, const ExprPtr& host) const {
        return slots.place(i, nranks() + host);
    }
    // Where a chunk of the own block is in what this rank gives or gets alone.
    Part alone(const Site& here, const ExprPtr& i) const {
        return slots.chunk_of(block_of(here, rank()).count, i);
    }

    // ---- steps

    // To those who put first.
    void enter() const {
        if (form.reduces) {
            tell_deputies(at, entered());
        } else {
            tell_principals(at, entered());
        }
    }

    void stage(const Site& here, const ExprPtr& i) const {
        layout.for_each_not_held(
            here, [&](const Site& inner, const ExprPtr& r, const ExprPtr& /*holder*/) {
                inner.stage(in_vector(inner, i, r), slots.place(i, r));
            });
        layout.notify_near(here, staged(i));
    }

    void combine(const Site& here, const ExprPtr& i) const {
        layout.wait_near(here, staged(i));
        layout.for_each_held(here, [&](const Site& inner, const ExprPtr& r) {
            const Part slot = in_slot(inner, i, r);
            const Part own = in_vector(inner, i, r);
            const auto term = [&](const Site& site, const ExprPtr& peer) {
                return site.b.EmitIfExpr(
                    NotEq(peer, rank()),
                    [&](LoweringBuilder& b) { return site.in(b).load(slot, peer); },
                    [&](LoweringBuilder& b) { return site.in(b).take(own); });
            };
            inner.b.Store(layout.combine_near(inner, term), here.target, slot.offset);
            inner.b.EmitIf(NotEq(r, rank()), [&](LoweringBuilder& b) {
                wait_for_entry(inner.in(b), i, r);
                put(inner.in(b), r, slot, inbox(i, layout.own()));
            });
        });
        fence(here);
        tell_principals(here, combined(i));
    }

    void finish(const Site& here, const ExprPtr& i) const {
        const Part slot = in_slot(here, i, rank());
        if (form.reduces) {
            layout.for_each_deputy(here, [&](const Site& inner, const ExprPtr& deputy) {
                inner.wait(deputy, combined(i));
            });
            const ExprPtr sum =
                layout.combine_hosts(here, [&](const Site& inner, const ExprPtr& host) {
                    return inner.b.EmitIfExpr(
                        NotEq(host, layout.own()),
                        [&](LoweringBuilder& b) {
                            return inner.in(b).load_own({inbox(i, host), slot.count});
                        },
                        [&](LoweringBuilder& b) { return inner.in(b).load_own(slot); });
                });
            if (!form.gathers) return here.give(sum, alone(here, i).offset);
            here.b.Store(sum, here.target, slot.offset);
        } else {
            here.b.Store(here.take(alone(here, i)), here.target, slot.offset);
        }
        layout.for_each_deputy(here, [&](const Site& inner, const ExprPtr& deputy) {
            if (!form.reduces) wait_for_entry(inner, i, deputy);
            put(inner, deputy, slot, slot.offset);
        });
        fence(here);
        tell_deputies(here, finished(i));
        if (form.reduces) {
            here.unstage(slot, in_vector(here, i, rank()).offset);
        } else {
            here.keep(alone(here, i), in_vector(here, i, rank()).offset);
        }
    }

    void relay(const Site& here, const ExprPtr& i) const {
        layout.for_each_principal(
            here, [&](const Site& inner, const ExprPtr& r) { inner.wait(r, finished(i)); });
        layout.notify_near(here, relayed(i));
        layout.for_each_principal(here, [&](const Site& inner, const ExprPtr& r) {
            inner.unstage(in_slot(inner, i, r), in_vector(inner, i, r).offset);
        });
    }

    void collect(const Site& here, const ExprPtr& i) const {
        layout.wait_near(here, relayed(i));
        layout.for_each_not_held(
            here, [&](const Site& inner, const ExprPtr& r, const ExprPtr& holder) {
                inner.give(inner.load(in_slot(inner, i, r), holder), in_vector(inner, i, r).offset);
            });
    }

    // ---- phrases

    void wait_for_entry(const Site& here, const ExprPtr& i, const ExprPtr& peer) const {
        here.b.EmitIf(Eq(i, integer(0)),
                      [&](LoweringBuilder& b) { here.in(b).wait(peer, entered()); });
    }
    // From the own slot to a far rank.
    void put(const Site& here, const ExprPtr& peer, const Part& from, const ExprPtr& to) const {
        here.b.PutLater(here.target, peer, to, here.target, from.offset, from.count);
    }
    void fence(const Site& here) const {
        here.b.EmitIf(Less(integer(1), layout.hosts()), [](LoweringBuilder& b) { b.Fence(); });
    }
    void tell_deputies(const Site& here, const ExprPtr& phase) const {
        layout.for_each_deputy(
            here, [&](const Site& inner, const ExprPtr& peer) { inner.notify(peer, phase); });
    }
    void tell_principals(const Site& here, const ExprPtr& phase) const {
        layout.for_each_principal(
            here, [&](const Site& inner, const ExprPtr& peer) { inner.notify(peer, phase); });
    }

    const Site& at;
    Form form;
    BlockOf block_of;
    Layout layout;
    Slots slots;
};

Part block_at(const Site& here, const ExprPtr& r) { return here.block_of(r); }

void lower_allreduce(const Site& at) {
    Blocks(at, {true, true}, at.longest_part(at.count), [](const Site& here, const ExprPtr& r) {
        return here.part_of(here.count, r);
    }).run();
}
void lower_reduce_scatter(const Site& at) {
    Blocks(at, {true, false}, at.largest(), block_at).run();
}
void lower_allgather(const Site& at) { Blocks(at, {false, true}, at.largest(), block_at).run(); }

ExprPtr with_inbox(const Site& at) {
    return Slots::least(nranks() + Layout::hosts_of(at), kReducing);
}
ExprPtr without_inbox(const Site&) { return Slots::least(nranks(), kGathering); }

}  // namespace

Entry allreduce() {
    return {{"hosts", "4, of these 2 between hosts", "(5 + (4H-3)/P) N", "any",
             "2(H+L-2) per chunk, H+L-2", "hosts in order, each in rank order", Reuse::at_once},
            lower_allreduce,
            with_inbox,
            TargetUse::stages_in_ring,
            cell_per_rank,
            "2N (H-1)/H"};
}

Entry reduce_scatter() {
    return {{"hosts", "2, of these 1 between hosts", "(3P+2H-1) N", "any", "H+L-2 per chunk, H+L-2",
             "hosts in order, each in rank order", Reuse::at_once},
            lower_reduce_scatter,
            with_inbox,
            TargetUse::stages_in_ring,
            cell_per_rank,
            "(P-L) N"};
}

Entry allgather() {
    return {{"hosts", "2, of these 1 between hosts", "(2P+2H) N", "any", "H+L-2 per chunk, H+L-2",
             "-", Reuse::at_once},
            lower_allgather,
            without_inbox,
            TargetUse::stages_in_ring,
            cell_per_rank,
            "(P-L) N"};
}

}  // namespace peal::collectives::hosts
