// SPDX-License-Identifier: Apache-2.0
// How groups come to be: the first one of a world, and parts of a group.
#pragma once

#include <memory>

#include "comm/group.hpp"
#include "shm/world.hpp"

namespace peal::comm {

using namespace shm;  // NOLINT: a communicator lives in shared memory

// The group of all ranks. Rank 0 decides on the table that chooses recipes; the others wait for it.
std::unique_ptr<Group> bootstrap(std::shared_ptr<World> world, int rank);

// The part of `group` whose members gave the same colour, ordered by key, then by rank.
std::unique_ptr<Group> split(Group& group, int colour, int key);

}  // namespace peal::comm
