// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/access.hpp"

namespace peal {

// Stores of whole tiles move up to the work that yields the tile, which then writes to memory
// itself:
//
//   reduce sum t <- x, y; notify ...; copy out <- t   becomes   reduce sum out <- x, y; notify ...
//
// So writes move earlier. They do not pass an access to the same bytes; writes to memory
// that is shared do not pass a notify or a wait either, because somebody may use those bytes until
// then. The tile must have no other use. The plan has one lane, or is one of several.
void hoist(Plan& plan, Sharing sharing);

}  // namespace peal
