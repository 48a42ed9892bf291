// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/ir.hpp"

namespace peal::passes {

// Turns tensor.copy into tile.load and tile.store, and gives every memory parameter the direction
// that follows from the effects of the ops on it. Composite ops count with the effects of the whole
// collective, so target and signal of an allreduce are inout before it is lowered.
ir::Program convert_tensor_to_tile_ops(const ir::Program& program);

}  // namespace peal::passes
