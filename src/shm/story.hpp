// SPDX-License-Identifier: Apache-2.0
// One story per job: of the errors that end ranks, the first is kept in shared memory, for whoever
// looks after the ranks to print. Later ones follow from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "shm/world.hpp"

namespace peal::shm {

// An error ends this rank. False: another rank was first. Before the alarm, or one who hears it may
// be first.
bool claim_story(World& world, int rank);
// The same, with the error.
void tell_story(World& world, int rank, std::string_view error);

struct Story {
    int rank = -1;
    std::string error;
};
std::optional<Story> story_of(const World& world);

// From now on an Error that nobody catches is the story of this rank, and not printed by the rank
// itself. Other exceptions end the process as ever.
void tell_uncaught_errors(std::shared_ptr<World> world, int rank);

}  // namespace peal::shm
