// SPDX-License-Identifier: Apache-2.0
// Deadlines that are not in the past by mistake: what is later than the clock can say is never.
#pragma once

#include <chrono>

namespace peal::shm {

// `from` and `wait` later, but not before `from` nor after the end of the clock's time. The
// standard's sum overflows, and so does its comparison of long durations with the clock's.
template <class Rep, class Period>
std::chrono::steady_clock::time_point after(std::chrono::steady_clock::time_point from,
                                            std::chrono::duration<Rep, Period> wait) {
    using Wait = std::chrono::duration<Rep, Period>;
    constexpr auto kNever = std::chrono::steady_clock::time_point::max();
    if (wait <= Wait::zero()) return from;
    return wait < std::chrono::duration_cast<Wait>(kNever - from) ? from + wait : kNever;
}

template <class Rep, class Period>
std::chrono::steady_clock::time_point from_now(std::chrono::duration<Rep, Period> wait) {
    return after(std::chrono::steady_clock::now(), wait);
}

}  // namespace peal::shm
