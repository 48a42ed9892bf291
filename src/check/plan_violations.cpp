// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include <fmt/format.h>

#include "check/static_rules.hpp"
#include "peal/error.hpp"
#include "plan/faults.hpp"

namespace peal::checker {
namespace {

std::optional<ViolationKind> kind_of(plan::PlanFault::Kind kind) {
    if (kind == plan::PlanFault::Kind::out_of_range) return ViolationKind::out_of_range;
    if (kind == plan::PlanFault::Kind::tile_overlap) return ViolationKind::tile_memory;
    return std::nullopt;
}

Violation violation_of(ViolationKind kind, const plan::PlanFault& fault, const Plan& plan,
                       std::size_t stage) {
    Violation violation;
    violation.kind = kind;
    violation.memory = fault.memory;
    violation.message =
        fmt::format("rank {}: `{}`: {}", plan.rank,
                    to_text(plan.instructions[*fault.instruction], plan), fault.message);
    violation.steps = {{0, static_cast<std::int32_t>(stage), plan.rank,
                        static_cast<std::int32_t>(*fault.instruction), -1}};
    violation.schedule = violation.steps;
    return violation;
}

}  // namespace

std::vector<Violation> plan_violations(const std::vector<CheckStage>& stages) {
    std::vector<Violation> violations;
    for (std::size_t i = 0; i < stages.size(); ++i) {
        for (const plan::PlanFault& fault : plan::faults_of(*stages[i].plans)) {
            const auto kind = kind_of(fault.kind);
            if (!kind) throw Error(Fault::program, to_text(fault));
            violations.push_back(violation_of(*kind, fault, (*stages[i].plans)[fault.place], i));
        }
    }
    return violations;
}

}  // namespace peal::checker
