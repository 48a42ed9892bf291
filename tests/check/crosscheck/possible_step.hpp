// SPDX-License-Identifier: Apache-2.0
// Tries a counterexample out: every wait of its schedule must pass when its turn comes. Written
// without the checker's own machinery, for plans without pipes.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "peal/check.hpp"

namespace peal::test {

class ScheduleRun {
public:
    explicit ScheduleRun(const std::vector<CheckStage>& stages) : stages_(stages) {
        for (const Plan& plan : *stages[0].plans) ranks_[plan.rank] = {};
    }

    // The steps of a rank's lane come in the order of its plan and calls, none is left out; what
    // the caller does, between those of all lanes. False: this one cannot come now.
    bool take(const Step& step) {
        Rank& rank = ranks_[step.rank];
        const auto stage = static_cast<std::size_t>(step.stage);
        if (step.call != rank.call) return false;
        if (stage != static_cast<std::size_t>(step.call) % stages_.size()) return false;
        const Plan& plan = (*stages_[stage].plans)[static_cast<std::size_t>(step.rank)];
        if (step.index == Step::kStages) {
            if (!rank.next.empty()) return false;
            rank.next = {0};
            for (const std::uint32_t begin : plan.lanes) rank.next.push_back(begin);
            return true;
        }
        if (rank.next.empty()) return false;
        std::vector<std::size_t> ends(plan.lanes.begin(), plan.lanes.end());
        ends.push_back(plan.instructions.size());
        if (step.index == Step::kConsumes) {
            if (rank.next != ends) return false;
            rank = {rank.call + 1, {}};
            return true;
        }
        const auto index = static_cast<std::size_t>(step.index);
        std::size_t lane = 0;
        while (ends[lane] <= index) ++lane;
        return rank.next[lane]++ == index && carry_out(plan, step);
    }

private:
    bool carry_out(const Plan& plan, const Step& step) {
        const Action& action = plan.instructions[static_cast<std::size_t>(step.index)].action;
        if (const auto* notify = std::get_if<Notify>(&action)) {
            std::int64_t& cell = cells_[key(step, plan, notify->cell)];
            const std::int64_t value = now(step, notify->cell, notify->value);
            cell = notify->op == NotifyOp::set ? value : cell + value;
        } else if (const auto* wait = std::get_if<Wait>(&action)) {
            return compares(cells_[key(step, plan, wait->cell)], wait->compare,
                            now(step, wait->cell, wait->value));
        }
        return true;
    }

    const std::string& memory(std::size_t stage, std::size_t buffer) const {
        const CheckStage& of = stages_[stage];
        return of.memory.empty() ? (*of.plans)[0].buffers[buffer].name : of.memory[buffer];
    }
    std::tuple<std::string, int, std::uint64_t> key(const Step& step, const Plan& plan,
                                                    const Cell& cell) const {
        return {memory(static_cast<std::size_t>(step.stage), cell.buffer), cell.rank,
                cell.index * plan.buffers[cell.buffer].cell_stride};
    }
    std::int64_t now(const Step& step, const Cell& cell, const Value& value) const {
        const std::string& name = memory(static_cast<std::size_t>(step.stage), cell.buffer);
        std::int64_t generation = 0;
        for (std::int32_t call = 0; call < step.call; ++call) {
            const std::size_t stage = static_cast<std::size_t>(call) % stages_.size();
            const Plan& plan = (*stages_[stage].plans)[0];
            for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
                if (memory(stage, b) == name) generation += plan.advance[b];
            }
        }
        return value.constant + value.per_generation * generation;
    }

    const std::vector<CheckStage>& stages_;
    struct Rank {
        std::int32_t call = 0;
        std::vector<std::size_t> next;  // by lane; empty: the call has not begun
    };
    std::map<int, Rank> ranks_;
    std::map<std::tuple<std::string, int, std::uint64_t>, std::int64_t> cells_;
};

// The first step of the schedule that cannot come when it does; empty if there is none. What needs
// no interleaving has none: its schedule is the steps themselves.
inline std::string impossible_step(const std::vector<CheckStage>& stages,
                                   const Violation& violation) {
    if (violation.kind == ViolationKind::signal_state && violation.schedule == violation.steps) {
        return {};
    }
    ScheduleRun run(stages);
    for (const Step& step : violation.schedule) {
        if (!run.take(step)) return "impossible: " + to_text(step, stages);
    }
    return {};
}

}  // namespace peal::test
