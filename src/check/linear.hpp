// SPDX-License-Identifier: Apache-2.0
// The linear method: one causal run decides for all runs. docs/proof.md has the theorem.
#pragma once

#include <string>
#include <vector>

#include "check/finding.hpp"
#include "check/meter.hpp"
#include "check/model.hpp"
#include "check/schedule.hpp"

namespace peal::checker {

struct Shown {
    Finding finding;
    Schedule schedule;
};

// To see that calls repeat, there must be so many: one to begin with, and two that are alike.
inline constexpr std::uint32_t kRoundsToCompare = 3;

struct LinearResult {
    std::string broken_assumption;  // empty: the answer holds for every interleaving
    // Asked for: whether it holds for every number of rounds, and if not, why, or whether it may
    // after more rounds. So many rounds fit the cells; 0: any number.
    bool repeats = false;
    std::string why_not_any;
    bool may_settle = false;
    std::uint64_t rounds_that_fit = 0;
    std::vector<Shown> violations;  // shortest schedule first
    std::vector<Explanation> explanations;
};

LinearResult check_linear(const Model& model, const CheckOptions& options, Meter& meter);

// Of two rounds or more, whether they show that all are alike and right. If not, nothing is said.
LinearResult look_for_repetition(const Model& model, Meter& meter);

}  // namespace peal::checker
