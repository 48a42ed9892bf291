// SPDX-License-Identifier: Apache-2.0
#include "check/signal_rules.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace peal::checker {
namespace {

constexpr std::size_t kNamed = 4;

}  // namespace

bool fits_cell(const CellInfo& cell, std::int64_t value) {
    if (cell.element != Element::i32) return true;
    return value >= std::numeric_limits<std::int32_t>::min() &&
           value <= std::numeric_limits<std::int32_t>::max();
}

Finding overflow_finding(const Model& model, Event notify, std::int64_t value) {
    Finding finding;
    finding.kind = ViolationKind::overflow;
    finding.events = {notify};
    finding.memory = text_of_cell(model, model.op(notify).cell);
    finding.found = std::to_string(value);
    finding.message = fmt::format("{} makes {} {}, which does not fit an i32",
                                  text_of(model, notify), finding.memory, value);
    return finding;
}

Finding stale_finding(const Model& model, Event wait, std::int64_t value) {
    const Op& op = model.op(wait);
    Finding finding;
    finding.kind = ViolationKind::stale_signal;
    finding.events = {wait};
    finding.memory = text_of_cell(model, op.cell);
    finding.found = std::to_string(value);
    finding.expected = fmt::format("a notify of call {}", op.call);
    finding.message = fmt::format(
        "{} passes before anybody has notified {} in call {}: it holds {}, left by an earlier call",
        text_of(model, wait), finding.memory, op.call, value);
    return finding;
}

Finding set_twice_finding(const Model& model, Event before, Event again) {
    Finding finding;
    finding.kind = ViolationKind::flag;
    finding.events = {before, again};
    finding.message = fmt::format(
        "{} may set its flag while it is still set: nothing makes it "
        "come after the wait_flag that takes the previous one",
        text_of(model, again));
    return finding;
}

Finding blocked_finding(const Model& model, const std::vector<std::uint32_t>& next,
                        const std::function<std::int64_t(CellId)>& value) {
    Finding finding;
    finding.whole_run = true;
    std::set<std::pair<std::int32_t, std::uint32_t>> waits_for_signal;  // lanes of ranks
    std::vector<Event> flags;
    for (AgentId a = 0; a < model.agents.size(); ++a) {
        if (next[a] == model.agents[a].ops.size()) continue;
        const Op& op = model.agents[a].ops[next[a]];
        if (op.origin == Origin::issue) continue;
        if (op.is_flag) {
            flags.push_back({a, next[a]});
        } else {
            waits_for_signal.insert({model.agents[a].rank, model.agents[a].lane});
            finding.events.push_back({a, next[a]});
        }
    }
    // A flag is to blame when no signal keeps its lane from setting it.
    const auto is_cause = [&](Event event) {
        const Agent& agent = model.agents[event.agent];
        return !waits_for_signal.contains({agent.rank, agent.lane});
    };
    const bool by_flag = std::any_of(flags.begin(), flags.end(), is_cause);
    finding.kind = by_flag ? ViolationKind::flag : ViolationKind::deadlock;
    if (by_flag) finding.events = flags;

    std::string list;
    for (std::size_t i = 0; i < finding.events.size() && i < kNamed; ++i) {
        const Op& op = model.op(finding.events[i]);
        list += (i == 0 ? "" : "; ") + text_of(model, finding.events[i]);
        if (!op.is_flag) {
            list += fmt::format(" sees {} in {}", value(op.cell), text_of_cell(model, op.cell));
        }
    }
    if (finding.events.size() > kNamed) {
        list += fmt::format("; and {} more", finding.events.size() - kNamed);
    }
    finding.message = "nobody can go on: " + list;
    return finding;
}

std::optional<Finding> end_finding(const Model& model, CellId id, std::uint32_t calls,
                                   std::int64_t value, Event last) {
    const CellInfo& cell = model.cells[id];
    const bool start_matters = cell.role == CellRole::signal && cell.has_add &&
                               !cell.waiters.empty() && !cell.writers.empty();
    const bool is_repeated = model.calls > model.stages->size();
    if (!is_repeated || !start_matters) return std::nullopt;
    const std::int64_t expected = cell.per_generation * model.storage_of_cell(id).generation[calls];
    if (value == expected) return std::nullopt;
    Finding finding;
    finding.kind = ViolationKind::signal_state;
    finding.whole_run = true;
    finding.events = {last};
    finding.memory = text_of_cell(model, id);
    finding.found = std::to_string(value);
    finding.expected = std::to_string(expected);
    finding.message =
        fmt::format("after all calls {} holds {}; the next call's waits count from {}",
                    finding.memory, value, expected);
    return finding;
}

}  // namespace peal::checker
