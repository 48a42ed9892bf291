// SPDX-License-Identifier: Apache-2.0
// storm [seconds] [seed]: trials until the time is over. Says from which seed on; `storm 0 SEED` is
// one trial again.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "comm/storm/storm.hpp"

namespace {

using namespace peal::storm;  // NOLINT
using Clock = std::chrono::steady_clock;

constexpr double kReportEvery = 30;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
    const double limit = argc > 1 ? std::atof(argv[1]) : 300;
    const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10)
                                         : std::uint64_t{std::random_device()()} << 20;
    fmt::print("seeds from {} on, for {} seconds\n", first, limit);
    std::fflush(stdout);
    const Clock::time_point start = Clock::now();
    double reported = 0;
    std::uint64_t seed = first;
    do {
        const std::string complaint = complaint_about(trial_of(seed++));
        if (!complaint.empty()) {
            fmt::print("{}\n", complaint);
            return 1;
        }
        if (seconds_since(start) - reported < kReportEvery) continue;
        reported = seconds_since(start);
        fmt::print("{:.0f} s: {} trials held\n", reported, seed - first);
        std::fflush(stdout);
    } while (seconds_since(start) < limit);
    fmt::print("seeds {} to {} held\n", first, seed - 1);
    return 0;
}
