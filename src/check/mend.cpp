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

bool proves(const std::vector<CheckStage>& stages, const Pair& pair, const CheckOptions& options) {
    std::vector<Plan> plans;
    for (const Plan& plan : *stages.front().plans) plans.push_back(with_pair(plan, pair));
    CheckStage stage = stages.front();
    stage.plans = &plans;
    if (!stage.memory.empty()) stage.memory.emplace_back(kAdded);
    return check({stage}, options).verdict == Verdict::proved;
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
    for (const bool swapped : {false, true}) {
        const Step& first = steps[swapped ? 1 : 0];
        const Step& second = steps[swapped ? 0 : 1];
        if (first.call > second.call) continue;
        const bool is_later = first.call < second.call;
        const std::uint32_t line = instruction_of(second, stages).line;
        const Pair pair{instruction_of(first, stages).line, is_later ? 0 : line};
        if (pair.after == 0 || line == 0 || !proves(stages, pair, options)) continue;
        const SourcePtr& source = plans.front().source;
        return fmt::format(
            "it proves with two more syncs: a notify of every peer after {}, and a wait for every "
            "peer before {}",
            source->place(pair.after),
            is_later ? fmt::format("the call returns ({} of the next call must come later)",
                                   source->place(line))
                     : source->place(line));
    }
    return std::nullopt;
}

}  // namespace peal::checker
