// SPDX-License-Identifier: Apache-2.0
// A process's place among the ranks, as its parent gave it: the world's memory as an inherited
// descriptor, and three environment variables that say which descriptor and which rank.
#pragma once

#include <memory>

#include "shm/launcher.hpp"
#include "shm/world.hpp"

namespace peal::shm {

inline constexpr const char* kWorldVariable = "PEAL_WORLD";    // number of the descriptor
inline constexpr const char* kRankVariable = "PEAL_RANK";      // 0..nranks-1
inline constexpr const char* kNranksVariable = "PEAL_NRANKS";  // as in the world
// The descriptor of a lifeline; need not be there.
inline constexpr const char* kLauncherVariable = "PEAL_LAUNCHER";

struct Membership {
    std::shared_ptr<World> world;
    int rank = 0;
};

// Takes this process's place and enters the world. A place is taken once: the variables are cleared
// and the descriptor is closed on exec, so that programs that this one starts do not come as the
// same rank. Throws Error(usage) if there is no place, it is not a proper one, or it is taken.
// Where there is a lifeline there is a launcher, to which this process leaves the keyboard
// (launcher.hpp) and its last error (story.hpp).
Membership join_world();

// For a child process before exec: leaves it the place that join_world() will find. Whoever takes
// the place dies when the lifeline ends, if there is one.
void invite(const World& world, int rank, const Lifeline* lifeline = nullptr);

}  // namespace peal::shm
