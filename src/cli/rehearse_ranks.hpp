// SPDX-License-Identifier: Apache-2.0
// golden::rehearse (src/golden/rehearse.hpp), rank by rank.
#pragma once

#include <vector>

#include "cli/rank_work.hpp"
#include "peal/collective.hpp"
#include "peal/plan.hpp"

namespace peal::cli {

// Puts known inputs in before each call and compares what comes out. Refers to its arguments.
RankWork rehearsal_of(const std::vector<Plan>& plans, const Collective& collective, int calls);

}  // namespace peal::cli
