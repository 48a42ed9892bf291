// SPDX-License-Identifier: Apache-2.0
// Waiting for a descriptor, until a deadline.
#pragma once

#include <poll.h>

#include <chrono>

namespace peal::hosts {

// For poll(): -1 is for ever.
int milliseconds_until(std::chrono::steady_clock::time_point deadline);

// Whether one of these happened before the deadline.
bool wait_for(int descriptor, short events, std::chrono::steady_clock::time_point deadline);

}  // namespace peal::hosts
