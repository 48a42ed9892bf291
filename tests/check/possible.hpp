// SPDX-License-Identifier: Apache-2.0
// Tries a counterexample out: every wait of its schedule must pass when its turn comes. Written
// without the checker's own machinery, for plans without pipes.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "peal/check.hpp"

namespace peal::test {

class ScheduleRun {
public:
    explicit ScheduleRun(const std::vector<CheckStage>& stages) : stages_(stages) {
        for (const Plan& plan : *stages[0].plans) next_[plan.rank] = {0, Step::kStages};
    }

    // Each rank's steps come in the order of its plan and calls, none is left out.
    void take(const Step& step) {
        SCOPED_TRACE(to_text(step, stages_));
        auto& [call, index] = next_[step.rank];
        EXPECT_EQ(step.call, call);
        EXPECT_EQ(step.index, index);
        const auto stage = static_cast<std::size_t>(step.stage);
        const Plan& plan = (*stages_[stage].plans)[static_cast<std::size_t>(step.rank)];
        const auto length = static_cast<std::int32_t>(plan.instructions.size());
        if (step.index == Step::kConsumes) {
            ++call;
            index = Step::kStages;
            return;
        }
        if (step.index >= 0) carry_out(plan, step);
        index = index + 1 == length ? Step::kConsumes : index + 1;
    }

private:
    void carry_out(const Plan& plan, const Step& step) {
        const Action& action = plan.instructions[static_cast<std::size_t>(step.index)].action;
        if (const auto* notify = std::get_if<Notify>(&action)) {
            std::int64_t& cell = cells_[key(notify->cell)];
            const std::int64_t value = now(plan, step, notify->cell, notify->value);
            cell = notify->op == NotifyOp::set ? value : cell + value;
        } else if (const auto* wait = std::get_if<Wait>(&action)) {
            EXPECT_TRUE(compares(cells_[key(wait->cell)], wait->compare,
                                 now(plan, step, wait->cell, wait->value)));
        }
    }
    static std::tuple<int, int, std::uint64_t> key(const Cell& cell) {
        return {cell.buffer, cell.rank, cell.index};
    }
    // For one stage that is repeated.
    static std::int64_t now(const Plan& plan, const Step& step, const Cell& cell,
                            const Value& value) {
        return value.constant + value.per_generation * step.call * plan.advance[cell.buffer];
    }

    const std::vector<CheckStage>& stages_;
    std::map<int, std::pair<std::int32_t, std::int32_t>> next_;  // call and index, by rank
    std::map<std::tuple<int, int, std::uint64_t>, std::int64_t> cells_;
};

// What needs no interleaving has none: its schedule is the steps themselves.
inline void expect_possible(const std::vector<CheckStage>& stages, const Violation& violation) {
    if (violation.kind == ViolationKind::signal_state && violation.schedule == violation.steps) {
        return;
    }
    SCOPED_TRACE(violation.message);
    ScheduleRun run(stages);
    for (const Step& step : violation.schedule) run.take(step);
}

}  // namespace peal::test
