// SPDX-License-Identifier: Apache-2.0
#include "worker/prove.hpp"

#include <fmt/format.h>

#include "peal/check.hpp"
#include "peal/error.hpp"

namespace peal::worker {
namespace {

DeviceRules rules_of(std::string_view platform) {
    if (platform == "a2a3sim") return DeviceRules::a2a3();
    if (platform == "a5sim") return DeviceRules::a5();
    return {};
}

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

}  // namespace

void prove(const CompiledKernel& kernel, bool together, std::string_view platform) {
    const auto nranks = static_cast<int>(kernel.plans.size());
    Meaning meaning;
    if (kernel.collective) meaning = meaning_of(*kernel.collective, kernel.plans);
    std::vector<CheckStage> stages = {{&kernel.plans, kernel.collective ? &meaning : nullptr, {}}};
    // The host hands out a call when all ranks have returned from the last: as if they met.
    Collective barrier;
    barrier.kind = CollectiveKind::barrier;
    const std::vector<Plan> meeting = compile(barrier, nranks);
    if (together) stages.push_back({&meeting, nullptr, {"the host's turn"}});
    CheckOptions options;
    options.device = rules_of(platform);
    const CheckReport report = check(stages, options);
    if (report.verdict == Verdict::proved) return;
    const std::string title =
        fmt::format("kernel {} on {} ranks is not proved", kernel.plans[0].kernel, nranks);
    if (report.verdict == Verdict::bound) {
        throw Error(Fault::bound, fmt::format("{}: {}", title, report.bound));
    }
    throw Error(Fault::wrong,
                fmt::format("{}: {}", title, counterexample(report.violations.front(), stages)));
}

}  // namespace peal::worker
