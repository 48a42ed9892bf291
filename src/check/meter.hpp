// SPDX-License-Identifier: Apache-2.0
// Watches the clock: reports progress and says when the time is up.
#pragma once

#include <chrono>

#include "peal/check.hpp"

namespace peal::checker {

class Meter {
public:
    explicit Meter(const CheckOptions& options) : options_(options) {}

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    // To be called every now and then. False: the time is up.
    bool report(std::uint64_t states, std::uint64_t frontier, std::uint64_t memory_bytes) {
        const double now = seconds();
        if (options_.progress && now - reported_ >= 1) {
            reported_ = now;
            options_.progress({states, frontier, memory_bytes, now});
        }
        return now < options_.max_seconds;
    }

private:
    using Clock = std::chrono::steady_clock;

    const CheckOptions& options_;
    Clock::time_point start_ = Clock::now();
    double reported_ = 0;
};

}  // namespace peal::checker
