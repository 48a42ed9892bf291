// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "foreign/foreign.hpp"
#include "golden/rehearse.hpp"

namespace peal::test {

// Two calls, in an interleaving that is the same for the same seed, compute the collective.
inline void expect_runs(const foreign::ForeignPlans& foreign, int seed) {
    EngineOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    const golden::Outcome outcome =
        golden::rehearse(foreign.plans, *foreign.collective, foreign.ports, 2, options);
    EXPECT_EQ(outcome.wrong, std::nullopt);
}

}  // namespace peal::test
