// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include "check/steps.hpp"
#include "peal/check.hpp"
#include "plan/access.hpp"
#include "plan/notes.hpp"
#include "plan/text.hpp"
#include "plan/titles.hpp"

namespace peal {

std::string_view name(ViolationKind kind) {
    constexpr std::array<std::string_view, 11> kNames = {
        "data race",    "deadlock",     "stale signal", "read of unwritten bytes",
        "out of range", "signal state", "overflow",     "pipe hazard",
        "flag",         "tile memory",  "wrong result"};
    return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(Verdict verdict) {
    constexpr std::array<std::string_view, 3> kNames = {"proved", "violated", "bound reached"};
    return kNames[static_cast<std::size_t>(verdict)];
}

std::string_view name(MemoryOrder order) {
    return order == MemoryOrder::drained ? "drained" : "fenced";
}

std::string_view name(Held::What what) {
    constexpr std::array<std::string_view, 3> kNames = {"input", "zeros", "fresh"};
    return kNames[static_cast<std::size_t>(what)];
}

std::string_view name(CheckMethod method) {
    constexpr std::array<std::string_view, 2> kNames = {"linear", "exploration"};
    return kNames[static_cast<std::size_t>(method)];
}

namespace {

// An aside is about what is stored, or about what is read.
bool is_of_store(const Step& step, const Instruction& instruction) {
    return step.range + 1 == static_cast<std::int32_t>(plan::range_count(instruction.action));
}

}  // namespace

std::string to_text(const Step& step, const std::vector<CheckStage>& stages) {
    const auto told = [&](const std::string& who) {
        return fmt::format("{}, call {}: ", who, step.call);
    };
    const std::string rank = fmt::format("rank {}", step.rank);
    if (step.index == Step::kStages) return told(rank) + "the caller stages its input";
    if (step.index == Step::kConsumes) return told(rank) + "the caller consumes the result";
    const Plan& plan = checker::plan_of(step, stages);
    const std::string who = told(plan::who_title(plan, static_cast<std::size_t>(step.index)));
    const Instruction& instruction = plan.instructions[static_cast<std::size_t>(step.index)];
    const std::string place = plan::place_text(instruction, plan, step.range);
    const std::optional<std::uint32_t> turn = checker::turn_of(step, stages);
    const std::string_view aside = !step.is_aside                   ? ""
                                   : is_of_store(step, instruction) ? ", as others see it"
                                                                    : ", as its cache takes it";
    return fmt::format("{}{}{}{}", who, plan::report_text(instruction, plan, turn),
                       place.empty() ? "" : " (" + place + ")", aside);
}

}  // namespace peal
