// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/plan.hpp"

namespace peal {

// Without the work whose result nobody reads: writes of tile blocks that are never read, and what
// only they needed; and without work on no bytes.
void drop_dead_tiles(std::vector<Instruction>& instructions);

}  // namespace peal
