// SPDX-License-Identifier: Apache-2.0
// The text of an instruction, as in listings and as in pictures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "peal/plan.hpp"

namespace peal::plan {

struct TextOptions {
    // As short as can be: no element types, no bytes where they are the whole buffer, and the same
    // bytes of consecutive ranks are one source: "data@0..3".
    bool brief = false;
    // Values are those of this generation of the signal that the instruction names; without one
    // they are sums: "generation + 1".
    std::optional<std::int64_t> generation = {};
    // Elements of the declared shape where there is one: "slot[0][0;3]". Otherwise bytes.
    bool elements = false;
    // Places are those of this turn; without one, those of all.
    std::optional<std::uint32_t> turn = {};
};

// The own rank is left out: `data` is the own window and `data@2` the one of rank 2.
std::string to_text(const Instruction& instruction, const Plan& plan, const TextOptions& options);

// As pictures say it: "copy data <- inp", "sum out <- data@0..3", "notify sig[0]@1 += 1".
// `generation` is the one of the signal buffer that the instruction names, if it names one.
inline std::string brief_text(const Instruction& instruction, const Plan& plan,
                              std::int64_t generation, std::optional<std::uint32_t> turn = {}) {
    return to_text(instruction, plan,
                   {.brief = true, .generation = generation, .elements = true, .turn = turn});
}

// As reports say it.
inline std::string report_text(const Instruction& instruction, const Plan& plan,
                               std::optional<std::uint32_t> turn = {}) {
    return to_text(instruction, plan, {.elements = true, .turn = turn});
}

}  // namespace peal::plan
