// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/ir.hpp"
#include "pto/emit_facts.hpp"
#include "pto/emit_steps.hpp"
#include "pto/emit_trouble.hpp"

namespace peal::pto::emitter {

// The steps of a lowered kernel. Work on tiles between notifies and waits goes through tile memory
// in chunks; a tile that lives longer, or whose parts depend on each other, must fit as a whole.
DeviceProgram build_steps(const ir::Kernel& kernel, const Facts& facts, const Trouble& trouble);

}  // namespace peal::pto::emitter
