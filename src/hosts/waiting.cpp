// SPDX-License-Identifier: Apache-2.0
#include "hosts/waiting.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <limits>

namespace peal::hosts {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point deadline) {
    if (deadline == Clock::time_point::max()) return -1;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
    constexpr std::int64_t kMost = std::numeric_limits<int>::max();
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, kMost));
}

bool wait_for(int descriptor, short events, Clock::time_point deadline) {
    for (;;) {
        pollfd watched = {descriptor, events, 0};
        const int ready = poll(&watched, 1, milliseconds_until(deadline));
        if (ready > 0) return true;
        if (ready == 0) return false;
        if (errno != EINTR) return false;
    }
}

}  // namespace peal::hosts
