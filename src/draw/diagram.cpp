// SPDX-License-Identifier: Apache-2.0
#include "draw/diagram.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "check/steps.hpp"
#include "draw/layout.hpp"
#include "draw/memory.hpp"
#include "draw/operations.hpp"
#include "plan/access.hpp"
#include "plan/notes.hpp"
#include "plan/text.hpp"

namespace peal::draw {
namespace {

bool same_place(const Step& a, const Step& b) {
    return a.call == b.call && a.stage == b.stage && a.rank == b.rank && a.index == b.index &&
           a.is_aside == b.is_aside;
}

bool contains(const std::vector<Step>& steps, const Step& wanted) {
    return std::any_of(steps.begin(), steps.end(),
                       [&](const Step& step) { return same_place(step, wanted); });
}

EventKind kind_of(const Action& action) {
    if (std::holds_alternative<Notify>(action)) return EventKind::notify;
    if (std::holds_alternative<Wait>(action)) return EventKind::wait;
    bool touches_data = false;
    plan::for_each_range(action, [&](const Range&) { touches_data = true; });
    return touches_data ? EventKind::data : EventKind::pipe;
}

// What the signal cells of all ranks hold along a schedule.
class Signals {
public:
    explicit Signals(const std::vector<CheckStage>& stages) : stages_(stages) {}

    // Of a signal buffer of the step's plan, in the step's call.
    std::int64_t generation(const Step& step, std::uint16_t buffer) const {
        const CheckStage& stage = stages_[static_cast<std::size_t>(step.stage)];
        if (buffer >= stage.plans->front().buffers.size()) return 0;  // drawn all the same
        return checker::generation_of(step, stages_, buffer);
    }

    void carry_out(const Step& step, const Notify& notify) {
        const std::int64_t value = notify.value.constant + notify.value.per_generation *
                                                               generation(step, notify.cell.buffer);
        std::int64_t& cell = cells_[key_of(step, notify.cell)];
        cell = notify.op == NotifyOp::set ? value : cell + value;
    }

    std::int64_t seen(const Step& step, const Cell& cell) const {
        const auto found = cells_.find(key_of(step, cell));
        return found == cells_.end() ? 0 : found->second;
    }

private:
    using Key = std::pair<std::int32_t, std::string>;  // its rank, and its memory
    Key key_of(const Step& step, const Cell& cell) const {
        return {cell.rank, memory_of(stages_[static_cast<std::size_t>(step.stage)], cell)};
    }

    const std::vector<CheckStage>& stages_;
    std::map<Key, std::int64_t> cells_;
};

class Builder {
public:
    Builder(const Violation& violation, const std::vector<CheckStage>& stages)
        : violation_(violation), stages_(stages), signals_(stages) {}

    Diagram build(Grain grain) && {
        diagram_.title = std::string(name(violation_.kind));
        if (!violation_.memory.empty()) diagram_.title += ": " + violation_.memory;
        diagram_.message = violation_.message;
        choose_rails();
        for (const Step& step : violation_.schedule) add_step(step, false);
        for (const Step& step : violation_.steps) {
            if (!contains(violation_.schedule, step)) add_step(step, can_block(step));
        }
        mark_related();
        if (grain == Grain::operation) fold_operations(diagram_, facts_, stages_);
        place_rows(diagram_, facts_.accesses);
        return std::move(diagram_);
    }

private:
    void choose_rails() {
        std::set<Rail> rails;
        std::set<std::int32_t> ranks;
        for (const std::vector<Step>* steps : {&violation_.schedule, &violation_.steps}) {
            for (const Step& step : *steps) {
                if (step.index >= 0) rails.insert(rail_of(step));
                ranks.insert(step.rank);
                several_calls_ |= step.call > 0;
            }
        }
        const auto nranks = static_cast<std::int32_t>(stages_.front().plans->size());
        for (std::int32_t rank = 0; rank < nranks; ++rank) {
            const auto first = rails.lower_bound({rank, -1});
            const bool has_rail = first != rails.end() && first->rank == rank;
            if (!ranks.contains(rank)) {
                diagram_.idle.push_back(rank);
            } else if (!has_rail) {
                rails.insert({rank, has_lanes(rank) ? 0 : -1});
            }
        }
        diagram_.rails.assign(rails.begin(), rails.end());
    }

    bool has_lanes(std::int32_t rank) const {
        return std::any_of(stages_.begin(), stages_.end(), [&](const CheckStage& stage) {
            return !(*stage.plans)[static_cast<std::size_t>(rank)].lanes.empty();
        });
    }
    Rail rail_of(const Step& step) const {
        if (!has_lanes(step.rank)) return {step.rank};
        const std::size_t lane =
            checker::plan_of(step, stages_).lane_of(static_cast<std::size_t>(step.index));
        return {step.rank, static_cast<std::int32_t>(lane)};
    }
    // What the caller does is on the first rail of its rank.
    std::size_t rail_number(const Step& step) const {
        const auto found =
            step.index < 0 ? std::find_if(diagram_.rails.begin(), diagram_.rails.end(),
                                          [&](const Rail& rail) { return rail.rank == step.rank; })
                           : std::find(diagram_.rails.begin(), diagram_.rails.end(), rail_of(step));
        return static_cast<std::size_t>(found - diagram_.rails.begin());
    }

    // A wait that is involved and yet not part of the schedule has not passed.
    bool can_block(const Step& step) const {
        const Instruction* what = instruction_of(step, stages_);
        return what != nullptr && (std::holds_alternative<Wait>(what->action) ||
                                   std::holds_alternative<WaitFlag>(what->action));
    }

    void add_step(const Step& step, bool blocked) {
        announce_call(step);
        Event event;
        event.detail = to_text(step, stages_);
        event.clash = contains(violation_.steps, step);
        event.blocked = blocked;
        if (const Instruction* what = instruction_of(step, stages_)) {
            event.kind = kind_of(what->action);
            event.label = label(step, *what, blocked);
            event.where = where(step, *what);
            if (const auto* notify = std::get_if<Notify>(&what->action)) {
                signals_.carry_out(step, *notify);
            }
        } else {
            event.kind = EventKind::caller;
            event.label = step.index == Step::kStages ? "caller stages" : "caller consumes";
        }
        const std::size_t at = push(step, std::move(event), accesses_of(step, stages_));
        facts_.steps[at] = step;
        if (step.released_by >= 0) {
            diagram_.arrows.push_back({event_of_[static_cast<std::size_t>(step.released_by)], at});
        }
        event_of_.push_back(at);
    }

    // What all that clash touch, as far as it is not the caller's.
    void mark_related() {
        std::map<std::pair<std::int32_t, std::string>, std::size_t> touched;
        std::size_t clashes = 0;
        for (std::size_t i = 0; i < facts_.accesses.size(); ++i) {
            if (!diagram_.events[i].clash) continue;
            ++clashes;
            std::set<std::pair<std::int32_t, std::string>> own;
            for (const Access& access : facts_.accesses[i]) own.emplace(access.rank, access.memory);
            for (const auto& place : own) ++touched[place];
        }
        for (std::size_t i = 0; i < facts_.accesses.size(); ++i) {
            if (diagram_.events[i].kind == EventKind::caller) continue;
            for (const Access& access : facts_.accesses[i]) {
                const auto it = touched.find({access.rank, access.memory});
                if (it != touched.end() && it->second == clashes) diagram_.events[i].related = true;
            }
        }
    }

    void announce_call(const Step& step) {
        const auto [entry, is_new] = call_of_.try_emplace(rail_number(step), step.call);
        if (!several_calls_ || (!is_new && entry->second == step.call)) return;
        entry->second = step.call;
        Event event;
        event.kind = EventKind::call;
        event.label = fmt::format("call {}", step.call);
        if (stages_.size() > 1) event.label += ": " + checker::plan_of(step, stages_).kernel;
        push(step, std::move(event), {});
    }

    std::string label(const Step& step, const Instruction& what, bool blocked) const {
        if (step.is_aside) {
            const bool is_store =
                step.range + 1 == static_cast<std::int32_t>(plan::range_count(what.action));
            return is_store ? "what it stored is seen" : "its cache takes it";
        }
        const auto* notify = std::get_if<Notify>(&what.action);
        const auto* wait = std::get_if<Wait>(&what.action);
        const Cell* cell = notify ? &notify->cell : wait ? &wait->cell : nullptr;
        const std::int64_t generation = cell ? signals_.generation(step, cell->buffer) : 0;
        std::string text = plan::brief_text(what, checker::plan_of(step, stages_), generation,
                                            checker::turn_of(step, stages_));
        if (!blocked) return text;
        return wait ? fmt::format("{}, sees {}", text, signals_.seen(step, *cell))
                    : text + ", never set";
    }

    std::string where(const Step& step, const Instruction& what) const {
        const Plan& plan = checker::plan_of(step, stages_);
        const std::uint32_t line = plan::place_of(what, plan, step.range).line;
        return plan.source && line > 0 ? plan.source->place(line) : "";
    }

    std::size_t push(const Step& step, Event event, std::vector<Access> accesses) {
        event.rail = rail_number(step);
        diagram_.events.push_back(std::move(event));
        facts_.accesses.push_back(std::move(accesses));
        facts_.steps.emplace_back();
        return diagram_.events.size() - 1;
    }

    const Violation& violation_;
    const std::vector<CheckStage>& stages_;
    Signals signals_;
    bool several_calls_ = false;
    Diagram diagram_;
    EventFacts facts_;
    std::vector<std::size_t> event_of_;            // by position in the schedule
    std::map<std::size_t, std::int32_t> call_of_;  // by rail
};

}  // namespace

Diagram diagram_of(const Violation& violation, const std::vector<CheckStage>& stages, Grain grain) {
    return Builder(violation, stages).build(grain);
}

std::vector<std::string> meanwhile_lines(const Diagram& diagram) {
    std::map<std::size_t, std::vector<Rail>> rails;  // by steps
    for (const Meanwhile& each : diagram.meanwhile) rails[each.steps].push_back(each.rail);
    std::vector<std::string> lines;
    for (const auto& [steps, who] : rails) {
        lines.push_back(fmt::format("{} meanwhile: {} step{}{}", rails_text(who), steps,
                                    steps == 1 ? "" : "s", who.size() == 1 ? "" : " each"));
    }
    return lines;
}

namespace {

// "rank 1", "ranks 1, 4..7"
std::string numbers_text(std::string_view noun, const std::vector<std::int32_t>& numbers) {
    return fmt::format("{}{} {}", noun, numbers.size() == 1 ? "" : "s",
                       base::ranges_text(numbers, 3));
}

}  // namespace

std::string ranks_text(const std::vector<std::int32_t>& ranks) {
    return numbers_text("rank", ranks);
}

std::string rails_text(const std::vector<Rail>& rails) {
    std::map<std::int32_t, std::vector<std::int32_t>> lanes;  // of ranks that have several
    std::vector<std::int32_t> ranks;
    for (const Rail& rail : rails) {
        rail.lane < 0 ? ranks.push_back(rail.rank) : lanes[rail.rank].push_back(rail.lane);
    }
    std::string text = ranks.empty() ? "" : ranks_text(ranks);
    for (const auto& [rank, numbers] : lanes) {
        text += fmt::format("{}rank {}, {}", text.empty() ? "" : "; ", rank,
                            numbers_text("lane", numbers));
    }
    return text;
}

}  // namespace peal::draw
