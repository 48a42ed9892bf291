// SPDX-License-Identifier: Apache-2.0
// A child process that is watched: it has a deadline, it leaves nothing behind, and what it has to
// say comes through a pipe.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace peal::pto {

struct ChildEnd {
    bool timed_out = false;
    bool said_too_much = false;
    int signal = 0;  // that ended it; 0: none
    int status = 0;  // of its exit
    std::string said;
};

using ChildClock = std::chrono::steady_clock;

// Both are asked again and again: they may move while the child goes on.
struct ChildLimits {
    std::function<ChildClock::time_point()> deadline;
    // How many bytes it may say in all, after it has said this.
    std::function<std::size_t(std::string_view said)> most;
};

// Runs `body` in a child. It says things by writing to the descriptor that it gets; what it prints
// goes to stderr. When it returns, the child ends with status 0. A child that reaches a limit is
// ended. Whatever it started ends with it, in whatever session that is.
ChildEnd run_in_child(const std::function<void(int)>& body, const ChildLimits& limits);

// Writes all of it; for the child, also in a signal handler.
void say(int descriptor, const void* data, std::size_t bytes);

}  // namespace peal::pto
