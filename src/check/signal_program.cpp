// SPDX-License-Identifier: Apache-2.0
#include "check/signal_program.hpp"

#include <algorithm>

#include "check/signal_rules.hpp"
#include "check/touch.hpp"

namespace peal::checker {

SignalProgram::SignalProgram(const Model& model)
    : lanes_(model.agents.size()),
      written_(model.cells.size()),
      awaited_(model.cells.size()),
      touchers_(model.cells.size()) {
    split(model);
    find_windows();
    find_cells();
    place_slots(model);
    follow_values(model);
    link_waits(model);
    link_flags(model);
    find_conflicts();
}

void SignalProgram::split(const Model& model) {
    for (AgentId agent = 0; agent < model.agents.size(); ++agent) {
        const std::vector<Op>& ops = model.agents[agent].ops;
        std::uint32_t begin = 0;
        for (std::uint32_t i = 0; i < ops.size(); ++i) {
            if (ops[i].kind == OpKind::data) continue;
            add_segment(model, agent, begin, i);
            begin = i + 1;
            SignalOp signal;
            signal.op = i;
            signal.is_wait = ops[i].kind == OpKind::wait;
            signal.is_flag = ops[i].is_flag;
            signal.cell = ops[i].cell;
            signal.notify = ops[i].notify;
            signal.value = ops[i].value;
            signal.condition = {ops[i].compare, ops[i].value};
            signal.may_be_stale = ops[i].may_be_stale;
            lanes_[agent].ops.push_back(std::move(signal));
        }
        add_segment(model, agent, begin, static_cast<std::uint32_t>(ops.size()));
    }
}

void SignalProgram::add_segment(const Model& model, AgentId agent, std::uint32_t begin,
                                std::uint32_t end) {
    Segment segment{agent, begin, end, {}, false};
    for (std::uint32_t op = begin; op < end; ++op) {
        const Event event{agent, op};
        for_each_touch(model, event,
                       [&](RegionId region, std::uint64_t from, std::uint64_t to, const Use& use) {
                           segment.touches.push_back({region, from, to, use, event});
                           segment.has_contents |= model.regions[region].kind == RegionKind::data;
                       });
    }
    Lane& lane = lanes_[agent];
    lane.data_ops.push_back({begin, end});
    if (segment.touches.empty()) {
        lane.segment.push_back(kNone);
    } else {
        lane.segment.push_back(static_cast<std::uint32_t>(segments_.size()));
        segments_.push_back(std::move(segment));
    }
}

void SignalProgram::find_windows() {
    for (Lane& lane : lanes_) {
        Position begin = 0;
        bool quiet = true;
        for (Position p = 0; p <= lane.ops.size(); ++p) {
            if (p > 0 && !lane.ops[p - 1].is_wait) {
                begin = p;
                quiet = true;
            }
            if (p > 0 && lane.ops[p - 1].is_wait && lane.ops[p - 1].is_flag) quiet = false;
            if (lane.segment[p] != kNone) quiet = false;
            lane.window.push_back(begin);
            lane.quiet.push_back(quiet);
        }
    }
}

void SignalProgram::find_cells() {
    const auto note = [](std::vector<Toucher>& list, AgentId agent, Position position) {
        if (list.empty() || list.back().agent != agent) list.push_back({agent, {}});
        list.back().ops.push_back(position);
    };
    for (AgentId agent = 0; agent < lanes_.size(); ++agent) {
        for (Position p = 0; p < lanes_[agent].ops.size(); ++p) {
            const SignalOp& op = lanes_[agent].ops[p];
            note(op.is_wait ? awaited_[op.cell] : written_[op.cell], agent, p);
            note(touchers_[op.cell], agent, p);
        }
    }
}

// The value of a cell with one writer follows from where that writer stands, and one that nobody
// waits for matters only if it may overflow.
void SignalProgram::place_slots(const Model& model) {
    std::vector<std::uint32_t> slot_of(model.cells.size(), kNone);
    for (CellId cell = 0; cell < model.cells.size(); ++cell) {
        const CellInfo& info = model.cells[cell];
        const bool matters = !awaited_[cell].empty() || info.may_overflow;
        if (written_[cell].size() < 2 || !matters) continue;
        slot_of[cell] = static_cast<std::uint32_t>(slots_.size());
        slots_.push_back({cell, info.least, info.most});
    }
    for (Lane& lane : lanes_) {
        for (SignalOp& op : lane.ops) op.slot = slot_of[op.cell];
    }
}

void SignalProgram::follow_values(const Model& model) {
    for (CellId cell = 0; cell < model.cells.size(); ++cell) {
        const CellInfo& info = model.cells[cell];
        for (const Toucher& writer : written_[cell]) {
            std::int64_t value = 0;
            for (const Position p : writer.ops) {
                SignalOp& op = lanes_[writer.agent].ops[p];
                value = op.notify == NotifyOp::set ? op.value : value + op.value;
                op.value_after = value;
                op.may_overflow = info.may_overflow;
            }
        }
    }
}

void SignalProgram::link_waits(const Model& model) {
    for (AgentId agent = 0; agent < lanes_.size(); ++agent) {
        for (SignalOp& wait : lanes_[agent].ops) {
            if (!wait.is_wait) continue;
            const bool upwards =
                wait.condition.compare == Compare::ge || wait.condition.compare == Compare::gt;
            wait.stays_true = upwards && others_only_raise(agent, wait.cell);
            if (wait.may_be_stale) link_fresh(model, model.agents[agent].ops[wait.op].call, wait);
            if (wait.slot == kNone) link_passes(agent, wait);
        }
    }
}

// What the waiter itself does to the cell comes after the wait.
bool SignalProgram::others_only_raise(AgentId waiter, CellId cell) const {
    for (const Toucher& writer : written_[cell]) {
        if (writer.agent == waiter) continue;
        for (const Position p : writer.ops) {
            const SignalOp& op = lanes_[writer.agent].ops[p];
            if (op.notify != NotifyOp::add || op.value < 0) return false;
        }
    }
    return true;
}

void SignalProgram::link_fresh(const Model& model, std::uint32_t call, SignalOp& wait) const {
    for (const Toucher& writer : written_[wait.cell]) {
        const auto first = std::find_if(writer.ops.begin(), writer.ops.end(), [&](Position p) {
            return model.agents[writer.agent].ops[lanes_[writer.agent].ops[p].op].call >= call;
        });
        if (first != writer.ops.end()) wait.fresh.push_back({writer.agent, *first});
    }
}

// Follows the value along the notifies of the only writer. A cell that nobody writes keeps its
// value whatever the waiter itself does.
void SignalProgram::link_passes(AgentId agent, SignalOp& wait) const {
    const std::vector<Toucher>& writers = written_[wait.cell];
    wait.writer = writers.empty() ? agent : writers[0].agent;
    std::int64_t value = 0;
    Position since = 0;
    const auto holds_until = [&](Position until) {
        if (!wait.condition.holds(value)) return;
        if (!wait.passes.empty() && wait.passes.back().end == since) {
            wait.passes.back().end = until;
        } else {
            wait.passes.push_back({since, until});
        }
    };
    if (!writers.empty()) {
        for (const Position p : writers[0].ops) {
            holds_until(p + 1);
            value = lanes_[writers[0].agent].ops[p].value_after;
            since = p + 1;
        }
    }
    holds_until(kForever);
}

void SignalProgram::link_flags(const Model& model) {
    for (CellId cell = 0; cell < model.cells.size(); ++cell) {
        if (model.cells[cell].role != CellRole::flag) continue;
        if (written_[cell].empty() || awaited_[cell].empty()) continue;
        const Toucher& sets = written_[cell][0];
        const Toucher& waits = awaited_[cell][0];
        Lane& lane = lanes_[sets.agent];
        for (std::size_t k = 1; k < sets.ops.size() && k <= waits.ops.size(); ++k) {
            SignalOp& set = lane.ops[sets.ops[k]];
            set.taken_by = {waits.agent, waits.ops[k - 1]};
            set.previous_set = lane.ops[sets.ops[k - 1]].op;
        }
    }
}

void SignalProgram::find_conflicts() {
    struct Toucher {
        std::uint32_t segment;
        const Touch* touch;
    };
    std::vector<std::vector<Toucher>> by_region;
    for (std::uint32_t s = 0; s < segments_.size(); ++s) {
        for (const Touch& touch : segments_[s].touches) {
            if (touch.region >= by_region.size()) by_region.resize(touch.region + 1);
            by_region[touch.region].push_back({s, &touch});
        }
    }
    conflicts_.resize(segments_.size());
    for (const std::vector<Toucher>& touchers : by_region) {
        for (std::size_t i = 0; i < touchers.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const auto& [a, x] = touchers[i];
                const auto& [b, y] = touchers[j];
                if (segments_[a].agent == segments_[b].agent || !checker::conflicts(*x, *y)) {
                    continue;
                }
                conflicts_[a].push_back(b);
                conflicts_[b].push_back(a);
            }
        }
    }
    for (std::vector<std::uint32_t>& list : conflicts_) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
}

}  // namespace peal::checker
