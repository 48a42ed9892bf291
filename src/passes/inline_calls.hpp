// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/ir.hpp"

namespace peal::passes {

// Replaces each call of a kernel by that kernel's body, with arguments for parameters, the caller's
// shapes for its symbols, and fresh names. Throws ProgramError when a symbol has no value.
ir::Program inline_calls(const ir::Program& program);

}  // namespace peal::passes
