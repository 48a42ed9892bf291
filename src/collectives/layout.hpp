// SPDX-License-Identifier: Apache-2.0
// Which host each rank is on, and who does what where there are several.
//
// Each host has one *holder* for every rank r: on r's own host r itself, and on each other host one
// of its ranks, r's *deputy* there. Deputies are taken in turn, so that the ranks of a host have
// equal shares of what comes from and goes to other hosts, however many ranks the others have. A
// rank is the deputy of its *principals*.
//
// All of it follows from one table, the host of each rank, counted from 0 without gaps.
#pragma once

#include "collectives/site.hpp"

namespace peal::collectives {

class Layout {
public:
    explicit Layout(const Site& at);

    // How many hosts there are, and which one this rank is on.
    const ExprPtr& hosts() const { return hosts_; }
    const ExprPtr& own() const { return own_; }
    const ExprPtr& ranks_here() const { return size_; }
    ExprPtr host_of(const ExprPtr& r) const;
    // Ranks below r that are not on `host`.
    ExprPtr others_before(const Site& at, const ExprPtr& host, const ExprPtr& r) const;
    static ExprPtr hosts_of(const Site& at);  // how many, from sizes alone

    // The other ranks of this host; all ranks of other hosts.
    void for_each_near(const Site& at, const Site::PeerBody& body) const;
    void for_each_far(const Site& at, const Site::PeerBody& body) const;
    // This rank's deputies, one on each other host; the ranks whose deputy it is.
    void for_each_deputy(const Site& at, const Site::PeerBody& body) const;
    void for_each_principal(const Site& at, const Site::PeerBody& body) const;
    // The ranks whose holder on this host is this rank; and the others, with their holders.
    using HolderBody =
        std::function<void(const Site& here, const ExprPtr& r, const ExprPtr& holder)>;
    void for_each_held(const Site& at, const Site::PeerBody& body) const;
    void for_each_not_held(const Site& at, const HolderBody& body) const;

    void notify_near(const Site& at, const ExprPtr& phase) const;
    void wait_near(const Site& at, const ExprPtr& phase) const;

    // The terms of this host's ranks, in rank order; one term of each host, in their order.
    ExprPtr combine_near(const Site& at, const Site::PeerTile& term) const;
    ExprPtr combine_hosts(const Site& at, const Site::PeerTile& term) const;

    // The first rank of a host: what it tells and hears, it does for all of them.
    ExprPtr leader_of(const Site& at, const ExprPtr& host) const;
    void for_each_leader(const Site& at, const Site::PeerBody& body) const;  // of other hosts

private:
    ExprPtr place_of(const Site& at, const ExprPtr& r) const;
    ExprPtr next_here(const Site& at, const ExprPtr& r) const;
    void for_each_rank(const Site& at, const HolderBody& body) const;

    ExprPtr table_, hosts_, own_, size_, first_;
};

}  // namespace peal::collectives
