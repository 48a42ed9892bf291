// SPDX-License-Identifier: Apache-2.0
// What the environment says about communicators.
#pragma once

#include <chrono>

namespace peal::comm {

inline constexpr const char* kLogVariable = "PEAL_LOG";

// PEAL_TIMEOUT; zero, which is for ever, if it is not set. Throws Error(usage).
std::chrono::milliseconds default_timeout();

// Whether PEAL_LOG=calls. Throws Error(usage) if it is something else.
bool logs_calls();

}  // namespace peal::comm
