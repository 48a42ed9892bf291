// SPDX-License-Identifier: Apache-2.0
// The rows of the collectives, and what the verifier asks of the registry beyond peal/ops.hpp.
#pragma once

#include <vector>

#include "peal/ir.hpp"
#include "peal/ops.hpp"

namespace peal::ir {

// Throws what make_call would throw for the op, operands and attributes of the call.
void require_well_formed(const Call& call);

std::vector<OpSpec> composite_ops();

}  // namespace peal::ir
