// SPDX-License-Identifier: Apache-2.0
// What the verifier asks of the registry beyond peal/ops.hpp.
#pragma once

#include "peal/ir.hpp"

namespace peal::ir {

// Throws what make_call would throw for the op, operands and attributes of the call.
void require_well_formed(const Call& call);

}  // namespace peal::ir
