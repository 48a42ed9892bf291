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
    violation.orders = std::move(shown.finding.orders);
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
    report.method = CheckMethod::linear;
    LinearResult result = check_linear(model, options, meter);
    report.why_explored = std::move(result.broken_assumption);
    if (!report.why_explored.empty()) return false;
    for (Shown& shown : result.violations) {
        report.violations.push_back(violation_of(model, std::move(shown)));
    }
    report.explanations = std::move(result.explanations);
    return true;
}

void run_exploration(const Model& model, const CheckOptions& options, Meter& meter,
                     CheckReport& report) {
    report.method = CheckMethod::exploration;
    if (std::optional<Shown> violation = explore(model, options, meter)) {
        report.violations.push_back(violation_of(model, std::move(*violation)));
    }
}

// What depends on the interleaving.
void run(const std::vector<CheckStage>& stages, const CheckOptions& options, Meter& meter,
         CheckReport& report) {
    const Model model = build_model(stages, options.calls, meter);
    const std::vector<Violation> drift = drifting_cells(model);
    if (options.explore) report.why_explored = "asked for";
    const bool decided = !options.explore && run_linear(model, options, meter, report);
    // Nobody need explore what is wrong anyway.
    if (!decided && (options.explore || drift.empty())) {
        run_exploration(model, options, meter, report);
    }
    report.violations.insert(report.violations.end(), drift.begin(), drift.end());
}

void note_work(const Meter& meter, CheckReport& report) {
    const bool linear = report.method == CheckMethod::linear;
    (linear ? report.events : report.states) = meter.progress().states;
    report.memory_bytes = meter.progress().memory_bytes;
}

}  // namespace

CheckReport check(const std::vector<CheckStage>& stages, const CheckOptions& options) {
    Meter meter(options);
    CheckReport report;
    require_well_formed(stages);
    report.calls = options.calls * static_cast<int>(stages.size());
    report.violations = plan_violations(stages);
    if (report.violations.empty()) {
        auto [violations, warnings] = static_findings(stages, options);
        report.violations = std::move(violations);
        report.warnings = std::move(warnings);
    }
    if (report.violations.empty()) {
        try {
            run(stages, options, meter, report);
        } catch (BoundReached& reached) {
            report.bound = std::move(reached.bound);
        }
        note_work(meter, report);
    }
    for (std::vector<Violation>* list : {&report.violations, &report.warnings}) {
        if (list->size() > options.max_violations) list->resize(options.max_violations);
    }
    report.verdict = !report.violations.empty() ? Verdict::violated
                     : !report.bound.empty()    ? Verdict::bound
                                                : Verdict::proved;
    if (options.find_redundant && report.verdict == Verdict::proved) {
        find_redundant(stages, options, meter, report);
    }
    report.seconds = meter.seconds();
    return report;
}

}  // namespace peal
