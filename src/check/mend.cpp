// SPDX-License-Identifier: Apache-2.0
#include "check/mend.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "check/steps.hpp"
#include "plan/notes.hpp"
#include "plan/text.hpp"

namespace peal::checker {
namespace {

const Instruction& instruction_of(const Step& step, const std::vector<CheckStage>& stages) {
    return plan_of(step, stages).instructions[static_cast<std::size_t>(step.index)];
}

// ---------------------------------------------------------------------------- who waits for whom

class Circle {
public:
    Circle(const std::vector<Step>& waiting, const std::vector<CheckStage>& stages)
        : waiting_(waiting), stages_(stages) {}

    std::string text() const {
        std::vector<std::size_t> path;
        for (std::size_t at = 0;;) {
            const auto seen = std::find(path.begin(), path.end(), at);
            if (seen != path.end()) return lines({seen, path.end()});
            path.push_back(at);
            const std::optional<std::size_t> next = ringer_of(at);
            if (!next) return lines({at});
            at = *next;
        }
    }

private:
    // Somebody who also waits and has a notify of the cell before it.
    std::optional<std::size_t> ringer_of(std::size_t who) const {
        for (std::size_t i = 0; i < waiting_.size(); ++i) {
            if (ring(who, i)) return i;
        }
        return std::nullopt;
    }

    // The first notify behind `by`'s wait, in its call or one that follows, that rings the cell.
    const Instruction* ring(std::size_t who, std::size_t by) const {
        const auto* wait = std::get_if<Wait>(&instruction_of(waiting_[who], stages_).action);
        if (!wait) return nullptr;
        const Step& step = waiting_[by];
        const std::string cells =
            memory_name(stages_[static_cast<std::size_t>(waiting_[who].stage)], wait->cell.buffer);
        for (std::size_t later = 0; later <= stages_.size(); ++later) {
            const std::size_t stage =
                (static_cast<std::size_t>(step.stage) + later) % stages_.size();
            const Plan& plan = (*stages_[stage].plans)[static_cast<std::size_t>(step.rank)];
            const auto begin = later == 0 ? static_cast<std::size_t>(step.index) : 0;
            for (std::size_t i = begin; i < plan.instructions.size(); ++i) {
                const auto* notify = std::get_if<Notify>(&plan.instructions[i].action);
                if (notify && notify->cell.rank == wait->cell.rank &&
                    notify->cell.index == wait->cell.index &&
                    memory_name(stages_[stage], notify->cell.buffer) == cells) {
                    return &plan.instructions[i];
                }
            }
        }
        return nullptr;
    }

    std::string lines(const std::vector<std::size_t>& path) const {
        std::string text;
        for (const std::size_t at : path) {
            const Step& step = waiting_[at];
            const Plan& plan = plan_of(step, stages_);
            const std::string place = plan::place_text(instruction_of(step, stages_), plan);
            text += fmt::format("  rank {} at `{}`{}", step.rank,
                                plan::report_text(instruction_of(step, stages_), plan),
                                place.empty() ? "" : fmt::format(" ({})", place));
            const std::optional<std::size_t> next = ringer_of(at);
            if (!next) return text + " waits, and nobody is left to ring\n";
            const Plan& other = plan_of(waiting_[*next], stages_);
            const std::string rung = plan::place_text(*ring(at, *next), other);
            text += fmt::format(" waits for rank {}{}\n", waiting_[*next].rank,
                                rung.empty() ? "" : fmt::format(" to ring ({})", rung));
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
