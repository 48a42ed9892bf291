// SPDX-License-Identifier: Apache-2.0
#include "comm/settings.hpp"

#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "shm/timeout.hpp"

namespace peal::comm {

std::chrono::milliseconds default_timeout() {
    return shm::timeout_or(std::chrono::milliseconds(0));
}

bool logs_calls() {
    const char* const text = std::getenv(kLogVariable);
    if (text == nullptr) return false;
    if (std::string_view(text) == "calls") return true;
    throw Error(Fault::usage, fmt::format("{}='{}': expected calls", kLogVariable, text));
}

}  // namespace peal::comm
