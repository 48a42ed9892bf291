// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/ir.hpp"

namespace peal::passes {

// Folds constant arithmetic and what follows from 0 and 1, drops requirements that hold, loops that
// never run and branches that are never taken. Arithmetic that would overflow or divide by zero is
// left for the specialiser to report.
ir::Program simplify(const ir::Program& program);

}  // namespace peal::passes
