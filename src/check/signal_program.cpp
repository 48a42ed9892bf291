// SPDX-License-Identifier: Apache-2.0
#include "check/signal_program.hpp"

#include <algorithm>
#include <cassert>
#include <optional>

#include "check/signal_rules.hpp"
#include "check/touch.hpp"

namespace peal::checker {

namespace {

// A segment, the signal op before it, and what the containers need beside them.
constexpr std::uint64_t kPerSegment = sizeof(Segment) + sizeof(SignalOp) + 128;

// Cuts the touches of one region at each other's ends.
void cover(std::vector<const Touch*> touches, std::vector<Covered>& list) {
    std::vector<std::uint64_t> ends;
    for (const Touch* touch : touches) {
        ends.push_back(touch->begin);
        ends.push_back(touch->end);
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::vector<const Touch*> open;
    std::size_t next = 0;
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
        std::erase_if(open, [&](const Touch* touch) { return touch->end <= ends[i]; });
        for (; next < touches.size() && touches[next]->begin == ends[i]; ++next) {
            open.push_back(touches[next]);
        }
        if (open.empty()) continue;
        Covered covered{open.front()->region, ends[i], ends[i + 1], {}};
        for (const Touch* touch : open) covered.uses.add(touch->use);
        const bool continues = !list.empty() && list.back().region == covered.region &&
                               list.back().end == covered.begin && list.back().uses == covered.uses;
        if (continues) {
            list.back().end = covered.end;
        } else {
            list.push_back(covered);
        }
    }
}

void note_regions(Segment& segment) {
    std::vector<const Touch*> touches;
    for (const Touch& touch : segment.touches) touches.push_back(&touch);
    std::stable_sort(touches.begin(), touches.end(), [](const Touch* a, const Touch* b) {
        return a->region != b->region ? a->region < b->region : a->begin < b->begin;
    });
    for (auto first = touches.begin(); first != touches.end();) {
        const RegionId region = (*first)->region;
        const auto last = std::find_if(first, touches.end(),
                                       [&](const Touch* touch) { return touch->region != region; });
        const bool is_changed =
            std::any_of(first, last, [](const Touch* touch) { return changes(touch->use); });
        segment.regions.push_back({region, is_changed});
        cover({first, last}, segment.covered);
        first = last;
    }
}

// Bytes that both cover and in which something conflicts: the first such.
std::optional<Covered> meet(const std::vector<Covered>& a, const std::vector<Covered>& b) {
    for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
        const bool x_first = x->region != y->region ? x->region < y->region : x->end <= y->begin;
        const bool y_first = x->region != y->region ? y->region < x->region : y->end <= x->begin;
        if (!x_first && !y_first && conflict(x->uses, y->uses)) {
            return Covered{x->region, std::max(x->begin, y->begin), std::min(x->end, y->end), {}};
        }
        const bool x_ends = x_first || (!y_first && x->end <= y->end);
        ++(x_ends ? x : y);
    }
    return std::nullopt;
}

}  // namespace

SignalProgram::SignalProgram(const Model& model, Meter& meter)
    : tracks_(model.agents.size()),
      written_(model.cells.size()),
      awaited_(model.cells.size()),
      touchers_(model.cells.size()) {
    split(model, meter);
    find_windows();
    find_cells();
    place_slots(model);
    follow_values(model);
    link_waits(model);
    link_flags(model);
}

void SignalProgram::split(const Model& model, Meter& meter) {
    for (AgentId agent = 0; agent < model.agents.size(); ++agent) {
        const std::vector<Op>& ops = model.agents[agent].ops;
        std::uint32_t begin = 0;
        for (std::uint32_t i = 0; i < ops.size(); ++i) {
            meter.work();
            if (ops[i].kind == OpKind::data) continue;
            add_segment(model, agent, begin, i, meter);
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
            tracks_[agent].ops.push_back(std::move(signal));
        }
        add_segment(model, agent, begin, static_cast<std::uint32_t>(ops.size()), meter);
    }
}

void SignalProgram::add_segment(const Model& model, AgentId agent, std::uint32_t begin,
                                std::uint32_t end, Meter& meter) {
    Segment segment;
    segment.agent = agent;
    segment.first_op = begin;
    segment.last_op = end;
    for (std::uint32_t op = begin; op < end; ++op) {
        const Event event{agent, op};
        for_each_touch(model, event,
                       [&](RegionId region, std::uint64_t from, std::uint64_t to, const Use& use) {
                           segment.touches.push_back({region, from, to, use, event});
                           segment.has_contents |= model.regions[region].kind == RegionKind::data;
                       });
    }
    note_regions(segment);
    segment.touches.shrink_to_fit();
    segment.covered.shrink_to_fit();
    meter.hold(kPerSegment + segment.touches.size() * sizeof(Touch) +
               segment.covered.size() * sizeof(Covered));
    Track& track = tracks_[agent];
    track.data_ops.push_back({begin, end});
    if (segment.touches.empty()) {
        track.segment.push_back(kNone);
    } else {
        track.segment.push_back(static_cast<std::uint32_t>(segments_.size()));
        segments_.push_back(std::move(segment));
    }
}

void SignalProgram::find_windows() {
    for (Track& track : tracks_) {
        Position begin = 0;
        bool quiet = true;
        for (Position p = 0; p <= track.ops.size(); ++p) {
            if (p > 0 && !track.ops[p - 1].is_wait) {
                begin = p;
                quiet = true;
            }
            if (p > 0 && track.ops[p - 1].is_wait && track.ops[p - 1].is_flag) quiet = false;
            if (track.segment[p] != kNone) quiet = false;
            track.window.push_back(begin);
            track.quiet.push_back(quiet);
        }
    }
}

void SignalProgram::find_cells() {
    const auto note = [](std::vector<Toucher>& list, AgentId agent, Position position) {
        if (list.empty() || list.back().agent != agent) list.push_back({agent, {}});
        list.back().ops.push_back(position);
    };
    for (AgentId agent = 0; agent < tracks_.size(); ++agent) {
        for (Position p = 0; p < tracks_[agent].ops.size(); ++p) {
            const SignalOp& op = tracks_[agent].ops[p];
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
    for (Track& track : tracks_) {
        for (SignalOp& op : track.ops) op.slot = slot_of[op.cell];
    }
}

void SignalProgram::follow_values(const Model& model) {
    for (CellId cell = 0; cell < model.cells.size(); ++cell) {
        const CellInfo& info = model.cells[cell];
        for (const Toucher& writer : written_[cell]) {
            std::int64_t value = 0;
            for (const Position p : writer.ops) {
                SignalOp& op = tracks_[writer.agent].ops[p];
                value = op.notify == NotifyOp::set ? op.value : value + op.value;
                op.value_after = value;
                op.may_overflow = info.may_overflow;
            }
        }
    }
}

void SignalProgram::link_waits(const Model& model) {
    for (AgentId agent = 0; agent < tracks_.size(); ++agent) {
        for (SignalOp& wait : tracks_[agent].ops) {
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
            const SignalOp& op = tracks_[writer.agent].ops[p];
            if (op.notify != NotifyOp::add || op.value < 0) return false;
        }
    }
    return true;
}

void SignalProgram::link_fresh(const Model& model, std::uint32_t call, SignalOp& wait) const {
    for (const Toucher& writer : written_[wait.cell]) {
        const auto first = std::find_if(writer.ops.begin(), writer.ops.end(), [&](Position p) {
            return model.agents[writer.agent].ops[tracks_[writer.agent].ops[p].op].call >= call;
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
            value = tracks_[writers[0].agent].ops[p].value_after;
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
        Track& track = tracks_[sets.agent];
        for (std::size_t k = 1; k < sets.ops.size() && k <= waits.ops.size(); ++k) {
            SignalOp& set = track.ops[sets.ops[k]];
            set.taken_by = {waits.agent, waits.ops[k - 1]};
            set.previous_set = track.ops[sets.ops[k - 1]].op;
        }
    }
}

bool SignalProgram::conflict(std::uint32_t a, std::uint32_t b) const {
    const std::uint64_t key = std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
    const auto known = conflicts_.find(key);
    if (known != conflicts_.end()) return known->second;
    const bool does = meet(segments_[a].covered, segments_[b].covered).has_value();
    return conflicts_.emplace(key, does).first->second;
}

std::pair<Touch, Touch> SignalProgram::clash(std::uint32_t a, std::uint32_t b) const {
    const Covered place = meet(segments_[a].covered, segments_[b].covered).value();
    const auto touches = [&](const Segment& segment) {
        std::vector<const Touch*> list;
        for (const Touch& touch : segment.touches) {
            const bool is_there =
                touch.region == place.region && touch.begin < place.end && place.begin < touch.end;
            if (is_there) list.push_back(&touch);
        }
        return list;
    };
    for (const Touch* x : touches(segments_[a])) {
        for (const Touch* y : touches(segments_[b])) {
            if (conflicts(*x, *y)) return {*x, *y};
        }
    }
    assert(false);
    return {};
}

std::uint64_t SignalProgram::memory_bytes() const {
    constexpr std::uint64_t kPerPair = 48;
    return conflicts_.size() * kPerPair;
}

}  // namespace peal::checker
