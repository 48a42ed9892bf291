// SPDX-License-Identifier: Apache-2.0
// For programs that try one seed after another: PROGRAM [seconds] [seed].
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

namespace peal::test {

class Seeds {
public:
    // Says from which seed on, so that whatever is found can be had again.
    Seeds(int argc, char** argv, double seconds)
        : limit_(argc > 1 ? std::atof(argv[1]) : seconds),
          first_(argc > 2 ? std::strtoull(argv[2], nullptr, 10)
                          : std::uint64_t{std::random_device()()} << 20) {
        fmt::print("seeds from {} on, for {} seconds\n", first_, limit_);
        std::fflush(stdout);
    }

    std::uint64_t first() const { return first_; }
    bool is_over() const { return seconds() >= limit_; }

    // Every half minute, prints the seconds and what the function says.
    template <class Progress>
    void tell(Progress&& progress) {
        constexpr double kEvery = 30;
        if (seconds() - told_ < kEvery) return;
        told_ = seconds();
        fmt::print("{:.0f} s: {}\n", told_, progress());
        std::fflush(stdout);
    }

private:
    using Clock = std::chrono::steady_clock;
    double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

    double limit_;
    std::uint64_t first_;
    Clock::time_point start_ = Clock::now();
    double told_ = 0;
};

}  // namespace peal::test
