// SPDX-License-Identifier: Apache-2.0
// Tries a counterexample out: every wait of its schedule must pass when its turn comes. Written
// without the checker's own machinery, for plans without pipes.
#pragma once

#include <gtest/gtest.h>

#include "check/crosscheck/possible_step.hpp"

namespace peal::test {

inline void expect_possible(const std::vector<CheckStage>& stages, const Violation& violation) {
    EXPECT_EQ(impossible_step(stages, violation), "") << violation.message;
}

}  // namespace peal::test
