// SPDX-License-Identifier: Apache-2.0
// The passes, each a function from program to program, and their order.
#pragma once

#include <string_view>
#include <vector>

#include "peal/ir.hpp"

namespace peal::passes {

struct Pass {
    std::string_view name;
    ir::Program (*run)(const ir::Program& program);
    bool changes_plans;  // false: the plans of the program are the same without it
};

// What lower() does, in order.
const std::vector<Pass>& pipeline();

// The program after one pass, which the verifier has looked at.
ir::Program apply(const Pass& pass, const ir::Program& program);

// As lower(), of one of our own programs and for its plans alone: what changes no plan is left out,
// and the verifier does not look. Every one of them goes through lower() as well, when plans of all
// ranks are made.
ir::Program lower_unverified(const ir::Program& program);

// Replaces each call of a kernel by that kernel's body, with arguments for parameters, the caller's
// shapes for its symbols, and fresh names. Throws ProgramError when a symbol has no value.
ir::Program inline_calls(const ir::Program& program);

// Turns tensor.copy into tile.load and tile.store, and gives every memory parameter the direction
// that follows from the effects of the ops on it. Composite ops count with the effects of the whole
// collective, so target and signal of an allreduce are inout before it is lowered.
ir::Program convert_tensor_to_tile_ops(const ir::Program& program);

// Expands each composite op into notify, wait, load, combine and store, by its recipe
// in src/collectives/. A program without composite ops is unchanged.
ir::Program lower_composite_ops(const ir::Program& program);

// Folds constant arithmetic and what follows from 0 and 1, drops requirements that hold, loops that
// never run and branches that are never taken. Arithmetic that would overflow or divide by zero is
// left for the specialiser to report.
ir::Program simplify(const ir::Program& program);

}  // namespace peal::passes
