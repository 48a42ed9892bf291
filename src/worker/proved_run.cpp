// SPDX-License-Identifier: Apache-2.0
#include "engine/run_record.hpp"
#include "peal/worker_kernel.hpp"
#include "plan/for_host.hpp"

void peal::record_proved_run(const std::vector<CheckStage>& stages, bool once) {
    if (!engine::records_runs()) return;
    std::vector<std::vector<Plan>> plans;  // as devices carry them out
    for (const CheckStage& stage : stages) plans.push_back(plan::for_host(*stage.plans));
    std::vector<engine::RecordedCall> calls;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        engine::RecordedCall& call = calls.emplace_back();
        call.plans = &plans[s];
        call.memory = stages[s].memory;
        for (const Held& held : stages[s].holds) {
            call.holds.emplace_back(held.window, name(held.what));
        }
    }
    engine::record_sequence(calls, engine::CallOrder::together,
                            once ? engine::Times::once : engine::Times::again);
}
