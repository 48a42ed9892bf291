// SPDX-License-Identifier: Apache-2.0
// Operations of a kernel that a plan has as several instructions: a TPUT, which loads and stores in
// pieces, or a TLOAD of several rows. A picture shows one as one step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "draw/diagram.hpp"
#include "draw/memory.hpp"
#include "peal/check.hpp"

namespace peal::draw {

struct Operation {
    std::int32_t call = 0, stage = 0, rank = 0;
    std::size_t begin = 0, end = 0;  // instructions of the rank's plan

    bool operator==(const Operation&) const = default;
};

// The operation that moves data and that the step is one of several of.
std::optional<Operation> operation_of(const Step& step, const std::vector<CheckStage>& stages);

// What is known of the events of a diagram, in their order.
struct EventFacts {
    std::vector<std::optional<Step>> steps;  // none: a call begins
    std::vector<std::vector<Access>> accesses;
};

// Makes steps of an operation that follow each other on their rail one event, "TPUT window@1 <-
// in (6 steps)", in the place of the last. A step that clashes stays itself; and no step moves
// past one of another rail that touches the same memory.
void fold_operations(Diagram& diagram, EventFacts& facts, const std::vector<CheckStage>& stages);

}  // namespace peal::draw
