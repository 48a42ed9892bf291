// SPDX-License-Identifier: Apache-2.0
#include "check/causal_run.hpp"

#include <algorithm>
#include <array>
#include <cassert>

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
    while (call_ < model_.calls && broken_.empty() && !overflowed_) {
        if (ready_[call_].empty()) {
            ++call_;
            continue;
        }
        const AgentId agent = ready_[call_].front();
        ready_[call_].pop_front();
        const std::uint64_t before = events_;
        run_agent(agent);
        meter.count_states(events_);
        meter.work(events_ - before);
    }
    if (!broken_.empty()) return End::outside;
    if (overflowed_) return End::done;
    for (AgentId agent = 0; agent < next_.size(); ++agent) {
        if (next_[agent] < model_.agents[agent].ops.size()) {
            report_blocked();
            return End::done;
        }
    }
    check_end();
    return End::done;
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
    if (is_exact && cell.value > op.value) {
        leave(2, agent, fmt::format("the wait is == and the cell holds {} already", cell.value));
        return false;
    }
    if (cell.value >= threshold_of(op)) return true;
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
    if (model_.cells[op.cell].writers.size() == 1) return;
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
    const std::int64_t threshold = threshold_of(op);
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
    const Event event{agent, next_[agent]};
    if (findings_.wants(ViolationKind::stale_signal, {event})) {
        findings_.add(stale_finding(model_, event, held));
    }
}

// ---------------------------------------------------------------------------- the end

void CausalRun::report_blocked() {
    findings_.add(blocked_finding(model_, next_, [&](CellId cell) { return cells_[cell].value; }));
}

void CausalRun::check_end() {
    for (CellId id = 0; id < cells_.size(); ++id) {
        if (cells_[id].records.empty()) continue;
        const Event last = cells_[id].records.back().notify.event();
        std::optional<Finding> finding = end_finding(model_, id, cells_[id].value, last);
        if (finding && findings_.wants(finding->kind, finding->events)) {
            findings_.add(std::move(*finding));
        }
    }
}

void CausalRun::leave(int assumption, AgentId agent, const std::string& why) {
    broken_ = fmt::format("assumption {} ({}): {}: {}", assumption, sentence_of(assumption),
                          text_of(model_, {agent, next_[agent]}), why);
}

}  // namespace peal::checker
