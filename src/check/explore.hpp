// SPDX-License-Identifier: Apache-2.0
// The exploration: all interleavings of signal ops, breadth first, each state once. docs/proof.md
// says why it is enough to interleave signal ops and which of them can be taken at once.
#pragma once

#include <optional>
#include <string>

#include "check/finding.hpp"
#include "check/linear.hpp"
#include "check/meter.hpp"
#include "check/model.hpp"

namespace peal::checker {

struct ExploreResult {
    std::optional<Shown> violation;
    std::string bound;  // the limit that was reached; empty: everything was explored
    std::uint64_t states = 0;
    std::uint64_t memory_bytes = 0;
};

ExploreResult explore(const Model& model, const CheckOptions& options, Meter& meter);

}  // namespace peal::checker
