// SPDX-License-Identifier: Apache-2.0
// Recipes that know hosts. Ranks of one host read each other's targets; between hosts a rank puts
// into a far rank's target what it has of its own, and reads nothing there. A far put is complete
// later: a fence comes between it and the notify that tells of it.
#pragma once

#include <vector>

#include "collectives/catalogue.hpp"

namespace peal::collectives::hosts {

// Those of a collective, if it has any.
std::vector<Entry> recipes(CollectiveKind kind);

// One for each file of them.
Entry allreduce();
Entry reduce_scatter();
Entry allgather();
Entry exchange(CollectiveKind kind);  // all_to_all and all_to_all_v
Entry broadcast();
Entry allreduce_leaders();
Entry broadcast_leaders();
Entry barrier();

}  // namespace peal::collectives::hosts
