// SPDX-License-Identifier: Apache-2.0
// Decides, on rank 0, how many calls each batch has and when a measurement is over.
#pragma once

#include <chrono>
#include <cstdint>

namespace peal::bench {

struct Batch {
    std::uint32_t calls = 0;  // 0: the measurement is over
    bool timed = false;
};

class Pacer {
public:
    Pacer(bool single_calls, double seconds) : single_calls_(single_calls), seconds_(seconds) {}

    // What follows a batch that took this long; 0 at the start. The first batch is one call: it
    // pays for everything that is done once. Then batches grow to about a millisecond; then they
    // are timed.
    Batch next(double last_seconds);

private:
    using Clock = std::chrono::steady_clock;

    bool enough() const;
    Batch calibrate(double last_seconds);

    bool single_calls_;  // one call in each batch
    double seconds_;
    Batch last_;
    int calibrations_ = 0;
    double quickest_call_ = 0;
    int timed_batches_ = 0;
    Clock::time_point timed_since_;
};

}  // namespace peal::bench
