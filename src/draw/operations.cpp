// SPDX-License-Identifier: Apache-2.0
#include "draw/operations.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "check/steps.hpp"
#include "plan/access.hpp"
#include "plan/text.hpp"

namespace peal::draw {
namespace {

bool moves_data(const Instruction& instruction) {
    return std::holds_alternative<Copy>(instruction.action) ||
           std::holds_alternative<Accumulate>(instruction.action);
}

// What covers both: nothing if they are in different memories.
std::optional<Range> hull(const std::optional<Range>& a, const Range& b) {
    if (!a) return b;
    if (a->buffer != b.buffer || a->rank != b.rank || a->shift != b.shift) return std::nullopt;
    Range both = *a;
    both.offset = std::min(a->offset, b.offset);
    both.length = std::max(a->offset + a->length, b.offset + b.length) - both.offset;
    return both;
}

// From memory to memory through a tile.
struct Put {
    std::optional<Range> to, from;
    bool adds = false;
};

std::optional<Put> put_of(const Plan& plan, const Operation& operation) {
    Put put;
    for (std::size_t i = operation.begin; i < operation.end; ++i) {
        const Instruction& instruction = plan.instructions[i];
        if (!moves_data(instruction)) continue;
        put.adds |= std::holds_alternative<Accumulate>(instruction.action);
        bool fits = true;
        plan::for_each_range(instruction.action, [&](const Range& range) {
            if (range.buffer == kTile) return;
            std::optional<Range>& side = instruction.pipe == Pipe::load ? put.from : put.to;
            side = hull(side, range);
            fits = fits && side.has_value();
        });
        if (!fits) return std::nullopt;
    }
    if (!put.to || !put.from) return std::nullopt;
    return put;
}

std::string text_of_put(const Plan& plan, const Put& put, std::optional<std::uint32_t> turn) {
    const bool gets = put.to->rank == plan.rank && put.from->rank != plan.rank;
    const std::string copy =
        plan::brief_text({Copy{*put.to, *put.from}, Pipe::none}, plan, 0, turn);
    return fmt::format("{}{}{}", gets ? "TGET" : "TPUT", put.adds ? " (adds)" : "",
                       copy.substr(copy.find(' ')));
}

// "TPUT window@1 <- in (6 steps)", or "(4 of 6 steps)" if so many are shown as one.
std::string label_of(const Operation& operation, const Step& step,
                     const std::vector<CheckStage>& stages, std::size_t shown) {
    const Plan& plan = checker::plan_of(step, stages);
    const auto turn = checker::turn_of(step, stages);
    const std::optional<Put> put = put_of(plan, operation);
    const std::string what =
        put ? text_of_put(plan, *put, turn)
            : plan::brief_text(plan.instructions[operation.begin], plan, 0, turn) + ", ...";
    const std::size_t all = operation.end - operation.begin;
    return shown == all ? fmt::format("{} ({} steps)", what, all)
                        : fmt::format("{} ({} of {} steps)", what, shown, all);
}

bool is_same_memory(const std::vector<Access>& a, const std::vector<Access>& b) {
    return std::any_of(a.begin(), a.end(), [&](const Access& x) {
        return std::any_of(b.begin(), b.end(), [&](const Access& y) {
            return x.rank == y.rank && x.memory == y.memory && (x.writes || y.writes);
        });
    });
}

class OperationFolder {
public:
    OperationFolder(Diagram& diagram, EventFacts& facts, const std::vector<CheckStage>& stages)
        : diagram_(diagram), facts_(facts), stages_(stages), open_(diagram.rails.size()) {}

    void fold() && {
        for (std::size_t i = 0; i < diagram_.events.size(); ++i) add(i);
        const std::vector<std::size_t> new_event = rebuild();
        for (Arrow& arrow : diagram_.arrows) {
            arrow = {new_event[arrow.from], new_event[arrow.to]};
        }
        // A flag of an operation that the operation itself takes.
        std::erase_if(diagram_.arrows, [](const Arrow& arrow) { return arrow.from == arrow.to; });
    }

private:
    struct Run {
        std::optional<Operation> operation;  // none: nothing is put together
        std::vector<std::size_t> events;
        std::vector<Access> accesses;
    };

    void add(std::size_t i) {
        const Event& event = diagram_.events[i];
        const auto operation = facts_.steps[i] && !event.clash
                                   ? operation_of(*facts_.steps[i], stages_)
                                   : std::nullopt;
        for (std::size_t rail = 0; rail < open_.size(); ++rail) {
            const bool goes_on = rail == event.rail && operation == open_[rail].operation;
            const bool is_beside =
                rail != event.rail && !is_same_memory(open_[rail].accesses, facts_.accesses[i]);
            if (!goes_on && !is_beside) close(rail);
        }
        Run& run = open_[event.rail];
        run.operation = operation;
        run.events.push_back(i);
        run.accesses.insert(run.accesses.end(), facts_.accesses[i].begin(),
                            facts_.accesses[i].end());
        if (!operation) close(event.rail);
    }

    void close(std::size_t rail) {
        Run run = std::exchange(open_[rail], {});
        if (run.operation && run.events.size() > 1) runs_.push_back(std::move(run));
    }

    // Gives the new number of each event.
    std::vector<std::size_t> rebuild() {
        for (std::size_t rail = 0; rail < open_.size(); ++rail) close(rail);
        std::vector<const Run*> run_of(diagram_.events.size());
        for (const Run& run : runs_) {
            for (const std::size_t event : run.events) run_of[event] = &run;
        }
        std::vector<Event> events;
        EventFacts facts;
        std::vector<std::size_t> new_event(diagram_.events.size());
        for (std::size_t i = 0; i < diagram_.events.size(); ++i) {
            const Run* run = run_of[i];
            if (run && run->events.back() != i) continue;
            new_event[i] = events.size();
            events.push_back(run ? whole(*run) : std::move(diagram_.events[i]));
            facts.steps.push_back(facts_.steps[i]);
            facts.accesses.push_back(run ? run->accesses : facts_.accesses[i]);
        }
        for (const Run& run : runs_) {
            for (const std::size_t event : run.events)
                new_event[event] = new_event[run.events.back()];
        }
        diagram_.events = std::move(events);
        facts_ = std::move(facts);
        return new_event;
    }

    Event whole(const Run& run) const {
        Event event;
        event.rail = diagram_.events[run.events.front()].rail;
        event.where = diagram_.events[run.events.front()].where;
        event.label =
            label_of(*run.operation, *facts_.steps[run.events.front()], stages_, run.events.size());
        for (const std::size_t i : run.events) {
            event.detail += (event.detail.empty() ? "" : "\n") + diagram_.events[i].detail;
            event.related |= diagram_.events[i].related;
        }
        return event;
    }

    Diagram& diagram_;
    EventFacts& facts_;
    const std::vector<CheckStage>& stages_;
    std::vector<Run> open_;  // by rail
    std::vector<Run> runs_;
};

}  // namespace

std::optional<Operation> operation_of(const Step& step, const std::vector<CheckStage>& stages) {
    if (step.index < 0 || step.is_aside) return std::nullopt;
    const std::vector<Instruction>& all = checker::plan_of(step, stages).instructions;
    Operation operation{step.call, step.stage, step.rank, static_cast<std::size_t>(step.index), 0};
    while (operation.begin > 0 && all[operation.begin].joined) --operation.begin;
    operation.end = operation.begin + 1;
    while (operation.end < all.size() && all[operation.end].joined) ++operation.end;
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(operation.begin);
    const auto last = all.begin() + static_cast<std::ptrdiff_t>(operation.end);
    if (std::count_if(first, last, moves_data) < 2) return std::nullopt;
    return operation;
}

void fold_operations(Diagram& diagram, EventFacts& facts, const std::vector<CheckStage>& stages) {
    OperationFolder(diagram, facts, stages).fold();
}

}  // namespace peal::draw
