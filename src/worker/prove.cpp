// SPDX-License-Identifier: Apache-2.0
#include "worker/kernel_store.hpp"

#include <fmt/format.h>

#include "check/as_run.hpp"
#include "peal/check.hpp"
#include "peal/error.hpp"
#include "worker/devices.hpp"

namespace peal::worker {
namespace {

std::string counterexample(const Violation& violation, const std::vector<CheckStage>& stages) {
    std::string text = fmt::format("{}: {}", name(violation.kind), violation.message);
    if (!violation.found.empty()) {
        text += fmt::format("\n  found {}, expected {}", violation.found, violation.expected);
    }
    for (const peal::Step& step : violation.schedule) {
        text += fmt::format("\n  {}", to_text(step, stages));
    }
    return text;
}

KernelProof prove(const std::vector<Plan>& plans, const Meaning* meaning, const KernelUse& use,
                  const DeviceRules& device) {
    const auto nranks = static_cast<int>(plans.size());
    std::vector<CheckStage> stages = {{&plans, meaning, {}, use.holds}};
    // The host hands out a call when all ranks have returned from the last: as if they met.
    std::vector<Plan> turn;
    if (use.together) {
        turn = host_turn(nranks);
        stages.push_back(host_turn_stage(turn));
    }
    CheckOptions options;
    options.device = device;
    const checker::ProofOfRun proof = checker::prove_as_run(stages, options);
    const CheckReport& report = proof.answer.report;
    if (report.verdict == Verdict::proved) {
        return {plans[0].kernel, nranks, report.any_calls, report.any_order};
    }
    const std::string title =
        fmt::format("kernel {} on {} ranks is not proved{}", plans[0].kernel, nranks,
                    report.any_order ? "" : fmt::format(" ({})", name(report.order)));
    if (report.verdict == Verdict::bound) {
        throw Error(Fault::bound, fmt::format("{}: {}", title, report.bound));
    }
    throw Error(Fault::wrong,
                fmt::format("{}: {}", title,
                            counterexample(report.violations.front(),
                                           proof.here ? proof.here->stages() : stages)));
}

}  // namespace

KernelProof prove(const CompiledKernel& kernel, const KernelUse& use, std::string_view platform) {
    const std::vector<Plan>& given = kernel.piped.empty() ? kernel.plans : kernel.piped;
    Meaning meaning;
    if (kernel.collective) meaning = meaning_of(*kernel.collective, given);
    return prove(given, kernel.collective ? &meaning : nullptr, use, rules_of(platform));
}

}  // namespace peal::worker
