// SPDX-License-Identifier: Apache-2.0
// The exploration: all interleavings of signal ops, breadth first, each state once. docs/proof.md
// says why it is enough to interleave signal ops and which of them can be taken at once.
#pragma once

#include <optional>

#include "check/finding.hpp"
#include "check/linear.hpp"
#include "check/meter.hpp"
#include "check/model.hpp"

namespace peal::checker {

// The violation that takes the fewest choices, if there is one.
std::optional<Shown> explore(const Model& model, const CheckOptions& options, Meter& meter);

}  // namespace peal::checker
