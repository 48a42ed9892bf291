// SPDX-License-Identifier: Apache-2.0
// The registry rows of the collectives.
#pragma once

#include <vector>

#include "peal/ops.hpp"

namespace peal::ir {

std::vector<OpSpec> composite_ops();

}  // namespace peal::ir
