// SPDX-License-Identifier: Apache-2.0
// Findings about data that both methods make, in the same words.
#pragma once

#include "check/finding.hpp"
#include "check/model.hpp"

namespace peal::checker {

// Two accesses of different agents that nothing orders.
struct Clash {
    Event first, second;
    RegionId region = kNone;
    std::uint64_t begin = 0, end = 0;
};

ViolationKind kind_of(const Model& model, const Clash& clash);
Finding clash_finding(const Model& model, const Clash& clash);

}  // namespace peal::checker
