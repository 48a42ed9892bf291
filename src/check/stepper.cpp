// SPDX-License-Identifier: Apache-2.0
#include "check/stepper.hpp"

#include <algorithm>
#include <utility>

#include "check/data_check.hpp"
#include "check/signal_rules.hpp"

namespace peal::checker {

Stepper::Stepper(const Model& model, Meter& meter)
    : model_(model), program_(model, meter), memory_(model, program_, meter) {
    has_contents_ = std::any_of(program_.segments().begin(), program_.segments().end(),
                                [](const Segment& segment) { return segment.has_contents; });
    for (AgentId agent = 0; agent < program_.tracks().size(); ++agent) {
        std::vector<std::uint64_t>& watched = watched_.emplace_back();
        for (const SignalOp& op : program_.tracks()[agent].ops) {
            watched.push_back(bit_of(agent));
            for (const Toucher& toucher : program_.touchers(op.cell)) {
                watched.back() |= bit_of(toucher.agent);
            }
        }
        watched.push_back(0);
    }
}

bool Stepper::fail(Finding finding) {
    finding_ = std::move(finding);
    return false;
}

bool Stepper::start(State& state) {
    state.position.assign(program_.tracks().size(), 0);
    state.slot.assign(program_.slots().size(), 0);
    state.memory = MemoryStates::kInitial;
    for (entered_ = 0; entered_ < state.position.size(); ++entered_) {
        if (!enter(state, entered_)) return false;
    }
    return settle(state, ~std::uint64_t{0});
}

bool Stepper::can_step(const State& state, AgentId agent) const {
    if (is_finished(state, agent)) return false;
    const SignalOp& op = next(state, agent);
    return !op.is_wait || can_pass(state, op);
}

bool Stepper::can_pass(const State& state, const SignalOp& wait) const {
    if (wait.slot != kNone) return wait.condition.holds(state.slot[wait.slot]);
    return passes_at(wait, state.position[wait.writer]);
}

bool Stepper::can_pass_for_good(const State& state, const SignalOp& wait) const {
    if (wait.slot != kNone) return wait.stays_true && can_pass(state, wait);
    return passes_for_good(wait, state.position[wait.writer]);
}

// ---------------------------------------------------------------------------- one step

bool Stepper::step(State& state, AgentId agent) {
    const SignalOp& op = next(state, agent);
    const Event event{agent, op.op};
    if (trace_) trace_->push_back(event);
    if (!op.is_wait) {
        if (!notify(state, agent, op)) return false;
    } else if (op.may_be_stale) {
        const auto has_come = [&](const PositionOf& notify) {
            return state.position[notify.agent] > notify.position;
        };
        if (std::none_of(op.fresh.begin(), op.fresh.end(), has_come)) {
            return fail(stale_finding(model_, event, value_of(state, op.cell)));
        }
    }
    ++state.position[agent];
    return enter(state, agent);
}

bool Stepper::notify(State& state, AgentId agent, const SignalOp& op) {
    const Event event{agent, op.op};
    if (op.taken_by.agent != kNone && may_still_be_set(state, op)) {
        Finding finding = set_twice_finding(model_, {agent, op.previous_set}, event);
        const Track& taker = program_.tracks()[op.taken_by.agent];
        finding.pending = {{op.taken_by.agent, taker.ops[op.taken_by.position].op}};
        return fail(std::move(finding));
    }
    std::int64_t value = op.value_after;
    if (op.slot != kNone) {
        std::int64_t& slot = state.slot[op.slot];
        value = slot = op.notify == NotifyOp::set ? op.value : slot + op.value;
    }
    if (op.may_overflow && !fits_cell(model_.cells[op.cell], value)) {
        return fail(overflow_finding(model_, event, value));
    }
    return true;
}

// The wait that takes the previous one has not come yet, or could as well come later: its agent
// has told nobody anything since.
bool Stepper::may_still_be_set(const State& state, const SignalOp& set) const {
    const Track& track = program_.tracks()[set.taken_by.agent];
    return set.taken_by.position >= track.window[state.position[set.taken_by.agent]];
}

bool Stepper::enter(State& state, AgentId agent) {
    const Track& track = program_.tracks()[agent];
    const Position position = state.position[agent];
    if (trace_) {
        const PositionRange& ops = track.data_ops[position];
        for (std::uint32_t op = ops.begin; op < ops.end; ++op) trace_->push_back({agent, op});
    }
    const std::uint32_t segment = track.segment[position];
    if (segment == kNone) return true;
    if (!check_clashes(state, segment)) return false;
    if (!program_.segments()[segment].has_contents) return true;
    Findings findings(model_);
    state.memory = memory_.after(state.memory, segment, findings);
    return findings.empty() || fail(std::move(findings.list().front()));
}

// Against what others have touched since they last told anybody anything: all that could as well
// happen now.
bool Stepper::check_clashes(const State& state, std::uint32_t segment) {
    const AgentId agent = program_.segments()[segment].agent;
    for (AgentId other = 0; other < entered_; ++other) {
        if (other == agent) continue;
        const Track& track = program_.tracks()[other];
        const Position now = state.position[other];
        for (Position p = track.window[now]; p <= now; ++p) {
            const std::uint32_t theirs = track.segment[p];
            if (theirs != kNone && program_.conflict(segment, theirs)) {
                return fail(clash(theirs, segment));
            }
        }
    }
    return true;
}

Finding Stepper::clash(std::uint32_t first, std::uint32_t second) const {
    const auto [x, y] = program_.clash(first, second);
    return clash_finding(
        model_, {x.event, y.event, x.region, std::max(x.begin, y.begin), std::min(x.end, y.end)});
}

// ---------------------------------------------------------------------------- steps at once

// Whether a step needs a choice depends on its own agent, and on where those stand who touch its
// cell; so only steps after whom somebody has moved are looked at again.
bool Stepper::settle(State& state, std::uint64_t moved) {
    while (moved != 0) {
        const std::uint64_t before = std::exchange(moved, 0);
        for (AgentId agent = 0; agent < state.position.size(); ++agent) {
            while ((watched_[agent][state.position[agent]] & (before | moved)) != 0 &&
                   needs_no_choice(state, agent)) {
                if (!step(state, agent)) return false;
                moved |= bit_of(agent);
            }
        }
    }
    return true;
}

// Nothing that others can do before this step depends on it or prevents it, and nothing that is
// checked is hidden by taking it now.
bool Stepper::needs_no_choice(const State& state, AgentId agent) const {
    const SignalOp& op = next(state, agent);
    if (op.is_wait) return can_pass_for_good(state, op);
    if (!program_.tracks()[agent].quiet[state.position[agent]]) return false;
    bool somebody_adds = false, somebody_is_blocked = false;
    for (const Toucher& toucher : program_.touchers(op.cell)) {
        if (toucher.agent == agent) continue;
        const Reach theirs = reach(state, toucher, op.notify);
        if (theirs == Reach::all) return false;
        somebody_adds |= theirs == Reach::addition;
        somebody_is_blocked |= theirs == Reach::blocked;
    }
    return !somebody_adds || !somebody_is_blocked;
}

Stepper::Reach Stepper::reach(const State& state, const Toucher& toucher, NotifyOp notify) const {
    const std::vector<SignalOp>& ops = program_.tracks()[toucher.agent].ops;
    auto next_op =
        std::lower_bound(toucher.ops.begin(), toucher.ops.end(), state.position[toucher.agent]);
    Reach so_far = Reach::nothing;
    for (; next_op != toucher.ops.end(); ++next_op) {
        const SignalOp& op = ops[*next_op];
        if (!op.is_wait) {
            // Where sums may overflow, they may in one order of additions and not in another.
            const bool commutes =
                notify == NotifyOp::add && op.notify == NotifyOp::add && !op.may_overflow;
            if (!commutes) return Reach::all;
            so_far = Reach::addition;
        } else if (op.may_be_stale || so_far == Reach::addition) {
            return Reach::all;
        } else if (!can_pass_for_good(state, op)) {
            return can_pass(state, op) ? Reach::all : Reach::blocked;
        }
    }
    return so_far;
}

// ---------------------------------------------------------------------------- the end

bool Stepper::check_end(const State& state) {
    for (AgentId agent = 0; agent < state.position.size(); ++agent) {
        if (!is_finished(state, agent)) return fail(blocked(state));
    }
    for (CellId cell = 0; cell < model_.cells.size(); ++cell) {
        if (model_.cells[cell].writers.empty()) continue;
        std::optional<Finding> finding =
            end_finding(model_, cell, model_.calls, value_of(state, cell), last_notify(cell));
        if (finding) return fail(std::move(*finding));
    }
    return true;
}

std::int64_t Stepper::value_of(const State& state, CellId cell) const {
    for (std::size_t i = 0; i < program_.slots().size(); ++i) {
        if (program_.slots()[i].cell == cell) return state.slot[i];
    }
    if (model_.cells[cell].writers.empty()) return 0;
    const AgentId writer = model_.cells[cell].writers.front();
    for (Position p = state.position[writer]; p-- > 0;) {
        const SignalOp& op = program_.tracks()[writer].ops[p];
        if (!op.is_wait && op.cell == cell) return op.value_after;
    }
    return 0;
}

Event Stepper::last_notify(CellId cell) const {
    const AgentId writer = model_.cells[cell].writers.back();
    const std::vector<SignalOp>& ops = program_.tracks()[writer].ops;
    const auto last = std::find_if(ops.rbegin(), ops.rend(), [&](const SignalOp& op) {
        return !op.is_wait && op.cell == cell;
    });
    return {writer, last->op};
}

Finding Stepper::blocked(const State& state) const {
    std::vector<std::uint32_t> next_ops;
    for (AgentId agent = 0; agent < state.position.size(); ++agent) {
        next_ops.push_back(is_finished(state, agent)
                               ? static_cast<std::uint32_t>(model_.agents[agent].ops.size())
                               : next(state, agent).op);
    }
    return blocked_finding(model_, next_ops, [&](CellId cell) { return value_of(state, cell); });
}

}  // namespace peal::checker
