// SPDX-License-Identifier: Apache-2.0
// Ending long work of the own thread: checks, compilers, traces, runs, and waiting for other ranks.
//
//   const Watch watch([] { if (pressed) throw Interrupted(); });
//   const CheckReport report = check(stages);  // or what the function throws
#pragma once

#include <chrono>
#include <functional>

namespace peal {

// While it exists, the function is called about every ten milliseconds by work of this thread that
// takes long. What it throws ends the work, and nothing of that is left behind. Of several, the
// last one made counts.
class Watch {
public:
    explicit Watch(std::function<void()> look);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

    static constexpr std::chrono::milliseconds kInterval{10};

    // For the work itself: looks, if it is time.
    static void look_up();
    // Whether this thread has one: then no wait may last much longer than kInterval at a time.
    static bool is_set();

private:
    using Clock = std::chrono::steady_clock;

    std::function<void()> look_;
    int process_;  // those that are forked meanwhile have none
    Clock::time_point next_ = Clock::now() + kInterval;
    Watch* outer_ = nullptr;
};

}  // namespace peal
