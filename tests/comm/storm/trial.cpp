// SPDX-License-Identifier: Apache-2.0
#include "comm/storm/trial.hpp"

#include <iterator>
#include <random>

#include <fmt/format.h>

namespace peal::storm {
namespace {

constexpr const char* kTroubles[] = {"none", "kill", "stop", "mismatch", "leave", "orphan"};
constexpr const char* kStyles[] = {"blocking", "started", "polling"};

}  // namespace

Trial trial_of(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    // Not a standard distribution: those differ between libraries.
    const auto below = [&](int bound) {
        return static_cast<int>(random() % static_cast<std::uint64_t>(bound));
    };
    Trial trial;
    trial.seed = seed;
    trial.nranks = 2 + below(5);
    trial.calls = 20 + below(200);
    trial.trouble = static_cast<Trouble>(below(static_cast<int>(std::size(kTroubles))));
    trial.style = static_cast<Style>(below(static_cast<int>(std::size(kStyles))));
    trial.split = below(2) == 1;
    trial.victim = below(trial.nranks);
    trial.when = below(trial.calls - 10);                           // so that others call after it
    if (trial.split && trial.when % kPartEvery == 0) ++trial.when;  // a part may be one rank alone
    trial.delay_us = below(3000);
    return trial;
}

std::string to_text(const Trial& trial) {
    return fmt::format("seed {}: {} ranks, {} calls, {}{}; trouble: {}, rank {} at call {} + {} us",
                       trial.seed, trial.nranks, trial.calls,
                       kStyles[static_cast<std::size_t>(trial.style)], trial.split ? ", split" : "",
                       kTroubles[static_cast<std::size_t>(trial.trouble)], trial.victim, trial.when,
                       trial.delay_us);
}

}  // namespace peal::storm
