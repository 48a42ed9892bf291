// SPDX-License-Identifier: Apache-2.0
// The target as P boxes, one per sender, for the recipe `push`: what is put into a box is followed
// by the one signal of the call. A box has whole cache lines, so that senders never share one, and
// a few bytes lie in a line that can hold the sender's signal too.
#pragma once

#include "collectives/site.hpp"

namespace peal::collectives {

class Inbox {
public:
    // Each box holds up to `most` elements.
    Inbox(const Site& at, const ExprPtr& most);

    // This rank's tile into its box at the peer, and the word that it is there.
    void put(const Site& here, const ExprPtr& peer, const ExprPtr& tile) const;
    // The first `count` elements of what `peer` has put here; it was waited for.
    ExprPtr get(const Site& here, const ExprPtr& peer, const ExprPtr& count) const;

    ExprPtr box_of(const ExprPtr& sender) const { return sender * stride_; }
    ExprPtr size() const;  // elements of all boxes

private:
    ExprPtr stride_;
};

}  // namespace peal::collectives
