// SPDX-License-Identifier: Apache-2.0
// How long a run takes at best, counted in steps.
#pragma once

#include <cstdint>

#include "check/model.hpp"

namespace peal::checker {

// The steps of the longest chain in a run in which everybody goes on as soon as it can: an
// instruction is one step, whatever it does, and so is what a caller does. 0: somebody waits for
// ever.
std::uint64_t critical_path(const Model& model);

}  // namespace peal::checker
