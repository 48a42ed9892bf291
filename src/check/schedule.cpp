// SPDX-License-Identifier: Apache-2.0
#include "check/schedule.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <optional>
#include <utility>

#include "check/condition.hpp"
#include "plan/access.hpp"

namespace peal::checker {

bool Replay::can_step(AgentId agent) const {
    const std::vector<Op>& ops = model_.agents[agent].ops;
    if (next_[agent] == ops.size()) return false;
    const Op& op = ops[next_[agent]];
    return op.kind != OpKind::wait || Condition{op.compare, op.value}.holds(cells_[op.cell]);
}

void Replay::step(AgentId agent) {
    const Op& op = model_.agents[agent].ops[next_[agent]++];
    if (op.kind != OpKind::notify) return;
    cells_[op.cell] = op.notify == NotifyOp::set ? op.value : cells_[op.cell] + op.value;
}

bool is_possible(const Model& model, const Schedule& schedule) {
    Replay replay(model);
    for (const Event event : schedule) {
        if (replay.progress()[event.agent] != event.op || !replay.can_step(event.agent)) {
            return false;
        }
        replay.step(event.agent);
    }
    return true;
}

Schedule linearise(const Model& model, const std::vector<std::uint32_t>& until) {
    Replay replay(model);
    Schedule schedule;
    for (bool moved = true; std::exchange(moved, false);) {
        for (AgentId agent = 0; agent < model.agents.size(); ++agent) {
            while (replay.progress()[agent] < until[agent] && replay.can_step(agent)) {
                schedule.push_back({agent, replay.progress()[agent]});
                replay.step(agent);
                moved = true;
            }
        }
    }
    assert(replay.progress() == until);
    return schedule;
}

Schedule shorten(const Model& model, Schedule schedule, std::size_t kept,
                 const std::function<bool(const Schedule&)>& still_shows) {
    const auto without_last_of = [&](AgentId agent) -> std::optional<Schedule> {
        for (std::size_t i = schedule.size() - kept; i-- > 0;) {
            if (schedule[i].agent != agent) continue;
            Schedule shorter = schedule;
            shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(i));
            if (is_possible(model, shorter) && still_shows(shorter)) return shorter;
            return std::nullopt;
        }
        return std::nullopt;
    };
    for (bool moved = true; std::exchange(moved, false);) {
        for (AgentId agent = 0; agent < model.agents.size(); ++agent) {
            while (std::optional<Schedule> shorter = without_last_of(agent)) {
                schedule = std::move(*shorter);
                moved = true;
            }
        }
    }
    return schedule;
}

Step step_of(const Model& model, Event event) {
    const Op& op = model.op(event);
    Step step;
    step.call = static_cast<std::int32_t>(op.call);
    step.stage = static_cast<std::int32_t>(model.stage_of(op.call));
    step.rank = model.agents[event.agent].rank;
    step.index = op.origin == Origin::stages     ? Step::kStages
                 : op.origin == Origin::consumes ? Step::kConsumes
                                                 : static_cast<std::int32_t>(op.index);
    step.is_aside = op.origin == Origin::visible || op.origin == Origin::early;
    if (op.origin == Origin::early) step.range = 0;
    if (op.origin == Origin::visible) {
        step.range =
            static_cast<std::int32_t>(plan::range_count(model.instruction(event).action)) - 1;
    }
    return step;
}

namespace {

// What has been written to a cell so far, and by which step.
struct Write {
    std::int64_t value = 0;
    std::int32_t step = -1;
};

// The write since which the condition has held without a break.
std::int32_t releasing_step(const std::vector<Write>& writes, const Condition& condition) {
    std::int32_t step = -1;
    bool held = condition.holds(0);
    for (const Write& write : writes) {
        const bool holds = condition.holds(write.value);
        if (holds && !held) step = write.step;
        held = holds;
    }
    return step;
}

}  // namespace

std::vector<Step> steps_of(const Model& model, const Schedule& schedule) {
    std::vector<Step> steps;
    std::map<CellId, std::vector<Write>> writes;
    // The touch of a cache line is no step: the notify behind it is, if it comes; nor is that bytes
    // come to be seen. Two that clash come last.
    const auto is_line = [&](Event event) { return model.op(event).origin == Origin::line; };
    const auto lines = std::find_if_not(schedule.rbegin(), schedule.rend(), is_line).base();
    const auto last_two = schedule.end() - std::min<std::ptrdiff_t>(2, std::ssize(schedule));
    const auto is_aside = [&](Schedule::const_iterator at) {
        const Origin origin = model.op(*at).origin;
        const bool is_view = origin == Origin::visible || origin == Origin::early;
        return (origin == Origin::line && at < lines) || (is_view && at < last_two);
    };
    for (auto at = schedule.begin(); at != schedule.end(); ++at) {
        const Event event = *at;
        const Op& op = model.op(event);
        if (op.origin == Origin::issue || is_aside(at)) continue;
        Step step = step_of(model, event);
        if (op.kind == OpKind::notify) {
            std::vector<Write>& list = writes[op.cell];
            const std::int64_t before = list.empty() ? 0 : list.back().value;
            const bool sets = op.notify == NotifyOp::set;
            list.push_back(
                {sets ? op.value : before + op.value, static_cast<std::int32_t>(steps.size())});
        } else if (op.kind == OpKind::wait) {
            step.released_by = releasing_step(writes[op.cell], {op.compare, op.value});
        }
        steps.push_back(step);
    }
    return steps;
}

}  // namespace peal::checker
