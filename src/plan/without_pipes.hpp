// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/plan.hpp"

namespace peal {

// Pipes run beside each other: the order of the list is not the order of the work, and flags hold
// it together.
bool uses_pipes(const Plan& plan);

// The plan as a core runs it that carries out one instruction after another: without flags and
// barriers, everything on no pipe. Instructions keep their lines. fuse() then sees through tiles.
Plan without_pipes(const Plan& plan);

}  // namespace peal
