// SPDX-License-Identifier: Apache-2.0
#include "check/as_run.hpp"
#include "engine/run_record.hpp"
#include "peal/worker_kernel.hpp"

void peal::record_proved_run(const std::vector<CheckStage>& stages, bool once) {
    if (!engine::records_runs()) return;
    const checker::CallsHere here(stages);
    std::vector<engine::RecordedCall> calls;
    for (const CheckStage& stage : here.stages()) {
        engine::RecordedCall& call = calls.emplace_back();
        call.plans = stage.plans;
        call.memory = stage.memory;
        for (const Held& held : stage.holds) {
            call.holds.emplace_back(held.window, name(held.what));
        }
    }
    engine::record_sequence(calls, engine::CallOrder::together,
                            once ? engine::Times::once : engine::Times::again);
}
