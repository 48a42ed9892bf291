// SPDX-License-Identifier: Apache-2.0
#include "check/as_run.hpp"

#include <algorithm>

#include "plan/for_host.hpp"
#include "plan/pipes.hpp"

namespace peal::checker {
namespace {

bool is_run_as_given(const std::vector<CheckStage>& stages) {
    return std::all_of(stages.begin(), stages.end(), [](const CheckStage& stage) {
        return std::all_of(stage.plans->begin(), stage.plans->end(), plan::is_in_order);
    });
}

}  // namespace

CallsHere::CallsHere(const std::vector<CheckStage>& given) : stages_(given) {
    for (CheckStage& stage : stages_) {
        const auto [made, is_new] = plans_.try_emplace(stage.plans);
        if (is_new) made->second = plan::for_host(*stage.plans);
        stage.plans = &made->second;
    }
}

ProofOfRun prove_as_run(const std::vector<CheckStage>& given, const CheckOptions& options) {
    return prove_as_run(given, options, check_orders_once).value();
}

std::optional<ProofOfRun> prove_as_run(const std::vector<CheckStage>& given,
                                       const CheckOptions& options, const Prove& prove) {
    std::optional<ProofAnswer> claimed = prove(given, options);
    if (!claimed) return std::nullopt;
    if (claimed->report.verdict != Verdict::proved || is_run_as_given(given)) {
        return ProofOfRun{*std::move(claimed), nullptr};
    }
    auto here = std::make_shared<const CallsHere>(given);
    CheckOptions without_device = options;
    without_device.device = {};
    std::optional<ProofAnswer> run = prove(here->stages(), without_device);
    if (!run) return std::nullopt;
    if (run->report.verdict != Verdict::proved) {
        return ProofOfRun{*std::move(run), std::move(here)};
    }
    claimed->from_store &= run->from_store;
    return ProofOfRun{*std::move(claimed), nullptr};
}

}  // namespace peal::checker
