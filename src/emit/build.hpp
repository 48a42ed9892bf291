// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "emit/facts.hpp"
#include "emit/steps.hpp"
#include "emit/trouble.hpp"
#include "peal/ir.hpp"

namespace peal::emitter {

// The steps of a lowered kernel. Work on tiles between notifies and waits goes through tile memory
// in chunks; a tile that lives longer, or whose parts depend on each other, must fit as a whole.
DeviceProgram build_steps(const ir::Kernel& kernel, const Facts& facts, const Trouble& trouble);

}  // namespace peal::emitter
