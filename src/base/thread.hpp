// SPDX-License-Identifier: Apache-2.0
// Threads, which the system may refuse like memory.
#pragma once

#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "peal/error.hpp"

namespace peal::base {

// A thread that runs `body`. Throws Error(resource): "cannot start <what>: <why>".
template <class Body>
std::thread start_thread(const std::string& what, Body&& body) {
    try {
        return std::thread(std::forward<Body>(body));
    } catch (const std::system_error& error) {
        throw Error(Fault::resource, fmt::format("cannot start {}: {}; end other programs or "
                                                 "raise `ulimit -u`",
                                                 what, error.what()));
    }
}

}  // namespace peal::base
