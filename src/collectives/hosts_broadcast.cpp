// SPDX-License-Identifier: Apache-2.0
// Broadcast between hosts. The ranks of the root's host read the root's vector there. Of each chunk
// every rank of another host has a part: it gets it from its deputy on the root's host, puts it to
// its deputies on the other hosts, and the ranks of a host read it from its holder. So a chunk
// leaves the root's host once, and every rank has its share of what goes between hosts.
//
// Chunk by chunk, in turns. On the root's host:
//   stage    the root: chunk i, in turn i
//   send     everybody takes it, and puts to its principals their parts, which it has in its own
//            slot meanwhile
// and on others:
//   forward  the own part has come; puts it to the own deputies, but not to the root's host
//   relay    the principals' parts have come; says so on this host
//   collect  reads the parts that others of this host hold
//   release  all of this host have collected; says so to whom it has parts of
// Rank w tells rank p in turn t: 2t + 2 staged, sent, forwarded, relayed; 2t + 3 read, collected,
// released. Phase 1 says that its target may be written.
#include "collectives/hosts.hpp"
#include "collectives/layout.hpp"
#include "collectives/slots.hpp"

namespace peal::collectives::hosts {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

// A part is released five turns after it was sent; the others keep everybody busy meanwhile.
constexpr std::int64_t kBroadcastSlots = 8;

class Broadcast {
public:
    explicit Broadcast(const Site& site)
        : at(site),
          layout(site),
          root_host(site.b.Bind("root_host", layout.host_of(site.root))),
          slots(site, site.count, integer(1), kBroadcastSlots),
          part_size(site.b.Bind("part", size_of_parts())),
          at_root_host(Eq(layout.own(), root_host)) {}

    void run() const {
        at.b.EmitIf(NotEq(layout.own(), root_host), [&](LoweringBuilder& b) {
            for_each_writer(at.in(b), [](const Site& here, const ExprPtr& writer) {
                here.notify(writer, entered());
            });
        });
        const ExprPtr turns = slots.chunks() + 6;
        at.b.EmitFor("i", integer(0), turns, [&](LoweringBuilder& loop, const ExprPtr& turn) {
            const auto step = [&](LoweringBuilder& b, std::int64_t behind, auto method) {
                const ExprPtr i = turn - behind;
                b.EmitIf(And(AtLeast(i, integer(0)), Less(i, slots.chunks())),
                         [&](LoweringBuilder& inner) { (this->*method)(at.in(inner), i); });
            };
            loop.EmitIf(
                at_root_host,
                [&](LoweringBuilder& b) {
                    b.EmitIf(Eq(rank(), at.root),
                             [&](LoweringBuilder& inner) { step(inner, 0, &Broadcast::stage); });
                    step(b, 1, &Broadcast::send);
                },
                [&](LoweringBuilder& b) {
                    step(b, 2, &Broadcast::forward);
                    step(b, 3, &Broadcast::relay);
                    step(b, 4, &Broadcast::collect);
                    step(b, 5, &Broadcast::release);
                });
        });
        at.b.EmitIf(Eq(rank(), at.root), [&](LoweringBuilder& b) {
            layout.wait_near(at.in(b), read(slots.chunks() - 1));
        });
        at.advance(turns * 2 + 2);
    }

private:
    // ---- phases, of chunk i

    static ExprPtr entered() { return integer(1); }
    static ExprPtr staged(const ExprPtr& i) { return i * 2 + 2; }
    static ExprPtr read(const ExprPtr& i) { return (i + 1) * 2 + 3; }
    static ExprPtr sent(const ExprPtr& i) { return (i + 1) * 2 + 2; }
    static ExprPtr forwarded(const ExprPtr& i) { return (i + 2) * 2 + 2; }
    static ExprPtr relayed(const ExprPtr& i) { return (i + 3) * 2 + 2; }
    static ExprPtr collected(const ExprPtr& i) { return (i + 4) * 2 + 3; }
    static ExprPtr released(const ExprPtr& i) { return (i + 5) * 2 + 3; }

    // ---- places

    ExprPtr size_of_parts() const {
        const ExprPtr ranks = Max(layout.others_before(at, root_host, nranks()), integer(1));
        return ceil_div(ceil_div(slots.size(), ranks), integer(at.line())) * at.line();
    }
    // Rank r's part of chunk i, counted from the chunk's beginning.
    Part part_of(const Site& here, const ExprPtr& i, const ExprPtr& r) const {
        const ExprPtr all = slots.chunk(i).count;
        const ExprPtr k = layout.others_before(here, root_host, r);
        const ExprPtr begin = here.b.Bind("begin", Min(k * part_size, all));
        return {begin, Min(part_size, all - begin)};
    }
    Part in_slot(const Site& here, const ExprPtr& i, const ExprPtr& r) const {
        return shifted(part_of(here, i, r), slots.place(i));
    }
    Part in_vector(const Site& here, const ExprPtr& i, const ExprPtr& r) const {
        return shifted(part_of(here, i, r), slots.chunk(i).offset);
    }

    // ---- steps of the root's host

    void stage(const Site& here, const ExprPtr& i) const {
        here.b.EmitIf(AtLeast(i, integer(kBroadcastSlots)), [&](LoweringBuilder& b) {
            layout.wait_near(here.in(b), read(i - kBroadcastSlots));
        });
        here.b.EmitIf(Less(integer(1), layout.ranks_here()), [&](LoweringBuilder& b) {
            here.in(b).stage(slots.chunk(i), slots.place(i));
        });
        layout.notify_near(here, staged(i));
        here.keep(slots.chunk(i), slots.chunk(i).offset);
    }

    void send(const Site& here, const ExprPtr& i) const {
        here.b.EmitIf(NotEq(rank(), at.root), [&](LoweringBuilder& b) {
            const Site inner = here.in(b);
            const Part chunk = slots.chunk(i);
            inner.wait(at.root, staged(i));
            inner.give(inner.load({slots.place(i), chunk.count}, at.root), chunk.offset);
            layout.for_each_principal(inner, [&](const Site& site, const ExprPtr& r) {
                const Part part = in_slot(site, i, r);
                site.b.Store(site.load(part, at.root), site.target, part.offset);
            });
            inner.notify(at.root, read(i));
        });
        layout.for_each_principal(here, [&](const Site& inner, const ExprPtr& r) {
            const Part part = in_slot(inner, i, r);
            inner.if_root(
                [&](const Site& site) {
                    put(site, i, r, at.input, in_vector(site, i, r).offset, part);
                },
                [&](const Site& site) { put(site, i, r, at.target, part.offset, part); });
        });
        fence(here);
        layout.for_each_principal(
            here, [&](const Site& inner, const ExprPtr& r) { inner.notify(r, sent(i)); });
    }

    // ---- steps of other hosts

    void forward(const Site& here, const ExprPtr& i) const {
        for_each_deputy(here, true, [&](const Site& inner, const ExprPtr& sender) {
            inner.wait(sender, sent(i));
        });
        for_each_deputy(here, false, [&](const Site& inner, const ExprPtr& deputy) {
            const Part part = in_slot(inner, i, rank());
            put(inner, i, deputy, here.target, part.offset, part);
        });
        fence(here);
        for_each_deputy(here, false, [&](const Site& inner, const ExprPtr& deputy) {
            inner.notify(deputy, forwarded(i));
        });
    }

    void relay(const Site& here, const ExprPtr& i) const {
        for_each_principal(
            here, [&](const Site& inner, const ExprPtr& r) { inner.wait(r, forwarded(i)); });
        layout.notify_near(here, relayed(i));
        layout.for_each_held(
            here, [&](const Site& inner, const ExprPtr& r) { take(inner, i, r, rank()); });
    }

    void collect(const Site& here, const ExprPtr& i) const {
        layout.wait_near(here, relayed(i));
        layout.for_each_not_held(here, [&](const Site& inner, const ExprPtr& r,
                                           const ExprPtr& holder) { take(inner, i, r, holder); });
        layout.notify_near(here, collected(i));
    }

    void release(const Site& here, const ExprPtr& i) const {
        layout.wait_near(here, collected(i));
        here.b.EmitIf(Less(i + kBroadcastSlots, slots.chunks()), [&](LoweringBuilder& b) {
            for_each_writer(here.in(b), [&](const Site& inner, const ExprPtr& writer) {
                inner.notify(writer, released(i));
            });
        });
    }

    // ---- phrases

    // Rank r's part of chunk i, from who holds it on this host.
    void take(const Site& here, const ExprPtr& i, const ExprPtr& r, const ExprPtr& holder) const {
        here.b.EmitIf(NotEq(layout.host_of(r), root_host), [&](LoweringBuilder& b) {
            const Site inner = here.in(b);
            inner.give(inner.load(in_slot(inner, i, r), holder), in_vector(inner, i, r).offset);
        });
    }
    // To a far rank, once it has come, or has released what was there before.
    void put(const Site& here, const ExprPtr& i, const ExprPtr& peer, const ExprPtr& memory,
             const ExprPtr& offset, const Part& to) const {
        here.b.EmitIf(Eq(i, integer(0)),
                      [&](LoweringBuilder& b) { here.in(b).wait(peer, entered()); });
        here.b.EmitIf(AtLeast(i, integer(kBroadcastSlots)), [&](LoweringBuilder& b) {
            here.in(b).wait(peer, released(i - kBroadcastSlots));
        });
        here.b.PutLater(here.target, peer, to.offset, memory, offset, to.count);
    }
    void fence(const Site& here) const {
        here.b.EmitIf(Less(integer(1), layout.hosts()), [](LoweringBuilder& b) { b.Fence(); });
    }
    // This rank's deputy on the root's host, or those on others.
    void for_each_deputy(const Site& here, bool at_root, const Site::PeerBody& body) const {
        layout.for_each_deputy(here, [&](const Site& site, const ExprPtr& deputy) {
            const ExprPtr there = layout.host_of(deputy);
            site.b.EmitIf(at_root ? Eq(there, root_host) : NotEq(there, root_host),
                          [&](LoweringBuilder& b) { body(site.in(b), deputy); });
        });
    }
    // Those on other hosts than the root's.
    void for_each_principal(const Site& here, const Site::PeerBody& body) const {
        layout.for_each_principal(here, [&](const Site& site, const ExprPtr& r) {
            site.b.EmitIf(NotEq(layout.host_of(r), root_host),
                          [&](LoweringBuilder& b) { body(site.in(b), r); });
        });
    }
    // Who puts parts into this rank's target.
    void for_each_writer(const Site& here, const Site::PeerBody& body) const {
        for_each_deputy(here, true, body);
        for_each_principal(here, body);
    }

    const Site& at;
    Layout layout;
    ExprPtr root_host;
    Slots slots;
    ExprPtr part_size;
    ExprPtr at_root_host;
};

void lower_broadcast(const Site& at) { Broadcast(at).run(); }

ExprPtr slots_for_chunks(const Site&) { return Slots::least(integer(1), kBroadcastSlots); }

}  // namespace

Entry broadcast() {
    return {{"hosts", "4, of these 2 between hosts",
             "2 N + 2(H-2) N/(P-L); root's host (2 + 4/L) N; root (4 + 2/L) N", "any",
             "2H+2L-5 for one chunk; root's host H; root H+L-2", "-", Reuse::at_once},
            lower_broadcast,
            slots_for_chunks,
            TargetUse::stages_in_ring,
            cell_per_rank,
            "(H-2) N/(H-1); root's host N"};
}

}  // namespace peal::collectives::hosts
