// SPDX-License-Identifier: Apache-2.0
// A child process that is watched: it has a deadline, it leaves nothing behind, and what it has to
// say comes through a pipe.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace peal::pto {

struct ChildEnd {
    bool timed_out = false;
    int signal = 0;  // that ended it; 0: none
    int status = 0;  // of its exit
    std::string said;
};

using ChildClock = std::chrono::steady_clock;

// Runs `body` in a child. It says things by writing to the descriptor that it gets; what it prints
// goes to stderr. When it returns, the child ends with status 0. The deadline is asked for again
// and again: it may move while the child goes on.
ChildEnd run_in_child(const std::function<void(int)>& body,
                      const std::function<ChildClock::time_point()>& deadline);

// Writes all of it; for the child, also in a signal handler.
void say(int descriptor, const void* data, std::size_t bytes);

}  // namespace peal::pto
