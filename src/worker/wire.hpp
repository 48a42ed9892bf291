// SPDX-License-Identifier: Apache-2.0
// A plan as bytes, for a device that was forked from this very program. (The JSON form is for
// everybody else; reading it takes a hundred times as long.)
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "peal/plan.hpp"

namespace peal::worker {

// Everything but the source.
std::vector<std::byte> to_bytes(Plan plan);
Plan plan_from_bytes(std::span<const std::byte> bytes);

}  // namespace peal::worker
