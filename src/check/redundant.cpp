// SPDX-License-Identifier: Apache-2.0
#include "check/phases.hpp"

#include <utility>

#include "plan/access.hpp"

namespace peal::checker {
namespace {

// An instruction that does nothing, so that the others keep their numbers.
Instruction nothing() { return {PipeBarrier{Pipe::scalar}, Pipe::none, 0}; }

std::uint64_t path_of(const std::vector<CheckStage>& stages, const CheckOptions& options) {
    Meter meter(options);
    return critical_path(build_model(stages, options.calls, options.order, meter));
}

}  // namespace

void find_redundant(const std::vector<CheckStage>& stages, const CheckOptions& options,
                    const Meter& meter, CheckReport& report) {
    CheckOptions once = options;
    once.explain = once.find_redundant = false;
    once.progress = nullptr;
    const std::uint64_t steps = path_of(stages, once);
    for (std::size_t s = 0; s < stages.size(); ++s) {
        std::vector<Plan> plans = *stages[s].plans;
        std::vector<CheckStage> changed = stages;
        changed[s].plans = &plans;
        for (Plan& plan : plans) {
            for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
                if (!plan::is_sync(plan.instructions[i].action)) continue;
                once.max_seconds = options.max_seconds - meter.seconds();
                report.redundant_cut = once.max_seconds <= 0;
                if (report.redundant_cut) return;
                Instruction kept = std::exchange(plan.instructions[i], nothing());
                const CheckReport without = check(changed, once);
                const bool is_as_good = without.any_calls || !report.any_calls;
                if (without.verdict == Verdict::proved && is_as_good) {
                    report.redundant.push_back({static_cast<std::int32_t>(s), plan.rank,
                                                static_cast<std::int32_t>(i), steps,
                                                path_of(changed, once)});
                }
                plan.instructions[i] = std::move(kept);
            }
        }
    }
}

}  // namespace peal::checker
