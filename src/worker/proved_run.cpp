// SPDX-License-Identifier: Apache-2.0
#include "engine/run_record.hpp"
#include "peal/worker_kernel.hpp"
#include "worker/kernel_store.hpp"

namespace peal {
namespace worker {

RunRecord::RunRecord(const std::vector<CheckStage>& calls, bool once) : once_(once) {
    if (engine::records_runs()) calls_.emplace(calls);
}

void RunRecord::write() {
    if (!calls_) return;
    std::call_once(written_, [this] {
        std::vector<engine::RecordedCall> recorded;
        for (const CheckStage& stage : calls_->stages()) {
            engine::RecordedCall& call = recorded.emplace_back();
            call.plans = stage.plans;
            call.memory = stage.memory;
            for (const Held& held : stage.holds) {
                call.holds.emplace_back(held.window, name(held.what));
            }
        }
        engine::record_sequence(recorded, engine::CallOrder::together,
                                once_ ? engine::Times::once : engine::Times::again);
    });
}

}  // namespace worker

ProvedRun::ProvedRun(const std::vector<CheckStage>& calls, bool once)
    : record_(std::make_shared<worker::RunRecord>(calls, once)) {}

}  // namespace peal
