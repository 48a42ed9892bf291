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

struct LinearResult {
    std::string broken_assumption;  // empty: the answer holds for every interleaving
    std::vector<Shown> violations;  // shortest schedule first
    std::vector<Explanation> explanations;
};

LinearResult check_linear(const Model& model, const CheckOptions& options, Meter& meter);

}  // namespace peal::checker
