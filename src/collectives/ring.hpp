// SPDX-License-Identifier: Apache-2.0
// Going round the ring.
#pragma once

#include <functional>
#include <vector>

#include "collectives/site.hpp"

namespace peal::collectives {

// A direction of travel: data comes from one neighbour and goes on to the other.
struct Way {
    ExprPtr from, to;
    // The rank `steps` behind this one, from where data arrives after that many steps.
    std::function<ExprPtr(const ExprPtr& steps)> behind;
};
Way forward_way();   // from rank-1 to rank+1
Way backward_way();  // from rank+1 to rank-1

// P-1 steps s = 0, 1, ...: tell the next rank of each way that what it reads in this step is ready
// (phase first + s), wait for the same word from the rank before, then do the step.
void ring_steps(const Site& at, const std::vector<Way>& ways, const ExprPtr& first_phase,
                const std::function<void(const Site& here, const ExprPtr& s)>& step);

// Says at `phase` that this rank has read all it needs, and waits until its own readers say so.
// `between` is done meanwhile.
void ring_close(const Site& at, const std::vector<Way>& ways, const ExprPtr& phase,
                const std::function<void()>& between);

}  // namespace peal::collectives
