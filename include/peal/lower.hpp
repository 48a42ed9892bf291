// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/ir.hpp"

namespace peal {

// The composite ops expanded, calls inlined, directions inferred; only primitive ops are left.
// Lowering a lowered program changes nothing. Throws ProgramError.
ir::Program lower(const ir::Program& program);

}  // namespace peal
