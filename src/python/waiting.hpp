// SPDX-License-Identifier: Apache-2.0
// Waiting without the interpreter's lock, and what comes back from where it was not held.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "peal/watch.hpp"
#include "python/module.hpp"

namespace peal::python {

// An object that may be let go by a thread that does not hold the lock.
std::shared_ptr<py::object> anywhere(py::object object);

// An exception of Python's on its way through C++. It can be raised again and again.
class PythonFailure : public std::exception {
public:
    explicit PythonFailure(py::error_already_set& error);
    const char* what() const noexcept override { return text_.c_str(); }
    void raise() const;  // in the thread that holds the lock

private:
    std::shared_ptr<py::object> exception_;
    std::string text_;
};

// Ctrl-C has been pressed: throws what Python makes of it, a KeyboardInterrupt. For a thread that
// does not hold the lock.
void check_signals();

// Work that may take long: the lock is free meanwhile, and Ctrl-C ends it.
template <class Work>
auto unlocked(Work&& work) {
    const Watch watch(&check_signals);
    const py::gil_scoped_release release;
    return work();
}

// How often a wait looks whether somebody pressed Ctrl-C.
inline constexpr std::chrono::milliseconds kInterruptInterval{20};

// Seconds of Python's, as far as clocks go. Throws Error(usage) for what is no time to wait.
std::chrono::nanoseconds duration_of(double seconds, const char* what);

// Waits with `wait_for(limit)`, which says whether it was over in time, until it is or the time has
// passed. The lock is free meanwhile, and signals reach Python: KeyboardInterrupt ends the wait.
template <class WaitFor>
bool wait_for_python(WaitFor&& wait_for, std::optional<double> seconds) {
    using Clock = std::chrono::steady_clock;
    const auto limit = seconds ? duration_of(*seconds, "timeout") : std::chrono::nanoseconds::max();
    const Clock::time_point begin = Clock::now();
    while (true) {
        const std::chrono::nanoseconds left = limit - (Clock::now() - begin);
        const auto interval = std::min<std::chrono::nanoseconds>(kInterruptInterval, left);
        {
            const py::gil_scoped_release release;
            if (wait_for(std::max(interval, std::chrono::nanoseconds(0)))) return true;
        }
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (Clock::now() - begin >= limit) return false;
    }
}

}  // namespace peal::python
