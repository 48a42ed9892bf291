// SPDX-License-Identifier: Apache-2.0
// What messages say of a plan beyond what it does: the declared shapes of its buffers, and the
// rounds of loops that its instructions were written down in. Nothing that runs or proves asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peal/plan.hpp"

namespace peal::plan {

struct PlanNotes {
    // One round of one loop. Rounds are made when an instruction needs them.
    struct Round {
        std::uint32_t around = 0;  // the round of the loop around it, as Instruction::round
        std::uint32_t name = 0;    // of the counter, in `names`
        std::int64_t value = 0;
    };

    struct SourcePlace {
        std::uint32_t line = 0;   // as Instruction::line
        std::uint32_t round = 0;  // as Instruction::round

        bool operator==(const SourcePlace&) const = default;
    };

    std::vector<std::vector<std::uint64_t>> shapes;  // by buffer; empty: none was declared
    std::vector<std::string> names;
    std::vector<Round> rounds;  // round 1 is the first
    // Of instructions that several were fused into: the place of each range, sources in order and
    // then the destination. Instruction::origins 1 is the first.
    std::vector<std::vector<SourcePlace>> origins;
};

// The shape of a buffer, or null where none was declared.
const std::vector<std::uint64_t>* shape_of(const Plan& plan, std::uint16_t buffer);

// "[0][0;3]": elements of an array of this shape, or nothing if the bytes are not whole elements.
// What crosses rows is given by its first and last: "[0][2]..[1][0]".
std::optional<std::string> element_text(const std::vector<std::uint64_t>& shape, Element element,
                                        std::uint64_t offset, std::uint64_t length);
// "[2][1]"
std::string index_text(const std::vector<std::uint64_t>& shape, std::uint64_t index);

// Where one of its ranges is from, sources in order and then the destination; or, if that is
// negative, the instruction itself.
PlanNotes::SourcePlace place_of(const Instruction& instruction, const Plan& plan,
                                std::int32_t range);

// "line 7, t=2 c=0": that place, and the round of each loop around it. Empty when it is unknown.
std::string place_text(const Instruction& instruction, const Plan& plan, std::int32_t range = -1);

// The innermost round that two instructions share.
std::uint32_t common_round(const Plan& plan, std::uint32_t a, std::uint32_t b);

}  // namespace peal::plan
