// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/access.hpp"

namespace peal {

// Work on tiles moves down to where its result is used, and joins the user:
//
//   copy t <- x; reduce sum u <- t, y       becomes   reduce sum u <- x, y
//   reduce sum t <- x, y; reduce sum u <- t, z   becomes   reduce sum u <- x, y, z
//   reduce sum t <- x, y; copy out <- t     becomes   reduce sum out <- x, y
//
// So reads move later. They do not pass a write of the same bytes; reads of memory that is
// shared do not pass a notify or a wait either, because somebody may write there afterwards. Work
// that can go no further stays in its tile at that point. Writes do not move.
//
// The plan has one lane, or is one of several, no dead tiles and no pipes.
void sink(Plan& plan, Sharing sharing);

}  // namespace peal
