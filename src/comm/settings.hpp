// SPDX-License-Identifier: Apache-2.0
// What the environment says about communicators.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "shm/backoff.hpp"

namespace peal::comm {

inline constexpr const char* kTimeoutVariable = "PEAL_TIMEOUT";
inline constexpr const char* kLogVariable = "PEAL_LOG";

// "500ms", "30s", "5m", "0"; nothing if it is none of these.
std::optional<std::chrono::milliseconds> timeout_from(std::string_view text);

// PEAL_TIMEOUT; zero, which is for ever, if it is not set. Throws Error(usage).
std::chrono::milliseconds default_timeout();
// When a wait that began then is over.
shm::Clock::time_point deadline_after(shm::Clock::time_point begin,
                                      std::chrono::milliseconds timeout);

// Whether PEAL_LOG=calls. Throws Error(usage) if it is something else.
bool logs_calls();

}  // namespace peal::comm
