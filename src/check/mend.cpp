// SPDX-License-Identifier: Apache-2.0
#include "check/mend.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "check/steps.hpp"
#include "plan/notes.hpp"
#include "plan/text.hpp"
#include "plan/titles.hpp"

namespace peal::checker {
namespace {

const Instruction& instruction_of(const Step& step, const std::vector<CheckStage>& stages) {
    return plan_of(step, stages).instructions[static_cast<std::size_t>(step.index)];
}

// ---------------------------------------------------------------------------- who waits for whom

// Somebody who waits, and the notify behind that wait which would let another go on.
struct Ringer {
    std::size_t who = 0;  // of those who wait
    const Instruction* notify = nullptr;
    bool is_of_this_call = true;
};

class Circle {
public:
    Circle(const std::vector<Step>& waiting, const std::vector<CheckStage>& stages)
        : waiting_(waiting), stages_(stages) {}

    std::string text() const {
        std::vector<Link> path;
        for (std::size_t at = 0;;) {
            const auto seen = std::find_if(path.begin(), path.end(),
                                           [&](const Link& link) { return link.who == at; });
            if (seen != path.end()) return lines({seen, path.end()});
            path.push_back({at, find_ringer(at)});
            if (!path.back().ringer) return lines({path.back()});
            at = path.back().ringer->who;
        }
    }

private:
    struct Link {
        std::size_t who;
        std::optional<Ringer> ringer;
    };

    // Of those who would ring in the same call one is better than who would in a later one, and
    // anybody is better than the one who waits.
    std::optional<Ringer> find_ringer(std::size_t who) const {
        const auto* wait = std::get_if<Wait>(&instruction_of(waiting_[who], stages_).action);
        if (!wait) return std::nullopt;
        for (std::size_t later = 0; later <= stages_.size(); ++later) {
            std::optional<Ringer> itself;
            for (std::size_t by = 0; by < waiting_.size(); ++by) {
                const Instruction* const notify = find_ring(who, *wait, by, later);
                if (!notify) continue;
                const Ringer ringer{by, notify, later == 0};
                if (by != who) return ringer;
                itself = ringer;
            }
            if (itself) return itself;
        }
        return std::nullopt;
    }

    // Behind the wait in its lane, or in any lane of a later call.
    const Instruction* find_ring(std::size_t who, const Wait& wait, std::size_t by,
                                 std::size_t later) const {
        Step step = waiting_[by];
        const auto index = static_cast<std::size_t>(step.index);
        const std::size_t stage = (static_cast<std::size_t>(step.stage) + later) % stages_.size();
        step.call += static_cast<std::int32_t>(later);
        step.stage = static_cast<std::int32_t>(stage);
        const Plan& plan = plan_of(step, stages_);
        const std::size_t end =
            later == 0 ? plan.lane_end(plan.lane_of(index)) : plan.instructions.size();
        for (std::size_t i = later == 0 ? index : 0; i < end; ++i) {
            const auto* notify = std::get_if<Notify>(&plan.instructions[i].action);
            if (notify && is_same_cell(who, wait, stage, *notify) &&
                helps(who, wait, step, *notify)) {
                return &plan.instructions[i];
            }
        }
        return nullptr;
    }

    bool is_same_cell(std::size_t who, const Wait& wait, std::size_t stage,
                      const Notify& notify) const {
        const CheckStage& its = stages_[static_cast<std::size_t>(waiting_[who].stage)];
        return notify.cell.rank == wait.cell.rank && notify.cell.index == wait.cell.index &&
               memory_name(stages_[stage], notify.cell.buffer) ==
                   memory_name(its, wait.cell.buffer);
    }

    // Sets what is waited for, or adds in its direction.
    bool helps(std::size_t who, const Wait& wait, const Step& notifier,
               const Notify& notify) const {
        const std::int64_t value = value_in(notifier, notify.value, notify.cell.buffer);
        if (notify.op == NotifyOp::set) {
            const std::int64_t wanted = value_in(waiting_[who], wait.value, wait.cell.buffer);
            return compares(value, wait.compare, wanted);
        }
        switch (wait.compare) {
            case Compare::ge:
            case Compare::gt: return value > 0;
            case Compare::le:
            case Compare::lt: return value < 0;
            case Compare::eq:
            case Compare::ne: break;
        }
        return value != 0;
    }

    std::int64_t value_in(const Step& step, const Value& value, std::uint16_t buffer) const {
        return value.constant + value.per_generation * generation_of(step, stages_, buffer);
    }

    std::string who(std::size_t at) const {
        return plan::who_title(plan_of(waiting_[at], stages_),
                               static_cast<std::size_t>(waiting_[at].index));
    }

    std::string lines(const std::vector<Link>& path) const {
        std::string text;
        for (const auto& [at, ringer] : path) {
            const Plan& plan = plan_of(waiting_[at], stages_);
            const Instruction& wait = instruction_of(waiting_[at], stages_);
            const std::string place = plan::place_text(wait, plan);
            text += fmt::format("  {} at `{}`{}", who(at), plan::report_text(wait, plan),
                                place.empty() ? "" : fmt::format(" ({})", place));
            if (!ringer) return text + " waits, and nobody is left to ring\n";
            const Plan& other = plan_of(waiting_[ringer->who], stages_);
            const std::string rung = plan::place_text(*ringer->notify, other);
            text += fmt::format(" waits for {} to ring{}{}\n",
                                ringer->who == at ? "itself" : who(ringer->who),
                                ringer->is_of_this_call ? "" : " in a later call",
                                rung.empty() ? "" : fmt::format(" ({})", rung));
        }
        return text;
    }

    const std::vector<Step>& waiting_;
    const std::vector<CheckStage>& stages_;
};

// ---------------------------------------------------------------------------- what would mend it

constexpr double kMostSeconds =
    10;  // far more than it takes: whether one is found is no matter of speed
constexpr std::size_t kMostInstructions = 20'000;  // of all ranks
constexpr std::uint64_t kMostStates = 100'000;
constexpr const char* kAdded = "added by the checker";

bool is_plain(const Plan& plan) {
    return plan.source && plan.lanes.empty() &&
           std::all_of(plan.instructions.begin(), plan.instructions.end(),
                       [](const Instruction& each) { return each.pipe == Pipe::none; });
}

// Syncs between what two lines do.
struct Pair {
    std::uint32_t after = 0;   // every rank has told all its peers behind this line's last work
    std::uint32_t before = 0;  // and heard from all before this line's first; 0: before it returns
};

// Instructions of the line: from the first on, and behind the last one.
std::pair<std::size_t, std::size_t> extent_of(const Plan& plan, std::uint32_t line) {
    std::size_t first = plan.instructions.size(), end = 0;
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
        if (plan.instructions[i].line != line) continue;
        first = std::min(first, i);
        end = i + 1;
    }
    return {first, end};
}

Plan with_pair(Plan plan, const Pair& pair) {
    Buffer cells;
    cells.name = kAdded;
    cells.kind = BufferKind::signal;
    cells.direction = Direction::inout;
    cells.element = Element::i64;
    cells.cells = static_cast<std::uint64_t>(plan.nranks);
    const auto buffer = static_cast<std::uint16_t>(plan.buffers.size());
    plan.buffers.push_back(cells);
    plan.advance.push_back(1);
    plan.notes = nullptr;
    const std::size_t after = extent_of(plan, pair.after).second;
    const std::size_t before =
        pair.before == 0 ? plan.instructions.size() : extent_of(plan, pair.before).first;
    std::vector<Instruction> tell, hear;
    for (std::int32_t peer = 0; peer < plan.nranks; ++peer) {
        if (peer == plan.rank) continue;
        Instruction notify, wait;
        notify.action =
            Notify{NotifyOp::set, {buffer, peer, static_cast<std::uint64_t>(plan.rank)}, {1, 1}};
        wait.action =
            Wait{Compare::ge, {buffer, plan.rank, static_cast<std::uint64_t>(peer)}, {1, 1}};
        tell.push_back(notify);
        hear.push_back(wait);
    }
    const auto insert = [&](std::size_t at, const std::vector<Instruction>& list) {
        plan.instructions.insert(plan.instructions.begin() + static_cast<std::ptrdiff_t>(at),
                                 list.begin(), list.end());
    };
    // The later one first, so that the other's place stays; at one place, first tell.
    if (before >= after) insert(before, hear);
    insert(after, tell);
    if (before < after) insert(before, hear);
    return plan;
}

bool proves(CheckStage stage, const std::vector<Plan>& plans, const CheckOptions& options) {
    stage.plans = &plans;
    return check({stage}, options).verdict == Verdict::proved;
}

bool proves(CheckStage stage, const Pair& pair, const CheckOptions& options) {
    std::vector<Plan> plans;
    for (const Plan& plan : *stage.plans) plans.push_back(with_pair(plan, pair));
    if (!stage.memory.empty()) stage.memory.emplace_back(kAdded);
    return proves(std::move(stage), plans, options);
}

// ---- one wait, for what is notified already

constexpr std::size_t kMostNotifies = 4;  // lines that are tried

// What `rank` would have to wait for: the last that the line sets in each of its cells.
std::vector<Instruction> waits_for(const std::vector<Plan>& plans, std::uint32_t line, int rank) {
    std::vector<Instruction> waits;
    for (const Plan& plan : plans) {
        for (const Instruction& each : plan.instructions) {
            const auto* const notify = std::get_if<Notify>(&each.action);
            if (!notify || each.line != line || notify->cell.rank != rank) continue;
            Instruction wait;
            wait.action = Wait{Compare::ge, notify->cell, notify->value};
            const auto same = std::find_if(waits.begin(), waits.end(), [&](const auto& other) {
                return std::get<Wait>(other.action).cell == notify->cell;
            });
            if (same == waits.end()) {
                waits.push_back(wait);
            } else {
                *same = wait;
            }
        }
    }
    return waits;
}

Plan with_waits(Plan plan, const std::vector<Instruction>& waits, std::uint32_t before) {
    const std::size_t at = before == 0 ? plan.instructions.size() : extent_of(plan, before).first;
    plan.notes = nullptr;
    plan.instructions.insert(plan.instructions.begin() + static_cast<std::ptrdiff_t>(at),
                             waits.begin(), waits.end());
    return plan;
}

// Lines that set cells behind the last work of `line`.
std::vector<std::uint32_t> notifies_behind(const Plan& plan, std::uint32_t line) {
    std::vector<std::uint32_t> lines;
    for (std::size_t i = extent_of(plan, line).second; i < plan.instructions.size(); ++i) {
        const Instruction& each = plan.instructions[i];
        const auto* const notify = std::get_if<Notify>(&each.action);
        if (!notify || notify->op != NotifyOp::set || each.line == 0) continue;
        if (std::find(lines.begin(), lines.end(), each.line) == lines.end())
            lines.push_back(each.line);
        if (lines.size() == kMostNotifies) break;
    }
    return lines;
}

// "before line 5"
std::string before_text(const Pair& pair, std::uint32_t line, const Source& source) {
    if (pair.before != 0) return "before " + source.place(line);
    return fmt::format("before the call returns ({} of the next call must come later)",
                       source.place(line));
}

// Of the rank of `first`, what it tells behind that; of the rank of `second`, what it waits for.
std::optional<std::string> one_wait(const CheckStage& stage, const Pair& pair, const Step& first,
                                    const Step& second, std::uint32_t line,
                                    const CheckOptions& options) {
    const std::vector<Plan>& plans = *stage.plans;
    const Plan& teller = plans[static_cast<std::size_t>(first.rank)];
    const Plan& waiter = plans[static_cast<std::size_t>(second.rank)];
    for (const std::uint32_t told : notifies_behind(teller, pair.after)) {
        const std::vector<Instruction> waits = waits_for(plans, told, second.rank);
        if (waits.empty()) continue;
        std::vector<Plan> changed;
        for (const Plan& plan : plans) {
            changed.push_back(with_waits(plan, waits_for(plans, told, plan.rank), pair.before));
        }
        if (!proves(stage, changed, options)) continue;
        return fmt::format(
            "it proves with one more wait, for what {} notifies, {}: on rank {}, "
            "`{}`{}",
            waiter.source->place(told), before_text(pair, line, *waiter.source), second.rank,
            plan::report_text(waits.front(), waiter),
            waits.size() == 1 ? "" : " and so on for each cell");
    }
    return std::nullopt;
}

std::optional<std::string> two_syncs(const CheckStage& stage, const Pair& pair, std::uint32_t line,
                                     const CheckOptions& options) {
    if (!proves(stage, pair, options)) return std::nullopt;
    const Source& source = *stage.plans->front().source;
    return fmt::format(
        "it proves with two more syncs: a notify of every peer after {}, and a wait "
        "for every peer {}",
        source.place(pair.after), before_text(pair, line, source));
}

}  // namespace

std::string circle_text(const Violation& violation, const std::vector<CheckStage>& stages) {
    if (violation.kind != ViolationKind::deadlock) return {};
    std::vector<Step> waiting;
    std::copy_if(violation.steps.begin(), violation.steps.end(), std::back_inserter(waiting),
                 [](const Step& step) { return step.index >= 0; });
    return waiting.empty() ? std::string() : Circle(waiting, stages).text();
}

std::optional<std::string> suggestion(const Violation& violation,
                                      const std::vector<CheckStage>& stages, CheckOptions options) {
    const std::vector<Step>& steps = violation.steps;
    const bool is_race = violation.kind == ViolationKind::data_race && stages.size() == 1 &&
                         steps.size() == 2 && steps[0].index >= 0 && steps[1].index >= 0;
    if (!is_race) return std::nullopt;
    const std::vector<Plan>& plans = *stages.front().plans;
    if (!std::all_of(plans.begin(), plans.end(), is_plain)) return std::nullopt;
    std::size_t instructions = 0;
    for (const Plan& plan : plans) instructions += plan.instructions.size();
    if (instructions > kMostInstructions) return std::nullopt;
    options.max_seconds = kMostSeconds;
    options.seconds_spent = 0;
    options.max_states = kMostStates;
    options.explain = options.find_redundant = false;
    options.progress = nullptr;
    const CheckStage& stage = stages.front();
    for (const bool with_one_wait : {true, false}) {
        for (const bool swapped : {false, true}) {
            const Step& first = steps[swapped ? 1 : 0];
            const Step& second = steps[swapped ? 0 : 1];
            const std::uint32_t line = instruction_of(second, stages).line;
            const Pair pair{instruction_of(first, stages).line,
                            first.call < second.call ? 0 : line};
            if (first.call > second.call || pair.after == 0 || line == 0) continue;
            auto found = with_one_wait ? one_wait(stage, pair, first, second, line, options)
                                       : two_syncs(stage, pair, line, options);
            if (found) return found;
        }
    }
    return std::nullopt;
}

}  // namespace peal::checker
