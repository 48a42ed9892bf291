// SPDX-License-Identifier: Apache-2.0
// One measurement on one rank. All ranks of the contender measure the same order together.
//
//   meet; t0; k calls back to back; t1
//
// Warm: the same buffers again and again, k such that a batch takes about a millisecond; its time
// is (t1 - t0) / k of the slowest rank. Cold: every rank rewrites its input before it comes to the
// meeting, so k is 1 and the writing is not timed; its time is from the first rank's t0 to the last
// rank's t1. For a single call the ranks' own times will not do: who gets a core late starts its
// clock when the others' data is already there.
#pragma once

#include "contender.hpp"
#include "order.hpp"

namespace peal::bench {

// A wrong result is trouble, as is an exception of the library.
Answer measure(Contender& contender, Meeting& meeting, const Order& order);

}  // namespace peal::bench
