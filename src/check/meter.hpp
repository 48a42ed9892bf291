// SPDX-License-Identifier: Apache-2.0
// Watches time and memory: reports progress, and ends a check that reaches a bound.
#pragma once

#include <chrono>
#include <string>

#include <fmt/format.h>

#include "peal/check.hpp"
#include "peal/watch.hpp"

namespace peal::checker {

// Thrown by the meter and caught by check(): the answer is "bound reached".
struct BoundReached {
    std::string bound;
};

class Meter {
public:
    explicit Meter(const CheckOptions& options) : options_(options) {}

    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
    const CheckProgress& progress() const { return progress_; }

    // To be called with what has been done, in units of less than a microsecond or so.
    void work(std::uint64_t units = 1) {
        done_ += units;
        if (done_ >= kUnitsPerLook) look();
    }
    void count_events(std::uint64_t events) { progress_.events = events; }
    void count_states(std::uint64_t states, std::uint64_t frontier = 0) {
        progress_.states = states;
        progress_.frontier = frontier;
    }

    // So much memory is held until it is released, or to the end of the check.
    void hold(std::uint64_t bytes) {
        held_ += bytes;
        use(0);
    }
    void release(std::uint64_t bytes) { held_ -= bytes; }
    std::uint64_t held() const { return held_; }
    // So much is in use beside what is held.
    void use(std::uint64_t bytes) {
        progress_.memory_bytes = held_ + bytes;
        if (progress_.memory_bytes <= options_.max_memory_bytes) return;
        throw BoundReached{fmt::format("{} bytes of memory", options_.max_memory_bytes)};
    }

private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::uint64_t kUnitsPerLook = 1 << 10;

    void look() {
        done_ = 0;
        Watch::look_up();
        progress_.seconds = seconds();
        if (options_.progress && progress_.seconds - reported_ >= 1) {
            reported_ = progress_.seconds;
            options_.progress(progress_);
        }
        if (progress_.seconds + options_.seconds_spent < options_.max_seconds) return;
        throw BoundReached{fmt::format("{} seconds", options_.max_seconds)};
    }

    const CheckOptions& options_;
    Clock::time_point start_ = Clock::now();
    CheckProgress progress_;
    std::uint64_t done_ = 0;  // since the last look
    std::uint64_t held_ = 0;
    double reported_ = 0;
};

}  // namespace peal::checker
