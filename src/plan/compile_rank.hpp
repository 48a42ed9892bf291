// SPDX-License-Identifier: Apache-2.0
// Plans of built-in collectives, one rank at a time, quick enough to be made by the call that needs
// them.
#pragma once

#include "peal/collective.hpp"
#include "peal/plan.hpp"

namespace peal {

// What compile(collective, nranks) has at `rank`, but for the source: lines are 0.
//
// The first call for a kind, mode, element, operation and placement lowers the program and keeps it
// for the life of the process; after that a new count, root, table or rank costs only the plan
// itself. Safe to call from several threads.
Plan compile_rank(const Collective& collective, int rank, int nranks);

}  // namespace peal
