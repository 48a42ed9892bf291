// SPDX-License-Identifier: Apache-2.0
// What the environment says about communicators.
#pragma once

#include <chrono>

#include "shm/timeout.hpp"

namespace peal::comm {

using shm::deadline_after;
using shm::kTimeoutVariable;
using shm::timeout_from;

inline constexpr const char* kLogVariable = "PEAL_LOG";

// PEAL_TIMEOUT; zero, which is for ever, if it is not set. Throws Error(usage).
std::chrono::milliseconds default_timeout();

// Whether PEAL_LOG=calls. Throws Error(usage) if it is something else.
bool logs_calls();

}  // namespace peal::comm
