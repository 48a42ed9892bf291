// SPDX-License-Identifier: Apache-2.0
#include "cli/proof.hpp"

#include <fmt/format.h>

#include "cli/commands.hpp"

namespace peal::cli {
namespace {

constexpr std::size_t kQuickInstructions = 20'000;
constexpr std::uint64_t kQuickStates = 100'000;

std::size_t instruction_count(const std::vector<Plan>& plans) {
    std::size_t count = 0;
    for (const Plan& plan : plans) count += plan.instructions.size();
    return count;
}

}  // namespace

Proof prove(const std::vector<Plan>& plans, const Collective* collective, bool thorough,
            const DeviceRules& device, int calls) {
    if (!thorough && instruction_count(plans) > kQuickInstructions) return {};
    const Meaning meaning = collective ? meaning_of(*collective, plans) : Meaning{};
    CheckStage stage;
    stage.plans = &plans;
    stage.meaning = collective ? &meaning : nullptr;
    CheckOptions options;
    options.max_violations = 1;
    options.device = device;
    options.calls = calls;
    if (!thorough) options.max_states = kQuickStates;
    const CheckReport report = check({stage}, options);
    switch (report.verdict) {
        case Verdict::proved: return {"proved", "", kFine};
        case Verdict::bound:
            return {"bound", "not proved: bound reached: " + report.bound, kBoundReached};
        case Verdict::violated: break;
    }
    const Violation& violation = report.violations.front();
    const std::string kind(name(violation.kind));
    return {kind, fmt::format("{}: {} (see peal check)", kind, violation.message), kWrong};
}

}  // namespace peal::cli
