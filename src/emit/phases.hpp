// SPDX-License-Identifier: Apache-2.0
// What emitting is made of, in the order in which it is done.
#pragma once

#include <string>

#include "emit/cpp.hpp"
#include "emit/facts.hpp"
#include "emit/frame.hpp"
#include "emit/steps.hpp"
#include "emit/trouble.hpp"
#include "peal/builder.hpp"
#include "peal/ir.hpp"
#include "peal/pto.hpp"

namespace peal::emit {

// The kernel as a person would write it: copies between memories go through tiles, quotients that
// cancel are gone, and expressions that are used again and again have names.
ir::Kernel tidy(const ir::Kernel& kernel);

// What a loop copies to one peer after another is loaded once for all of them.
ir::Block share_loads(const ir::Block& block, ir::NameCounter& names);

// The steps of a lowered kernel. Work on tiles between notifies and waits goes through tile memory
// in chunks; a tile that lives longer, or whose parts depend on each other, must fit as a whole.
DeviceProgram build_steps(const ir::Kernel& kernel, const Facts& facts, const Trouble& trouble);

// Gives tiles their place in tile memory, if somebody needs them. Values that are never needed at
// the same time become one tile; a tile that is new in each round of a loop takes turns between two
// places, so that one is filled while the other is in use; tiles that do not live at the same time
// share places.
void place_tiles(DeviceProgram& program, pto::Device device, const Trouble& trouble);

// Puts flags where one pipe depends on another and nowhere else, drains before notifies, and the
// flags by which tiles take turns.
void insert_flags(DeviceProgram& program, const Facts& facts, pto::Device device);

// The kernel as C++, for people to read.
std::string print_kernel(const DeviceProgram& program, const Frame& frame, const Facts& facts,
                         const Trouble& trouble);

}  // namespace peal::emit
