// SPDX-License-Identifier: Apache-2.0
#include "check/steps.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "plan/notes.hpp"
#include "plan/turns.hpp"

namespace peal::checker {
namespace {

std::int64_t advance_in(const CheckStage& stage, const std::string& memory) {
    const std::vector<std::int64_t>& advance = stage.plans->front().advance;
    std::int64_t sum = 0;
    for (std::size_t b = 0; b < advance.size(); ++b) {
        if (memory_name(stage, b) == memory) sum += advance[b];
    }
    return sum;
}

}  // namespace

const Plan& plan_of(const Step& step, const std::vector<CheckStage>& stages) {
    const CheckStage& stage = stages[static_cast<std::size_t>(step.stage)];
    return (*stage.plans)[static_cast<std::size_t>(step.rank)];
}

std::string source_line(const Step& step, const std::vector<CheckStage>& stages) {
    const Plan& plan = plan_of(step, stages);
    if (step.index < 0 || !plan.source) return {};
    const Instruction& instruction = plan.instructions[static_cast<std::size_t>(step.index)];
    const std::uint32_t line = plan::place_of(instruction, plan, step.range).line;
    std::string_view text = plan.source->line(line);
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    return text.empty() ? std::string()
                        : fmt::format("{}: {}", plan.source->full_place(line), text);
}

std::string steps_text(const Violation& violation, const std::vector<CheckStage>& stages) {
    std::string text;
    for (const Step& step : violation.steps) {
        text += fmt::format("  {}\n", to_text(step, stages));
        const std::string line = source_line(step, stages);
        if (!line.empty()) text += fmt::format("      {}\n", line);
    }
    return text;
}

const std::string& memory_name(const CheckStage& stage, std::size_t buffer) {
    return stage.memory.empty() ? stage.plans->front().buffers[buffer].name : stage.memory[buffer];
}

std::int64_t advance_per_round(const std::vector<CheckStage>& stages, const std::string& memory) {
    std::int64_t sum = 0;
    for (const CheckStage& stage : stages) sum += advance_in(stage, memory);
    return sum;
}

std::int64_t generation_of(const Step& step, const std::vector<CheckStage>& stages,
                           std::uint16_t buffer) {
    const auto call = static_cast<std::size_t>(step.call);
    const std::string& memory = memory_name(stages[static_cast<std::size_t>(step.stage)], buffer);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < call % stages.size(); ++i) sum += advance_in(stages[i], memory);
    const auto rounds = static_cast<std::int64_t>(call / stages.size());
    return sum + rounds * advance_per_round(stages, memory);
}

std::optional<std::uint32_t> turn_of(const Step& step, const std::vector<CheckStage>& stages) {
    const Plan& plan = plan_of(step, stages);
    if (!plan::takes_turns(plan)) return std::nullopt;
    return plan::turn_in(plan.turns, generation_of(step, stages, plan.turns.signal));
}

// A plan comes back to its turn when its generation has grown by a multiple of every * count.
std::uint32_t rounds_of_turns(const std::vector<CheckStage>& stages) {
    std::int64_t rounds = 1;
    for (const CheckStage& stage : stages) {
        for (const Plan& plan : *stage.plans) {
            if (!plan::takes_turns(plan)) continue;
            const std::int64_t by =
                advance_per_round(stages, memory_name(stage, plan.turns.signal));
            const std::int64_t all = plan.turns.every * static_cast<std::int64_t>(plan.turns.count);
            rounds = std::lcm(rounds, all / std::gcd(by, all));
            rounds = std::min<std::int64_t>(rounds, std::numeric_limits<std::int32_t>::max());
        }
    }
    return static_cast<std::uint32_t>(rounds);
}

}  // namespace peal::checker
