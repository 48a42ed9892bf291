// SPDX-License-Identifier: Apache-2.0
// What a kernel does to memory, against what it says it does.
#include <fmt/format.h>

#include "ir/effects.hpp"
#include "ir/fields.hpp"
#include "ir/verify.hpp"
#include "peal/ops.hpp"

namespace peal::ir {
namespace {

void check_direction(const Param& param, const Usage& use, Findings& findings) {
    const std::string& who = param.var->name;
    if (param.direction == Direction::in && use.written) {
        findings.error(
            use.written_at,
            fmt::format("parameter '{}' is declared in, but {} writes it", who, use.writer),
            fmt::format("declare it {}, or leave the direction out", use.read ? "inout" : "out"));
    }
    if (param.direction == Direction::out && use.read) {
        findings.error(
            use.read_at,
            fmt::format("parameter '{}' is declared out, but {} reads it", who, use.reader),
            fmt::format("declare it {}, or leave the direction out", use.written ? "inout" : "in"));
    }
}

void check_signal_use(const Param& param, const Usage& use, Findings& findings) {
    if (!use.as_signal || !use.as_data) return;
    findings.error(use.data_at,
                   fmt::format("'{}' holds signals (line {}) and cannot hold data too",
                               param.var->name, use.signal_at.line),
                   "signal cells are touched by notify and wait only; use another window for data");
}

// A set wipes whatever adds arrived before it, so which counts survive depends on the schedule.
void check_mixed_notifies(const std::vector<const Call*>& calls, Findings& findings) {
    std::map<std::string_view, Span> sets, adds;
    for (const Call* call : calls) {
        if (call->op != ops::kNotify) continue;
        const auto* signal = as<Var>(operand(*call, "signal"));
        if (!signal) continue;
        (word(*call, "op") == "set" ? sets : adds).emplace(signal->name, call->span);
    }
    for (const auto& [signal, span] : adds) {
        const auto it = sets.find(signal);
        if (it == sets.end()) continue;
        findings.warning(
            span,
            fmt::format("signal '{}' is both set (line {}) and added to", signal, it->second.line),
            "a set that lands on a cell after an add loses the count; use one of the two");
    }
}

// Input and output may be one memory; recipes read what they need before they overwrite it.
bool is_in_place(const OperandSpec& a, const OperandSpec& b) {
    return a.name == "input" && b.name == "output";
}

// Collectives move data between their operands in an order of their own.
void check_composite_aliases(const Call& call, Findings& findings) {
    const OpSpec* spec = find_op(call.op);
    if (!spec || !spec->composite) return;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
        for (std::size_t j = i + 1; j < call.operands.size(); ++j) {
            const auto* a = as<Var>(call.operands[i]);
            const auto* b = as<Var>(call.operands[j]);
            if (!a || !b || a->name != b->name || !a->type.is_memory()) continue;
            if (is_in_place(spec->operands[i], spec->operands[j])) continue;
            findings.error(call.span,
                           fmt::format("'{}' is both {} and {} of {}", a->name,
                                       spec->operands[i].name, spec->operands[j].name, call.op),
                           spec->operands[j].kind == OperandKind::signal
                               ? "data and signals need windows of their own"
                               : "leave input and output out to work in place on the target");
        }
    }
}

}  // namespace

void verify_memory(const Kernel& kernel, const Program& program, Findings& findings) {
    const UsageMap usage = usage_of(kernel, program);
    for (const Param& param : kernel.params) {
        const auto it = usage.find(param.var->name);
        if (it == usage.end()) continue;
        check_direction(param, it->second, findings);
        check_signal_use(param, it->second, findings);
    }
    const std::vector<const Call*> calls = calls_of(kernel.body);
    check_mixed_notifies(calls, findings);
    for (const Call* call : calls) check_composite_aliases(*call, findings);
}

}  // namespace peal::ir
