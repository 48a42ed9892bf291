// SPDX-License-Identifier: Apache-2.0
#include "cli/proof.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "check/as_run.hpp"
#include "check/call_sequence.hpp"
#include "check/proof_store.hpp"
#include "cli/commands.hpp"

namespace peal::cli {
namespace {

constexpr std::size_t kQuickInstructions = 60'000;  // of all calls
constexpr std::uint64_t kQuickStates = 100'000;

bool is_quick(const std::vector<Plan>& plans, const CheckOptions& options) {
    std::size_t count = 0;
    for (const Plan& plan : plans) count += plan.instructions.size();
    return count * static_cast<std::size_t>(options.calls) <= kQuickInstructions;
}

Proof proof_of(const CheckReport& report, std::string_view where) {
    const std::string order(report.any_order ? "any" : name(report.order));
    switch (report.verdict) {
        case Verdict::proved:
            return {report.any_order ? "proved" : fmt::format("proved ({})", order), "", kFine, "",
                    order};
        case Verdict::bound:
            return {"bound", fmt::format("not proved{}: bound reached: {}", where, report.bound),
                    kBoundReached, "", order};
        case Verdict::violated: break;
    }
    const Violation& violation = report.violations.front();
    const std::string kind(name(violation.kind));
    return {kind, fmt::format("{}{}: {} (see peal check)", kind, where, violation.message), kWrong,
            "", order};
}

}  // namespace

Proof prove(const std::vector<Plan>& plans, const std::optional<Meaning>& meaning, bool thorough,
            CheckOptions options, std::optional<MemoryOrder> order,
            const std::vector<std::uint16_t>& alternating, const std::vector<Held>& holds) {
    options.max_violations = 1;
    options.order = order.value_or(MemoryOrder::drained);
    if (!thorough) options.max_states = kQuickStates;
    checker::CallSequence calls;
    if (alternating.empty()) {
        calls.add_held(plans, meaning, holds);
    } else {
        calls.add_alternating(plans, meaning, alternating);
    }
    const checker::Prove prove_form = [&](const std::vector<CheckStage>& stages,
                                          const CheckOptions& asked) -> std::optional<ProofAnswer> {
        if (!thorough && !is_quick(*stages.front().plans, asked) &&
            !checker::find_proof(stages, asked)) {
            return std::nullopt;
        }
        return order ? check_once(stages, asked) : check_orders_once(stages, asked);
    };
    const auto answered = checker::prove_as_run(calls.stages(), options, prove_form);
    if (!answered) return {};
    Proof proof =
        proof_of(answered->answer.report, answered->here ? " as this machine runs it" : "");
    if (proof.exit_code == kFine) {
        proof.from = answered->answer.from_store ? "store" : "checked";
        proof.result = checker::result_of(meaning ? &*meaning : nullptr);
    }
    return proof;
}

// Devices and their processes prove, too: all of them ask the variable.
Option* add_store_option(Command& command) {
    return command.add_flag_callback(
        "--no-store", [] { setenv("PEAL_PROOFS", "off", 1); },
        "take no proof from the store and put none there (or: PEAL_PROOFS=off)");
}

}  // namespace peal::cli
