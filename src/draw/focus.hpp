// SPDX-License-Identifier: Apache-2.0
// Less of a diagram, for where there is no room for all of it.
#pragma once

#include "draw/diagram.hpp"

namespace peal::draw {

// Only the lanes in which something clashes; the others are in Diagram::hidden. A wait that one of
// those released says so: "wait sig[5] >= 1 (rank 5)".
Diagram focus_on_clash(const Diagram& diagram);

}  // namespace peal::draw
