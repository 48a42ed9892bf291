// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "collectives/site.hpp"
#include "peal/collective.hpp"

namespace peal::collectives {

// Emits what must hold of the operands' sizes for the collective to make sense; checked when a plan
// is made. `window` is how many elements the target must have at least to stage what is private,
// `cells` how many the signal must have.
void require_sizes(CollectiveKind kind, const Site& at, const ExprPtr& window,
                   const ExprPtr& cells);

}  // namespace peal::collectives
