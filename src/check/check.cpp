// SPDX-License-Identifier: Apache-2.0
// The contents page of the checker.
#include "peal/check.hpp"

#include <fmt/format.h>

#include "check/drift.hpp"
#include "check/explore.hpp"
#include "check/last_writer.hpp"
#include "check/linear.hpp"
#include "check/meter.hpp"
#include "check/model.hpp"
#include "check/redundant.hpp"
#include "check/schedule.hpp"
#include "check/static_rules.hpp"

namespace peal {
namespace {

using namespace checker;  // NOLINT: this file is the door between the two

Violation violation_of(const Model& model, Shown&& shown) {
    name_last_writer(model, shown.schedule, shown.finding);
    Violation violation;
    violation.kind = shown.finding.kind;
    violation.message = std::move(shown.finding.message);
    for (const Event event : shown.finding.events) {
        violation.steps.push_back(step_of(model, event));
    }
    violation.memory = std::move(shown.finding.memory);
    violation.found = std::move(shown.finding.found);
    violation.expected = std::move(shown.finding.expected);
    violation.schedule = steps_of(model, shown.schedule);
    return violation;
}

// These need no interleaving.
std::vector<Violation> drifting_cells(const Model& model) {
    std::vector<Violation> violations;
    for (Finding& finding : find_drift(model)) {
        Schedule schedule = finding.events;
        violations.push_back(violation_of(model, {std::move(finding), std::move(schedule)}));
    }
    return violations;
}

// Returns false when the linear method cannot decide.
bool run_linear(const Model& model, const CheckOptions& options, Meter& meter,
                CheckReport& report) {
    LinearResult result = check_linear(model, options, meter);
    report.why_explored = std::move(result.broken_assumption);
    if (!report.why_explored.empty()) return false;
    report.method = CheckMethod::linear;
    report.events = result.events;
    if (result.out_of_time) report.bound = fmt::format("{} seconds", options.max_seconds);
    for (Shown& shown : result.violations) {
        report.violations.push_back(violation_of(model, std::move(shown)));
    }
    report.explanations = std::move(result.explanations);
    return true;
}

void run_exploration(const Model& model, const CheckOptions& options, Meter& meter,
                     CheckReport& report) {
    ExploreResult result = explore(model, options, meter);
    report.method = CheckMethod::exploration;
    report.states = result.states;
    report.memory_bytes = result.memory_bytes;
    report.bound = std::move(result.bound);
    if (result.violation) {
        report.violations.push_back(violation_of(model, std::move(*result.violation)));
    }
}

}  // namespace

CheckReport check(const std::vector<CheckStage>& stages, const CheckOptions& options) {
    Meter meter(options);
    CheckReport report;
    require_well_formed(stages);
    report.calls = options.calls * static_cast<int>(stages.size());
    report.violations = static_violations(stages, options.device);
    if (report.violations.empty()) {
        const Model model = build_model(stages, options.calls);
        const std::vector<Violation> drift = drifting_cells(model);
        if (options.explore) report.why_explored = "asked for";
        const bool decided = !options.explore && run_linear(model, options, meter, report);
        // Nobody need explore what is wrong anyway.
        if (!decided && (options.explore || drift.empty())) {
            run_exploration(model, options, meter, report);
        }
        report.violations.insert(report.violations.end(), drift.begin(), drift.end());
    }
    if (report.violations.size() > options.max_violations) {
        report.violations.resize(options.max_violations);
    }
    report.verdict = !report.violations.empty() ? Verdict::violated
                     : !report.bound.empty()    ? Verdict::bound
                                                : Verdict::proved;
    if (options.find_redundant && report.verdict == Verdict::proved) {
        report.redundant = find_redundant(stages, options, meter);
    }
    report.seconds = meter.seconds();
    return report;
}

}  // namespace peal
