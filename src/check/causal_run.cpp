// SPDX-License-Identifier: Apache-2.0
#include "check/causal_run.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <unordered_map>

#include <fmt/format.h>

#include "check/signal_rules.hpp"

namespace peal::checker {
namespace {

std::int64_t threshold_of(const Op& op) { return op.value + (op.compare == Compare::gt); }

// Of docs/proof.md. The first, that lists are fixed, holds of every plan.
std::string_view sentence_of(int assumption) {
    constexpr std::array<std::string_view, 3> kSentences = {
        "waits are >= or exact", "cells never shrink",
        "each cell has writers in a fixed order, or one waiter that takes all their additions"};
    return kSentences[static_cast<std::size_t>(assumption - 2)];
}

}  // namespace

CausalRun::CausalRun(const Model& model, Observer& observer, Findings& findings)
    : model_(model),
      observer_(observer),
      findings_(findings),
      clocks_(model.agents.size()),
      next_(model.agents.size(), 0),
      cells_(model.cells.size()),
      ready_(model.calls) {
    for (AgentId agent = 0; agent < model.agents.size(); ++agent) make_ready(agent);
}

void CausalRun::make_ready(AgentId agent) {
    const std::vector<Op>& ops = model_.agents[agent].ops;
    if (next_[agent] == ops.size()) return;
    const std::uint32_t call = ops[next_[agent]].call;
    ready_[call].push_back(agent);
    call_ = std::min(call_, call);
}

CausalRun::End CausalRun::run(Meter& meter) {
    run_to(model_.calls, meter);
    if (!broken_.empty()) return End::outside;
    finish();
    return End::done;
}

bool CausalRun::is_done(AgentId agent) const {
    const std::vector<Op>& ops = model_.agents[agent].ops;
    return next_[agent] == ops.size() || ops[next_[agent]].call >= call_;
}

bool CausalRun::run_to(std::uint32_t calls, Meter& meter) {
    while (call_ < calls && broken_.empty() && !overflowed_) {
        if (ready_[call_].empty()) {
            ++call_;
            continue;
        }
        const AgentId agent = ready_[call_].front();
        ready_[call_].pop_front();
        const std::uint64_t before = events_;
        run_agent(agent);
        meter.count_events(events_);
        meter.work(events_ - before);
    }
    if (!broken_.empty() || overflowed_) return false;
    // Whoever was first in these calls, the next begin in one order.
    if (calls < model_.calls) std::sort(ready_[calls].begin(), ready_[calls].end());
    for (AgentId agent = 0; agent < next_.size(); ++agent) {
        if (!is_done(agent)) return false;
    }
    return true;
}

void CausalRun::run_agent(AgentId agent) {
    const std::uint32_t call = call_;
    const std::vector<Op>& ops = model_.agents[agent].ops;
    while (next_[agent] < ops.size() && broken_.empty() && !overflowed_) {
        const Op& op = ops[next_[agent]];
        if (op.call != call) return make_ready(agent);
        if (op.kind == OpKind::wait && !can_pass(agent, op)) return;
        clocks_.tick(agent);
        if (op.kind == OpKind::wait) wait(agent, op);
        if (op.kind == OpKind::notify) notify(agent, op);
        observer_.on_event({agent, next_[agent]}, clocks_);
        ++next_[agent];
        ++events_;
    }
}

bool CausalRun::can_pass(AgentId agent, const Op& op) {
    CellState& cell = cells_[op.cell];
    const bool is_exact = op.compare == Compare::eq;
    if (!is_exact && op.compare != Compare::ge && op.compare != Compare::gt) {
        leave(2, agent, "the wait is neither >= nor ==");
        return false;
    }
    if (is_exact && cell.value - cell.taken > op.value) {
        leave(2, agent,
              fmt::format("the wait is == and the cell holds {} already", cell.value - cell.taken));
        return false;
    }
    if (cell.value - cell.taken >= threshold_of(op)) return true;
    cell.blocked.push_back(agent);
    return false;
}

// ---------------------------------------------------------------------------- notify

void CausalRun::notify(AgentId agent, const Op& op) {
    CellState& cell = cells_[op.cell];
    const CellInfo& info = model_.cells[op.cell];
    const bool is_awaited = !info.waiters.empty();
    // Nobody looks at it, and it fits in every order.
    if (!is_awaited && !info.may_overflow) return;
    if (model_.takes_back(agent, op)) return take_back(agent, op);
    const std::int64_t value = op.notify == NotifyOp::set ? op.value : cell.value + op.value;
    if (is_awaited && value < cell.value) {
        return leave(3, agent, fmt::format("the cell goes from {} down to {}", cell.value, value));
    }
    if (op.is_flag) check_flag(agent, op, cell);
    check_exact(agent, cell);
    check_order(agent, op, cell);
    if (broken_.empty() && !fits_cell(info, value)) report_overflow(agent, cell, value);
    cell.value = value;
    cell.records.push_back(
        {clocks_.now(agent), op.call, value, is_awaited ? clocks_.snapshot(agent) : kNone});
    for (const AgentId blocked : cell.blocked) make_ready(blocked);
    cell.blocked.clear();
}

// Nobody else waits for the cell, and this agent's waits know of it.
void CausalRun::take_back(AgentId agent, const Op& op) {
    CellState& cell = cells_[op.cell];
    if (model_.cells[op.cell].may_overflow) {
        return leave(3, agent, "it takes back from a cell that may overflow");
    }
    cell.taken -= op.value;
    cell.last_take = clocks_.now(agent);
}

// Whoever waits for exactly a value has seen it before it changes again.
void CausalRun::check_exact(AgentId agent, const CellState& cell) {
    for (const Epoch wait : cell.exact) {
        if (clocks_.knows(agent, wait)) continue;
        return leave(
            2, agent,
            fmt::format("it need not come after {}, which is ==", text_of(model_, wait.event())));
    }
}

void CausalRun::check_order(AgentId agent, const Op& op, CellState& cell) {
    if (model_.cells[op.cell].raisers == 1) return;
    if (!cell.records.empty() && !clocks_.knows(agent, cell.records.back().notify)) {
        cell.chained = false;
    }
    const bool is_addition = op.notify == NotifyOp::add && op.value > 0;
    if (!is_addition || !clocks_.knows(agent, cell.last_wait)) cell.summed = false;
    if (cell.chained || cell.summed) return;
    leave(4, agent,
          model_.cells[op.cell].waiters.empty()
              ? "the cell has several writers that are not ordered, and it may overflow"
              : "the cell has several writers that are not ordered, and a wait that does not take "
                "all their additions");
}

void CausalRun::check_flag(AgentId agent, const Op& op, const CellState& cell) {
    if (op.value == 1) return;
    const bool previous_was_taken = cell.guaranteed == op.value - 1 && cell.last_wait.time != 0 &&
                                    clocks_.knows(agent, cell.last_wait);
    const Event event{agent, next_[agent]};
    if (previous_was_taken || !findings_.wants(ViolationKind::flag, {event})) return;
    findings_.add(set_twice_finding(model_, cell.records.back().notify.event(), event));
}

void CausalRun::report_overflow(AgentId agent, const CellState& cell, std::int64_t value) {
    overflowed_ = true;
    Finding finding = overflow_finding(model_, {agent, next_[agent]}, value);
    for (const Record& record : cell.records) finding.causes.push_back(record.notify.event());
    findings_.add(std::move(finding));
}

// ---------------------------------------------------------------------------- wait

void CausalRun::wait(AgentId agent, const Op& op) {
    CellState& cell = cells_[op.cell];
    const CellInfo& info = model_.cells[op.cell];
    const std::int64_t threshold = threshold_of(op) + cell.taken;
    const bool sole_waiter = info.waiters.size() == 1;
    // What the only waiter is sure of, it need not learn again.
    if (threshold > (sole_waiter ? cell.guaranteed : 0)) {
        if (cell.value != threshold || !sole_waiter) cell.summed = false;
        if (cell.chained) {
            join_chained(agent, cell, threshold, sole_waiter);
        } else if (cell.summed) {
            join_all(agent, cell);
        } else {
            return leave(4, agent,
                         "the cell has several writers that are not ordered, and the "
                         "wait does not take all their additions");
        }
        cell.last_wait = clocks_.now(agent);
    }
    if (op.compare == Compare::eq) {
        std::erase_if(cell.exact, [&](const Epoch& wait) { return wait.agent == agent; });
        cell.exact.push_back(clocks_.now(agent));
    }
    if (op.may_be_stale) check_stale(agent, op, cell);
}

// Only the first notify that satisfies the wait is sure to have come.
void CausalRun::join_chained(AgentId agent, CellState& cell, std::int64_t threshold,
                             bool sole_waiter) {
    const auto first = std::lower_bound(
        cell.records.begin() + static_cast<std::ptrdiff_t>(cell.joined), cell.records.end(),
        threshold, [](const Record& record, std::int64_t value) { return record.value < value; });
    assert(first != cell.records.end());
    join(agent, *first);
    cell.guaranteed = std::max(cell.guaranteed, first->value);
    if (!sole_waiter) return;
    const auto known = static_cast<std::size_t>(first - cell.records.begin()) + 1;
    for (; cell.joined < known; ++cell.joined) {
        clocks_.release(cell.records[cell.joined].snapshot);
    }
}

void CausalRun::join_all(AgentId agent, CellState& cell) {
    for (; cell.joined < cell.records.size(); ++cell.joined) {
        join(agent, cell.records[cell.joined]);
        clocks_.release(cell.records[cell.joined].snapshot);
    }
    cell.guaranteed = cell.value;
}

void CausalRun::join(AgentId agent, const Record& record) {
    clocks_.join(agent, record.snapshot, record.notify);
    observer_.on_join({agent, next_[agent]}, record.notify.event());
}

void CausalRun::check_stale(AgentId agent, const Op& op, const CellState& cell) {
    std::int64_t held = 0;
    for (const Record& record : cell.records) {
        if (!clocks_.knows(agent, record.notify)) continue;
        if (record.call >= op.call) return;
        held = record.value;
    }
    held -= cell.taken;
    if (cell.last_take.time != 0 && model_.op(cell.last_take.event()).call >= op.call) return;
    const Event event{agent, next_[agent]};
    if (findings_.wants(ViolationKind::stale_signal, {event})) {
        findings_.add(stale_finding(model_, event, held));
    }
}

// ---------------------------------------------------------------------------- the end

void CausalRun::report_blocked() {
    findings_.add(blocked_finding(model_, next_, [&](CellId cell) { return value(cell); }));
}

void CausalRun::finish() {
    if (overflowed_) return;
    for (AgentId agent = 0; agent < next_.size(); ++agent) {
        if (!is_done(agent)) return report_blocked();
    }
    for (CellId id = 0; id < cells_.size(); ++id) {
        const CellState& cell = cells_[id];
        if (cell.records.empty() && cell.last_take.time == 0) continue;
        const Epoch last = cell.records.empty() ? cell.last_take : cell.records.back().notify;
        std::optional<Finding> finding = end_finding(model_, id, call_, value(id), last.event());
        if (finding && findings_.wants(finding->kind, finding->events)) {
            findings_.add(std::move(*finding));
        }
    }
}

// ---------------------------------------------------------------------------- between two calls

// Numbers the snapshots that are described, and describes each once.
class CausalRun::SnapshotWords {
public:
    SnapshotWords(const Clocks& clocks, std::vector<std::uint64_t>& words)
        : clocks_(clocks), words_(words) {}

    // The number counts among those described; whoever has it describes the time of its agent.
    void put(AgentId of, Clocks::SnapshotId id) {
        const auto [found, is_new] = numbers_.try_emplace(id, numbers_.size());
        words_.push_back(found->second);
        if (!is_new) return;
        const auto known = clocks_.known_in(id);
        for (AgentId agent = 0; agent < known.size(); ++agent) {
            words_.push_back(agent == of ? 0 : clocks_.ago({agent, known[agent]}));
        }
    }

private:
    const Clocks& clocks_;
    std::vector<std::uint64_t>& words_;
    std::unordered_map<Clocks::SnapshotId, std::uint64_t> numbers_;
};

void CausalRun::describe(std::span<const std::int64_t> drift,
                         std::vector<std::uint64_t>& words) const {
    for (AgentId agent = 0; agent < next_.size(); ++agent) {
        const auto known = clocks_.row(agent);
        for (AgentId other = 0; other < known.size(); ++other) {
            words.push_back(clocks_.ago({other, known[other]}));
        }
    }
    SnapshotWords snapshots(clocks_, words);
    for (CellId id = 0; id < cells_.size(); ++id) {
        const CellInfo& info = model_.cells[id];
        if (info.waiters.empty()) continue;
        describe(cells_[id], info, drift[id] + cells_[id].taken, snapshots, words);
    }
}

bool CausalRun::all_know(const std::vector<AgentId>& agents, Epoch epoch) const {
    return std::all_of(agents.begin(), agents.end(),
                       [&](AgentId agent) { return clocks_.knows(agent, epoch); });
}

void CausalRun::describe(const CellState& cell, const CellInfo& info, std::int64_t base,
                         SnapshotWords& snapshots, std::vector<std::uint64_t>& words) const {
    const auto put = [&](std::int64_t number) {
        words.push_back(static_cast<std::uint64_t>(number));
    };
    // What all who ask know need not be known more closely.
    const auto put_epoch = [&](Epoch epoch, const std::vector<AgentId>& asking) {
        const bool is_settled = epoch.time != 0 && all_know(asking, epoch);
        put(is_settled ? -1 : std::int64_t{clocks_.ago(epoch)});
        put(is_settled ? 0 : epoch.agent);
    };
    put(cell.value - base);
    put((cell.chained ? 1 : 0) | (cell.summed ? 2 : 0));
    if (info.waiters.size() == 1) put(cell.guaranteed - base);
    put_epoch(cell.last_wait, info.writers);
    put_epoch(cell.records.empty() ? Epoch{} : cell.records.back().notify, info.writers);
    std::vector<Epoch> exact = cell.exact;
    std::sort(exact.begin(), exact.end(),
              [](const Epoch& a, const Epoch& b) { return a.agent < b.agent; });
    put(static_cast<std::int64_t>(exact.size()));
    for (const Epoch wait : exact) put_epoch(wait, info.writers);
    std::size_t first = cell.joined;
    while (first < cell.records.size() && all_know(info.waiters, cell.records[first].notify)) {
        ++first;
    }
    put(static_cast<std::int64_t>(cell.records.size() - first));
    put(first > 0 ? 1 : 0);
    if (first > 0) put(cell.records[first - 1].value - base);
    for (; first < cell.records.size(); ++first) {
        const Record& record = cell.records[first];
        put(record.value - base);
        put(clocks_.ago(record.notify));
        put(record.notify.agent);
        snapshots.put(record.notify.agent, record.snapshot);
    }
}

bool CausalRun::ends_right() const {
    for (CellId id = 0; id < cells_.size(); ++id) {
        const CellState& cell = cells_[id];
        if (cell.records.empty() && cell.last_take.time == 0) continue;
        if (end_finding(model_, id, call_, value(id), {})) return false;
    }
    return true;
}

void CausalRun::leave(int assumption, AgentId agent, const std::string& why) {
    broken_ = fmt::format("assumption {} ({}): {}: {}", assumption, sentence_of(assumption),
                          text_of(model_, {agent, next_[agent]}), why);
}

}  // namespace peal::checker
