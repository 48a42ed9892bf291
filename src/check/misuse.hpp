// SPDX-License-Identifier: Apache-2.0
// How the checker refuses what it is given.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::checker {

template <class... Args>
[[noreturn]] void misuse(fmt::format_string<Args...> format, Args&&... args) {
    throw Error(Fault::usage, "check: " + fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace peal::checker
