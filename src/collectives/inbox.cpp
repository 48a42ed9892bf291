// SPDX-License-Identifier: Apache-2.0
#include "collectives/inbox.hpp"

namespace peal::collectives {

using namespace ir;  // NOLINT: reads like the IR it makes

Inbox::Inbox(const Site& at, const ExprPtr& most)
    : stride_(ceil_div(most, integer(at.line())) * at.line()) {}

void Inbox::put(const Site& here, const ExprPtr& peer, const ExprPtr& tile) const {
    here.b.RemoteStore(tile, here.target, peer, here.in_set(box_of(rank())));
    here.notify(peer, integer(1));
}

ExprPtr Inbox::get(const Site& here, const ExprPtr& peer, const ExprPtr& count) const {
    return here.load_own({box_of(peer), count});
}

ExprPtr Inbox::size() const { return nranks() * stride_; }

}  // namespace peal::collectives
