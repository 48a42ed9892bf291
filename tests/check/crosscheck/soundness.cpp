// SPDX-License-Identifier: Apache-2.0
// soundness [seconds] [seed]: compares programs that nobody has seen, of all sorts in turn, until
// the time is over. Says from which seed on; the same seed, the same programs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "check/crosscheck/compare.hpp"

namespace {

using namespace peal;        // NOLINT
using namespace peal::test;  // NOLINT
using Clock = std::chrono::steady_clock;

constexpr double kReportEvery = 30;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
    const double limit = argc > 1 ? std::atof(argv[1]) : 3600;
    const std::uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10)
                                         : std::uint64_t{std::random_device()()} << 20;
    fmt::print("seeds from {} on, for {} seconds\n", first, limit);
    std::map<Sort, Tally> tallies;
    const Clock::time_point start = Clock::now();
    double reported = 0;
    std::uint64_t seed = first;
    for (; seconds_since(start) < limit; ++seed) {
        for (const Sort sort : kSorts) {
            const RandomProgram program = random_program(sort, seed);
            const std::string complaint = disagreement(program, tallies[sort]);
            if (complaint.empty()) continue;
            fmt::print("{} seed {}: the answers differ\n{}\n{}", name(sort), seed, complaint,
                       listing(program));
            return 1;
        }
        if (seconds_since(start) - reported < kReportEvery) continue;
        reported = seconds_since(start);
        fmt::print("{:.0f} s: seeds {} to {} agree\n", reported, first, seed);
        std::fflush(stdout);
    }
    Tally all;
    for (const auto& [sort, tally] : tallies) {
        fmt::print("{}: {}\n", name(sort), to_text(tally));
        all.add(tally);
    }
    fmt::print("seeds {} to {} agree\nall: {}\n", first, seed - 1, to_text(all));
    return 0;
}
