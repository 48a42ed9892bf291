// SPDX-License-Identifier: Apache-2.0
// What an inquiry has found: one text for all ranks of a world.
#pragma once

#include <cstdint>
#include <string>

#include "shm/world.hpp"

namespace peal::shm {

// Whether a rank is here that has not answered yet.
bool is_awaited(const World& world, std::uint32_t inquiry);

// `who waits for whom:`, and a line or more for each rank.
std::string standings(const World& world, std::uint32_t inquiry);

}  // namespace peal::shm
