// SPDX-License-Identifier: Apache-2.0
// Where the parts of a diagram are drawn, and less of it where there is no room for all.
#pragma once

#include <cstddef>
#include <vector>

#include "draw/diagram.hpp"
#include "draw/memory.hpp"

namespace peal::draw {

// Sets the rows, each event as high up as it can be; `accesses` is by event. An event comes below
// those of its rail and those it conflicts with in memory, so the picture shows a run that nobody
// can tell from the schedule. What the caller does comes between that of all lanes of its rank. An
// arrow has its stretch of the notify's row for itself. What clashes comes last, side by side.
void place_rows(Diagram& diagram, const std::vector<std::vector<Access>>& accesses);

// For each arrow its channel on the side of the rail that waits, 0 being nearest to the rail. Two
// arrows never share a stretch of a channel. The shortest run nearest, longer ones around them.
std::vector<std::size_t> arrow_channels(const Diagram& diagram);

// Only the rails in which something clashes; the others are in Diagram::hidden. A wait that one of
// those released says so: "wait sig[5] >= 1 (rank 5)".
Diagram focus_on_clash(const Diagram& diagram);

// Rows that have become empty close up.
void close_rows(Diagram& diagram);

}  // namespace peal::draw
