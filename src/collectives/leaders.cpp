// SPDX-License-Identifier: Apache-2.0
// Little data between hosts: the first rank of each host, its leader, speaks for it, with one
// message to each other leader. The target is an inbox, with a box for each sender; a leader keeps
// what it puts to others in its own box meanwhile. Each rank tells another one thing in a call.
#include "collectives/hosts.hpp"
#include "collectives/inbox.hpp"
#include "collectives/layout.hpp"

namespace peal::collectives::hosts {

using namespace ir;  // NOLINT: recipes read like the IR they make

namespace {

class Leaders {
public:
    explicit Leaders(const Site& site)
        : at(site),
          layout(site),
          inbox(site, site.count),
          leader(site.b.Bind("leader", layout.leader_of(site, layout.own()))) {}

    // The ranks of a host put their vectors to the leader, who combines them in rank order; leaders
    // put what they have to each other, combine that in the order of hosts, and put it to the
    // others of their host.
    void reduce() const {
        at.b.EmitIf(
            Eq(rank(), leader), [&](LoweringBuilder& b) { lead(at.in(b)); },
            [&](LoweringBuilder& b) {
                const Site here = at.in(b);
                inbox.put(here, leader, here.take(at.whole()));
                receive(here, leader);
            });
        at.advance(integer(1));
    }

    // The root puts its vector to the leaders of other hosts, and to the ranks of its own.
    void broadcast() const {
        const ExprPtr root_host = layout.host_of(at.root);
        at.b.EmitIf(
            Eq(layout.own(), root_host),
            [&](LoweringBuilder& b) {
                at.in(b).if_root([&](const Site& here) { send(here); },
                                 [&](const Site& here) { receive(here, at.root); });
            },
            [&](LoweringBuilder& b) {
                b.EmitIf(
                    Eq(rank(), leader),
                    [&](LoweringBuilder& inner) {
                        const Site here = at.in(inner);
                        here.wait(at.root, integer(1));
                        put_near(here, [&](const Site& site) {
                            return inbox.get(site, at.root, at.count);
                        });
                        here.give(inbox.get(here, at.root, at.count), integer(0));
                    },
                    [&](LoweringBuilder& inner) { receive(at.in(inner), leader); });
            });
        at.advance(integer(1));
    }

private:
    void lead(const Site& here) const {
        layout.wait_near(here, integer(1));
        const ExprPtr sum = layout.combine_near(here, [&](const Site& site, const ExprPtr& peer) {
            return site.b.EmitIfExpr(
                NotEq(peer, rank()),
                [&](LoweringBuilder& b) { return inbox.get(site.in(b), peer, at.count); },
                [&](LoweringBuilder& b) { return site.in(b).take(at.whole()); });
        });
        here.b.Store(sum, here.target, own_box(here));
        put_far(here, here.target, own_box(here));
        layout.for_each_leader(
            here, [](const Site& site, const ExprPtr& peer) { site.wait(peer, integer(1)); });
        const ExprPtr total =
            layout.combine_hosts(here, [&](const Site& site, const ExprPtr& host) {
                const ExprPtr from = site.b.Bind("from", layout.leader_of(site, host));
                return inbox.get(site, from, at.count);
            });
        here.b.Store(total, here.target, own_box(here));
        const auto result = [&](const Site& site) { return inbox.get(site, rank(), at.count); };
        put_near(here, result);
        here.give(result(here), integer(0));
    }

    void send(const Site& here) const {
        put_far(here, here.input, integer(0));
        put_near(here, [&](const Site& site) { return site.take(at.whole()); });
        here.keep(at.whole(), integer(0));
    }

    void receive(const Site& here, const ExprPtr& from) const {
        here.wait(from, integer(1));
        here.give(inbox.get(here, from, at.count), integer(0));
    }

    ExprPtr own_box(const Site& here) const { return here.in_set(inbox.box_of(rank())); }

    // From own memory to the other leaders.
    void put_far(const Site& here, const ExprPtr& memory, const ExprPtr& offset) const {
        layout.for_each_leader(here, [&](const Site& site, const ExprPtr& peer) {
            site.b.PutLater(at.target, peer, own_box(site), memory, offset, at.count);
        });
        here.b.EmitIf(Less(integer(1), layout.hosts()), [](LoweringBuilder& b) { b.Fence(); });
        layout.for_each_leader(
            here, [](const Site& site, const ExprPtr& peer) { site.notify(peer, integer(1)); });
    }
    void put_near(const Site& here, const std::function<ExprPtr(const Site&)>& tile) const {
        layout.for_each_near(here, [&](const Site& site, const ExprPtr& peer) {
            inbox.put(site, peer, tile(site));
        });
    }

    const Site& at;
    Layout layout;
    Inbox inbox;
    ExprPtr leader;
};

}  // namespace

Entry allreduce_leaders() {
    return {
        {"leaders", "3, of these 1 between hosts", "4 N; leaders 3(H+L) N", "P N, in whole lines",
         "1; leaders H+L-2", "hosts in order, each in rank order", Reuse::later},
        [](const Site& at) { Leaders(at).reduce(); },
        collectives::inbox,
        TargetUse::stages_in_boxes,
        cell_per_rank,
        "(H-1) N"};
}

Entry broadcast_leaders() {
    return {{"leaders", "2, of these 1 between hosts", "2 N; leaders 2L N; root 2(H+L-1) N",
             "P N, in whole lines", "0; leaders L-1; root H+L-2", "-", Reuse::later},
            [](const Site& at) { Leaders(at).broadcast(); },
            collectives::inbox,
            TargetUse::stages_in_boxes,
            cell_per_rank,
            "0; root's host (H-1) N"};
}

}  // namespace peal::collectives::hosts
