// SPDX-License-Identifier: Apache-2.0
// Ranks that a program makes of itself: as child processes, or as threads.
#pragma once

#include <functional>
#include <memory>

#include "shm/world.hpp"

namespace peal::shm {

// What a rank does. It has entered the world before and leaves it when the body returns.
using RankBody = std::function<void(std::shared_ptr<World>, int rank)>;

// Runs the body in n child processes and returns the worst exit status. An exception ends its rank
// with status 2 if it is an Error(usage, program, resource), otherwise 1. The first is printed.
// `started` is called in between, when all of them run.
int fork_ranks(int nranks, const RankBody& body, const std::function<void()>& started = {});

// Runs the body in n threads. Rethrows the exception of the rank that failed first.
void run_threads(int nranks, const RankBody& body);

}  // namespace peal::shm
