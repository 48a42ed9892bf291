// SPDX-License-Identifier: Apache-2.0
// A large diagram with only the steps that matter.
#pragma once

#include "draw/diagram.hpp"

namespace peal::draw {

// Kept are what clashes, what touches the same memory, and the signals between the ranks that
// clash. Other ranks become a line each, "rank 2 meanwhile: 14 steps", and other steps of a rank
// one event, "14 steps". A diagram of few events stays as it is.
Diagram folded(const Diagram& diagram);

}  // namespace peal::draw
