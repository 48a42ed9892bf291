// SPDX-License-Identifier: Apache-2.0
#include "check/linear.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "check/causal_run.hpp"
#include "check/data_check.hpp"
#include "check/explain.hpp"
#include "check/history.hpp"
#include "check/memory.hpp"
#include "check/repeat.hpp"
#include "check/result.hpp"
#include "check/touch.hpp"

namespace peal::checker {
namespace {

// Checks the data of a run: races by clocks, contents by terms.
class DataObserver : public CausalRun::Observer {
public:
    DataObserver(const Model& model, Findings& findings, bool explain, Meter& meter)
        : model_(model),
          findings_(findings),
          meter_(meter),
          explain_(explain),
          memory_(model, terms_),
          result_(model, terms_),
          history_(model),
          explainer_(model) {}

    void on_event(Event event, const Clocks& clocks) override {
        const Op& op = model_.op(event);
        if (op.kind != OpKind::data) return;
        const Epoch now = clocks.now(event.agent);
        for_each_touch(
            model_, event,
            [&](RegionId region, std::uint64_t begin, std::uint64_t end, const Use& use) {
                history_.touch(now, clocks, region, begin, end, use,
                               [&](const Conflict& conflict) { judge(conflict); });
            });
        memory_.execute(event, findings_);
        if (op.origin == Origin::consumes) result_.check(event, memory_, findings_);
        if (++data_ops_ % kOpsPerCount == 0) {
            meter_.use(memory_.memory_bytes() + history_.memory_bytes() + terms_.memory_bytes());
        }
    }

    void on_join(Event wait, Event notify) override {
        if (explain_) explainer_.add_join(wait, notify);
    }

    // All have come to the end of a round of calls.
    bool repeats(Repetition& repetition, std::uint32_t rounds, const CausalRun& run) {
        return findings_.empty() && repetition.repeats(rounds, run, history_, memory_, terms_);
    }

    std::vector<Explanation> explanations() const { return explainer_.explanations(); }

private:
    void judge(const Conflict& conflict) {
        if (conflict.ordered) {
            const bool is_data = model_.regions[conflict.region].kind == RegionKind::data;
            if (explain_ && is_data) explainer_.add_conflict(conflict);
            return;
        }
        const Clash clash{conflict.earlier.event(), conflict.later.event(), conflict.region,
                          conflict.begin, conflict.end};
        if (findings_.wants(kind_of(model_, clash), {clash.first, clash.second})) {
            findings_.add(clash_finding(model_, clash));
        }
    }

    static constexpr std::uint64_t kOpsPerCount = 1 << 14;

    const Model& model_;
    Findings& findings_;
    Meter& meter_;
    std::uint64_t data_ops_ = 0;
    bool explain_;
    TermTable terms_;
    SymbolicMemory memory_;
    ResultCheck result_;
    AccessHistory history_;
    Explainer explainer_;
};

// What a schedule must contain to show the finding.
std::vector<Event> shown(const Finding& finding) {
    std::vector<Event> events = finding.events;
    events.insert(events.end(), finding.causes.begin(), finding.causes.end());
    return events;
}

// Remembers the clocks of some events.
class ClockObserver : public CausalRun::Observer {
public:
    explicit ClockObserver(const std::vector<Finding>& findings) {
        for (const Finding& finding : findings) {
            for (const Event event : shown(finding)) clocks_[{event.agent, event.op}] = {};
        }
    }
    void on_event(Event event, const Clocks& clocks) override {
        const auto found = clocks_.find({event.agent, event.op});
        if (found == clocks_.end()) return;
        const auto row = clocks.row(event.agent);
        found->second.assign(row.begin(), row.end());
    }
    const std::vector<std::uint32_t>& clock(Event event) const {
        return clocks_.at({event.agent, event.op});
    }

private:
    std::map<std::pair<AgentId, std::uint32_t>, std::vector<std::uint32_t>> clocks_;
};

// Where there is a race, contents depend on the schedule: what they are in this run says little. (A
// barrier that lets somebody through is no race of contents.)
void keep_causes(std::vector<Finding>& findings) {
    const auto is_race = [](const Finding& finding) {
        return finding.kind == ViolationKind::data_race ||
               finding.kind == ViolationKind::pipe_hazard;
    };
    if (std::none_of(findings.begin(), findings.end(), is_race)) return;
    std::erase_if(findings, [&](const Finding& finding) {
        return !finding.simultaneous && (finding.kind == ViolationKind::wrong_result ||
                                         finding.kind == ViolationKind::unwritten_read);
    });
}

// How far each agent must have come for a finding to show.
std::vector<std::uint32_t> past_of(const Model& model, const Finding& finding,
                                   const ClockObserver& clocks,
                                   const std::vector<std::uint32_t>& whole) {
    if (finding.whole_run) return whole;
    std::vector<std::uint32_t> until(model.agents.size(), 0);
    for (const Event event : shown(finding)) {
        const std::vector<std::uint32_t>& clock = clocks.clock(event);
        for (std::size_t a = 0; a < until.size(); ++a) until[a] = std::max(until[a], clock[a]);
    }
    if (finding.simultaneous) {
        for (const Event event : finding.events) until[event.agent] = event.op;
    }
    return until;
}

Schedule schedule_for(const Model& model, const Finding& finding,
                      const std::vector<std::uint32_t>& past) {
    Schedule schedule = linearise(model, past);
    if (finding.simultaneous) {
        schedule.insert(schedule.end(), finding.events.begin(), finding.events.end());
    }
    assert(is_possible(model, schedule));
    return schedule;
}

// Schedules for the findings with the smallest causal past, one of each sort.
std::vector<Shown> show(const Model& model, std::vector<Finding> findings, std::size_t most) {
    struct Candidate {
        Finding finding;
        std::vector<std::uint32_t> past;
        std::uint64_t size = 0;
    };
    keep_causes(findings);
    ClockObserver clocks(findings);
    Findings ignored(model);
    CausalRun run(model, clocks, ignored);
    // The answer is known; what shows it is worth the time that the answer took.
    CheckOptions unbounded;
    unbounded.max_seconds = std::numeric_limits<double>::infinity();
    unbounded.max_memory_bytes = std::numeric_limits<std::uint64_t>::max();
    Meter meter(unbounded);
    run.run(meter);
    std::vector<Candidate> candidates;
    for (Finding& finding : findings) {
        std::vector<std::uint32_t> past = past_of(model, finding, clocks, run.progress());
        const auto size = std::accumulate(past.begin(), past.end(), std::uint64_t{0});
        candidates.push_back({std::move(finding), std::move(past), size});
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Candidate& a, const Candidate& b) { return a.size < b.size; });
    std::vector<Shown> shown;
    std::set<std::vector<std::uint64_t>> sorts;
    for (Candidate& candidate : candidates) {
        const Finding& finding = candidate.finding;
        if (shown.size() == most) break;
        if (!sorts.insert(sort_of(model, finding.kind, finding.events)).second) continue;
        Schedule schedule = schedule_for(model, finding, candidate.past);
        shown.push_back({std::move(candidate.finding), std::move(schedule)});
    }
    return shown;
}

// A run of its own, round by round, until it is clear that all later rounds are like the last. What
// is wrong is left to the run that goes through all calls as they come.
LinearResult run_until_it_repeats(const Model& model, Meter& meter) {
    const auto round = static_cast<std::uint32_t>(model.stages->size());
    const std::uint32_t turns = model.turn_rounds;  // rounds that are compared as one
    LinearResult result;
    Findings findings(model);
    DataObserver observer(model, findings, false, meter);
    CausalRun run(model, observer, findings);
    Repetition repetition(model);
    for (std::uint32_t rounds = 1; rounds * round <= model.calls && !result.repeats; ++rounds) {
        if (!run.run_to(rounds * round, meter)) return result;
        if (rounds % turns != 0) {
            if (!run.ends_right()) return result;  // who makes so many calls only
            continue;
        }
        result.repeats = observer.repeats(repetition, rounds / turns, run);
        meter.use(repetition.memory_bytes());
    }
    result.why_not_any = repetition.why_not();
    result.may_settle = repetition.may_settle();
    result.rounds_that_fit = repetition.rounds_that_fit() * turns;
    return result;
}

}  // namespace

LinearResult look_for_repetition(const Model& model, Meter& meter) {
    const std::uint64_t bytes = CausalRun::bytes_for(model);
    meter.hold(bytes);
    LinearResult result = run_until_it_repeats(model, meter);
    meter.release(bytes);
    return result;
}

LinearResult check_linear(const Model& model, const CheckOptions& options, Meter& meter) {
    const std::uint64_t bytes = CausalRun::bytes_for(model);
    meter.hold(bytes);
    LinearResult result;
    const bool has_rounds =
        model.calls >= std::uint64_t{kRoundsToCompare} * model.turn_rounds * model.stages->size();
    if (options.any_calls && has_rounds) result = run_until_it_repeats(model, meter);
    if (result.repeats && !options.explain) {
        meter.release(bytes);
        return result;
    }
    Findings findings(model);
    DataObserver observer(model, findings, options.explain, meter);
    CausalRun run(model, observer, findings);
    const CausalRun::End end = run.run(meter);
    meter.release(bytes);
    result.broken_assumption = run.broken_assumption();
    if (end != CausalRun::End::done) return result;
    if (!findings.empty()) {
        result.violations = show(model, std::move(findings.list()), options.max_violations);
    }
    if (options.explain && result.violations.empty()) {
        result.explanations = observer.explanations();
    }
    return result;
}

}  // namespace peal::checker
