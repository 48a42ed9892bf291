// SPDX-License-Identifier: Apache-2.0
// Where the pieces of an all_to_all_v lie. counts[from, to] elements go from rank `from` to rank
// `to`; pieces are packed in rank order.
#pragma once

#include "collectives/site.hpp"

namespace peal::collectives::all_to_all_v {

// Elements that `from` sends to ranks below `to`: where the piece for `to` starts in its input.
ExprPtr sent_before(const Site& at, const ExprPtr& from, const ExprPtr& to);
// Elements that `to` gets from ranks below `from`: where the piece of `from` lands.
ExprPtr received_before(const Site& at, const ExprPtr& from, const ExprPtr& to);
// The most that any rank gets: the size of the target.
ExprPtr most_received(const Site& at);
// The largest piece of all.
ExprPtr most_sent(const Site& at);

}  // namespace peal::collectives::all_to_all_v
