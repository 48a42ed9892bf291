// SPDX-License-Identifier: Apache-2.0
// How long a rank waits for others, as the environment says it.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace peal::shm {

inline constexpr const char* kTimeoutVariable = "PEAL_TIMEOUT";

// "500ms", "30s", "5m", "0"; nothing if it is none of these.
std::optional<std::chrono::milliseconds> timeout_from(std::string_view text);

// PEAL_TIMEOUT, or this if it is not set; zero is for ever. Throws Error(usage).
std::chrono::milliseconds timeout_or(std::chrono::milliseconds otherwise);

// When a wait that began then is over.
std::chrono::steady_clock::time_point deadline_after(std::chrono::steady_clock::time_point begin,
                                                     std::chrono::milliseconds timeout);

}  // namespace peal::shm
