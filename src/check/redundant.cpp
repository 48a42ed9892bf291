// SPDX-License-Identifier: Apache-2.0
#include "check/redundant.hpp"

#include <utility>

#include "plan/access.hpp"

namespace peal::checker {
namespace {

// An instruction that does nothing, so that the others keep their numbers.
Instruction nothing() { return {PipeBarrier{Pipe::scalar}, Pipe::none, 0}; }

}  // namespace

std::vector<Redundant> find_redundant(const std::vector<CheckStage>& stages,
                                      const CheckOptions& options, const Meter& meter) {
    CheckOptions once = options;
    once.explain = once.find_redundant = false;
    once.progress = nullptr;
    std::vector<Redundant> list;
    for (std::size_t s = 0; s < stages.size(); ++s) {
        std::vector<Plan> plans = *stages[s].plans;
        std::vector<CheckStage> changed = stages;
        changed[s].plans = &plans;
        for (Plan& plan : plans) {
            for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
                if (!is_sync(plan.instructions[i].action)) continue;
                once.max_seconds = options.max_seconds - meter.seconds();
                if (once.max_seconds <= 0) return list;
                Instruction kept = std::exchange(plan.instructions[i], nothing());
                if (check(changed, once).verdict == Verdict::proved) {
                    list.push_back(
                        {static_cast<std::int32_t>(s), plan.rank, static_cast<std::int32_t>(i)});
                }
                plan.instructions[i] = std::move(kept);
            }
        }
    }
    return list;
}

}  // namespace peal::checker
