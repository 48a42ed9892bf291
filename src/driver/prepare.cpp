// SPDX-License-Identifier: Apache-2.0
// From stages to plans, and from plans to a verdict.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "check/as_run.hpp"
#include "check/steps.hpp"
#include "driver/unit.hpp"
#include "peal/check.hpp"
#include "peal/error.hpp"
#include "peal/page.hpp"
#include "pto/callees.hpp"

namespace peal::driver {
namespace {

PreparedStage traced(const Stage& stage) {
    std::vector<std::optional<pto::ChipTask>> tasks;
    for (const Member* member : stage.members) {
        tasks.push_back(member ? std::optional(member->task) : std::nullopt);
    }
    pto::TracedTask traced = pto::trace(*anybody(stage).program, tasks);
    DeviceKernel kernel(traced.plans);
    return {std::move(traced.plans), std::move(kernel), std::move(traced.memory_of),
            std::move(traced.created)};
}

// The stages as the checker sees them. Windows are the same memory in all of them.
class Sequence {
public:
    Sequence(const std::vector<Stage>& stages, const std::vector<PreparedStage>& prepared) {
        const auto nranks = static_cast<int>(stages[0].members.size());
        if (nranks > 1) meeting_ = host_turn(nranks);
        for (std::size_t s = 0; s < stages.size(); ++s) add(stages[s], prepared[s], s);
        for (const auto& [domain, uses] : uses_) pto::expect_apart(uses);
    }
    Sequence(const Sequence&) = delete;
    Sequence& operator=(const Sequence&) = delete;

    const std::vector<CheckStage>& stages() const { return stages_; }

private:
    void add(const Stage& stage, const PreparedStage& prepared, std::size_t number) {
        // Those that a group waits for are over, and their ranks have met.
        if (stage.meets && !meeting_.empty()) stages_.push_back(host_turn_stage(meeting_));
        const std::vector<Buffer>& buffers = prepared.plans[0].buffers;
        CheckStage checked{&prepared.plans, nullptr, {}};
        std::map<const LiveDomain*, pto::WindowUse> windows;
        for (std::size_t b = 0; b < buffers.size(); ++b) {
            const LiveDomain* domain = domain_of(stage, prepared, b);
            checked.memory.push_back(
                domain        ? shared_name(buffers[b].kind, domain)
                : number == 0 ? buffers[b].name
                              : fmt::format("{} of task {}", buffers[b].name, number + 1));
            if (!domain) continue;
            pto::WindowUse& use = windows[domain];
            use.plans = &prepared.plans;
            if (buffers[b].kind == BufferKind::signal) {
                use.signals = static_cast<std::uint16_t>(b);
            } else {
                use.window = static_cast<std::uint16_t>(b);
                checked.holds.push_back({buffers[b].name, Held::What::fresh});
            }
        }
        for (const auto& [domain, use] : windows) uses_[domain].push_back(use);
        stages_.push_back(std::move(checked));
    }

    std::string shared_name(BufferKind kind, const LiveDomain* domain) {
        const std::size_t number = numbers_.emplace(domain, numbers_.size() + 1).first->second;
        const char* what = kind == BufferKind::signal ? "signals" : "window";
        return number == 1 ? what : fmt::format("{} of domain {}", what, number);
    }

    std::vector<Plan> meeting_;
    std::vector<CheckStage> stages_;
    std::map<const LiveDomain*, std::size_t> numbers_;
    std::map<const LiveDomain*, std::vector<pto::WindowUse>> uses_;
};

std::string name_of(const std::vector<Stage>& stages) {
    std::vector<std::string> names;
    for (const Stage& stage : stages) {
        const std::string& name = anybody(stage).program->name;
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string finding_of(const Unit& unit, int nranks, const std::vector<CheckStage>& stages,
                       std::string_view where, const std::string& pages) {
    if (unit.report.verdict == Verdict::proved) return {};
    const std::string title = fmt::format("{} on {} rank{} is not proved{}", unit.name, nranks,
                                          nranks == 1 ? "" : "s", where);
    if (unit.report.verdict == Verdict::bound) {
        return fmt::format("{}: {}", title, unit.report.bound);
    }
    const Violation& violation = unit.report.violations.front();
    return fmt::format("{}: {}: {}\n{}  the counterexample: {}", title, name(violation.kind),
                       violation.message, checker::steps_text(violation, stages),
                       write_page(title, violation, stages, pages));
}

}  // namespace

std::shared_ptr<const Unit> prepare(const std::vector<Stage>& stages, const ProveOptions& options) {
    auto unit = std::make_shared<Unit>();
    unit->name = name_of(stages);
    for (const Stage& stage : stages) {
        unit->stages.push_back(traced(stage));
        unit->programs.push_back(anybody(stage).program);
    }
    unit->signals = signals_of(unit->stages);
    const Sequence sequence(stages, unit->stages);
    const ProvedRun run(sequence.stages(), true);
    for (PreparedStage& stage : unit->stages) stage.kernel = stage.kernel.proved_in(run);
    if (!options.check) return unit;
    CheckOptions asked;
    asked.calls = 1;
    asked.any_calls = false;
    asked.device = options.device;
    asked.max_seconds = options.max_seconds;
    asked.progress = tell_if_slow(unit->name, options.max_seconds);
    checker::ProofOfRun proof = checker::prove_as_run(sequence.stages(), asked);
    unit->report = std::move(proof.answer.report);
    unit->is_checked = true;
    unit->finding = finding_of(*unit, static_cast<int>(stages[0].members.size()),
                               proof.here ? proof.here->stages() : sequence.stages(),
                               proof.here ? " as this machine runs it" : "", options.pages);
    return unit;
}

}  // namespace peal::driver
