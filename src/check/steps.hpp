// SPDX-License-Identifier: Apache-2.0
// What a step of a schedule refers to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "peal/check.hpp"

namespace peal::checker {

const Plan& plan_of(const Step& step, const std::vector<CheckStage>& stages);

// "kernel.cpp:12: data = inp": the line that a step comes from; empty for what the caller does.
std::string source_line(const Step& step, const std::vector<CheckStage>& stages);

// The steps of a violation, each with its line below it.
std::string steps_text(const Violation& violation, const std::vector<CheckStage>& stages);

// By what name the stages share the buffer.
const std::string& memory_name(const CheckStage& stage, std::size_t buffer);

// By how much one round of calls moves the generation of a signal of that name on.
std::int64_t advance_per_round(const std::vector<CheckStage>& stages, const std::string& memory);

// Of a signal buffer of the step's plan, in the step's call.
std::int64_t generation_of(const Step& step, const std::vector<CheckStage>& stages,
                           std::uint16_t buffer);

// The turn of the step's call; nothing where its plan takes none.
std::optional<std::uint32_t> turn_of(const Step& step, const std::vector<CheckStage>& stages);

// After so many rounds all calls are in the turns that they were in at first. At most INT32_MAX.
std::uint32_t rounds_of_turns(const std::vector<CheckStage>& stages);

}  // namespace peal::checker
