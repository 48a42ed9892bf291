// SPDX-License-Identifier: Apache-2.0
// The contents page of the checker.
#include "peal/check.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "check/fence_reach.hpp"
#include "check/linear.hpp"
#include "check/meter.hpp"
#include "check/misuse.hpp"
#include "check/model.hpp"
#include "check/phases.hpp"
#include "check/schedule.hpp"
#include "check/static_rules.hpp"
#include "check/steps.hpp"
#include "peal/error.hpp"

namespace peal {
namespace {

using namespace checker;  // NOLINT: this file is the door between the two

// The signal that tells others of a store before it was fenced: the first after it that they need.
void name_notify(const Model& model, Shown& shown) {
    const Event store = shown.finding.events.front();
    const Op& stored = model.op(store);
    for (const Event event : shown.schedule) {
        const Op& op = model.op(event);
        const bool is_signal =
            op.kind == OpKind::notify && op.origin == Origin::instruction && !op.is_flag;
        const bool is_after = std::pair(op.call, op.index) > std::pair(stored.call, stored.index);
        if (!is_signal || !is_after) continue;
        if (model.agents[event.agent].core != model.agents[store.agent].core) continue;
        shown.finding.message += " it and " + text_of(model, event);
        return;
    }
}

Violation violation_of(const Model& model, Shown&& shown) {
    name_last_writer(model, shown.schedule, shown.finding);
    if (shown.finding.is_unfenced) name_notify(model, shown);
    Violation violation;
    violation.kind = shown.finding.kind;
    violation.message = std::move(shown.finding.message);
    shown.finding.ranges.resize(shown.finding.events.size(), -1);
    for (std::size_t i = 0; i < shown.finding.events.size(); ++i) {
        violation.steps.push_back(step_of(model, shown.finding.events[i]));
        violation.steps.back().range = shown.finding.ranges[i];
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
bool run_linear(const Model& model, const CheckOptions& options, Meter& meter, CheckReport& report,
                bool& may_settle) {
    report.method = CheckMethod::linear;
    LinearResult result = check_linear(model, options, meter);
    may_settle = result.may_settle;
    report.any_calls = result.repeats;
    report.calls_that_fit = result.rounds_that_fit * model.stages->size();
    if (options.any_calls) report.why_not_any = std::move(result.why_not_any);
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

// So many rounds of calls; any number of them, if that is asked and they show it. Otherwise
// `may_settle` says whether more rounds may.
void run_calls(const std::vector<CheckStage>& stages, int rounds, const CheckOptions& options,
               Meter& meter, CheckReport& report, bool& may_settle) {
    const Model model = build_model(stages, rounds, options.order, meter);
    const std::vector<Violation> drift = drifting_cells(model);
    if (options.explore) report.why_explored = "asked for";
    const bool decided = !options.explore && run_linear(model, options, meter, report, may_settle);
    // Nobody need explore what is wrong anyway.
    if (!decided && (options.explore || drift.empty())) {
        run_exploration(model, options, meter, report);
    }
    report.violations.insert(report.violations.end(), drift.begin(), drift.end());
}

// The linear method alone, for any number of calls: whether so many rounds show it.
bool shows_any(const std::vector<CheckStage>& stages, int rounds, const CheckOptions& options,
               Meter& meter, CheckReport& report, bool& may_settle) {
    const std::uint64_t held = meter.held();
    CheckReport answer = report;
    try {
        const Model model = build_model(stages, rounds, options.order, meter);
        run_linear(model, options, meter, answer, may_settle);
    } catch (const Error& error) {
        if (error.fault() != Fault::usage) throw;
        answer.why_not_any = error.what();  // values of calls that were not asked for
    }
    meter.release(meter.held() - held);
    if (answer.any_calls) {
        report = std::move(answer);
    } else if (!answer.violations.empty()) {
        const Violation& first = answer.violations.front();
        report.why_not_any =
            fmt::format("{} calls are not right: {}: {}", rounds, name(first.kind), first.message);
    } else if (!answer.why_not_any.empty()) {
        report.why_not_any = std::move(answer.why_not_any);
    }
    return report.any_calls;
}

// Most do in the second round what they did in the first: two show it. What these do not show is
// looked at again with more.
bool repeats_at_once(const std::vector<CheckStage>& stages, const CheckOptions& options,
                     Meter& meter, CheckReport& report) {
    const std::uint64_t held = meter.held();
    LinearResult result;
    try {
        const Model model = build_model(stages, 2 * static_cast<int>(rounds_of_turns(stages)),
                                        options.order, meter);
        result = look_for_repetition(model, meter);
    } catch (const Error& error) {
        if (error.fault() != Fault::usage) throw;
    }
    meter.release(meter.held() - held);
    if (!result.repeats) return false;
    report.method = CheckMethod::linear;
    report.any_calls = true;
    report.calls_that_fit = result.rounds_that_fit * stages.size();
    return true;
}

// What a rank learns of another may come by way of all the others, one in each call.
int rounds_to_settle(const std::vector<CheckStage>& stages) {
    constexpr std::uint64_t kMostInstructions = 4'000'000;
    std::uint64_t instructions = 0;
    for (const CheckStage& stage : stages) {
        for (const Plan& plan : *stage.plans) instructions += plan.instructions.size() + 2;
    }
    const std::uint64_t rounds =
        (stages.front().plans->size() + kRoundsToCompare) * rounds_of_turns(stages);
    return instructions * rounds <= kMostInstructions ? static_cast<int>(rounds) : 0;
}

// Turns that take longer to come again are not followed to their end.
constexpr std::uint64_t kMostRounds = 1000;

// What depends on the interleaving.
void run(const std::vector<CheckStage>& stages, const CheckOptions& options, Meter& meter,
         CheckReport& report) {
    const bool wants_any = options.any_calls && !options.explore;
    const std::uint64_t few = std::uint64_t{kRoundsToCompare} * rounds_of_turns(stages);
    bool may_settle = false;
    bool is_answered = false;
    const bool is_quick = wants_any && few <= kMostRounds && !options.explain;
    if (is_quick && repeats_at_once(stages, options, meter, report)) return;
    if (wants_any && few > kMostRounds) {
        report.why_not_any = fmt::format("memory is where it was after {} calls only",
                                         few / kRoundsToCompare * stages.size());
    } else if (wants_any && static_cast<std::uint64_t>(options.calls) != few) {
        const auto rounds = static_cast<int>(few);
        if (shows_any(stages, rounds, options, meter, report, may_settle)) return;
    } else {
        run_calls(stages, options.calls, options, meter, report, may_settle);
        is_answered = true;
    }
    const int more = may_settle && report.violations.empty() ? rounds_to_settle(stages) : 0;
    if (more != 0 && shows_any(stages, more, options, meter, report, may_settle)) return;
    if (is_answered) return;
    CheckOptions plain = options;
    plain.any_calls = false;
    run_calls(stages, options.calls, plain, meter, report, may_settle);
}

void note_work(const Meter& meter, CheckReport& report) {
    const bool linear = report.method == CheckMethod::linear;
    if (linear) {
        report.events = meter.progress().events;
    } else {
        report.states = meter.progress().states;
    }
    report.memory_bytes = meter.progress().memory_bytes;
}

// Why what is proved is not proved for any number of calls, if that was asked.
void note_calls(const CheckOptions& options, CheckReport& report) {
    const bool is_proved = report.violations.empty() && report.bound.empty();
    if (!is_proved || report.any_calls || !options.any_calls) {
        report.why_not_any.clear();
    } else if (report.method == CheckMethod::exploration) {
        report.why_not_any = "only the linear method shows that, and this was explored";
    }
}

}  // namespace

bool orders_differ(const std::vector<CheckStage>& stages) {
    return std::any_of(stages.begin(), stages.end(), [](const CheckStage& stage) {
        return std::any_of(stage.plans->begin(), stage.plans->end(), [](const Plan& plan) {
            return std::any_of(plan.instructions.begin(), plan.instructions.end(), stores_on_pipe);
        });
    });
}

CheckReport check(const std::vector<CheckStage>& stages, const CheckOptions& options) {
    if (options.calls < 1) misuse("calls must be at least 1, found {}", options.calls);
    Meter meter(options);
    CheckReport report;
    require_well_formed(stages);
    report.calls = options.calls * static_cast<int>(stages.size());
    report.order = options.order;
    report.any_order = !orders_differ(stages);
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
    note_calls(options, report);
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
