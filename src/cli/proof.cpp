// SPDX-License-Identifier: Apache-2.0
#include "cli/proof.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "plan/for_host.hpp"
#include "plan/pipes.hpp"

namespace peal::cli {
namespace {

constexpr std::size_t kQuickInstructions = 60'000;  // of all calls
constexpr std::uint64_t kQuickStates = 100'000;

std::size_t instruction_count(const std::vector<Plan>& plans) {
    std::size_t count = 0;
    for (const Plan& plan : plans) count += plan.instructions.size();
    return count;
}

Proof proof_of(const CheckReport& report, std::string_view where) {
    switch (report.verdict) {
        case Verdict::proved: return {"proved", "", kFine};
        case Verdict::bound:
            return {"bound", fmt::format("not proved{}: bound reached: {}", where, report.bound),
                    kBoundReached};
        case Verdict::violated: break;
    }
    const Violation& violation = report.violations.front();
    const std::string kind(name(violation.kind));
    return {kind, fmt::format("{}{}: {} (see peal check)", kind, where, violation.message), kWrong};
}

}  // namespace

Proof prove(const std::vector<Plan>& plans, const Collective* collective, bool thorough,
            CheckOptions options) {
    const auto calls = static_cast<std::size_t>(options.calls);
    if (!thorough && instruction_count(plans) * calls > kQuickInstructions) return {};
    const Meaning meaning = collective ? meaning_of(*collective, plans) : Meaning{};
    options.max_violations = 1;
    if (!thorough) options.max_states = kQuickStates;
    const auto check_them = [&](const std::vector<Plan>& them) {
        return check({{&them, collective ? &meaning : nullptr, {}}}, options);
    };
    const Proof proof = proof_of(check_them(plans), "");
    const bool has_pipes = std::any_of(plans.begin(), plans.end(), uses_pipes);
    if (!has_pipes || proof.exit_code != kFine) return proof;
    options.device = {};
    return proof_of(check_them(for_host(plans)), " as this machine runs it");
}

}  // namespace peal::cli
