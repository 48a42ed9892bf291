// SPDX-License-Identifier: Apache-2.0
// In which row each event of a diagram is drawn.
#pragma once

#include <vector>

#include "draw/diagram.hpp"
#include "draw/memory.hpp"

namespace peal::draw {

// Sets the rows, each event as high up as it can be; `accesses` is by event. An event comes below
// those of its lane and those it conflicts with in memory, so the picture shows a run that nobody
// can tell from the schedule. An arrow has its stretch of the notify's row for itself. What clashes
// comes last, side by side.
void place_rows(Diagram& diagram, const std::vector<std::vector<Access>>& accesses);

}  // namespace peal::draw
