// SPDX-License-Identifier: Apache-2.0
// Calls of one kernel by another.
#include <set>

#include <fmt/format.h>

#include "ir/describe.hpp"
#include "ir/effects.hpp"
#include "ir/fields.hpp"
#include "ir/verify.hpp"

namespace peal::ir {
namespace {

bool reaches(const Program& program, const Kernel& from, std::string_view target,
             std::set<std::string_view>& seen) {
    bool found = false;
    walk_stmts(from.body, [&](const StmtPtr& stmt) {
        const auto* call = as<Invoke>(stmt);
        if (!call || found) return;
        if (call->kernel == target) {
            found = true;
            return;
        }
        const Kernel* callee = program.find(call->kernel);
        if (callee && seen.insert(callee->name).second)
            found = reaches(program, *callee, target, seen);
    });
    return found;
}

bool fits(const Type& argument, const Type& param) {
    if (param.kind == Type::Kind::scalar) {
        return argument.kind == Type::Kind::scalar &&
               (is_float(param.element) || !is_float(argument.element));
    }
    // A kernel that takes private memory also takes a window of its caller.
    const bool kind_fits = argument.kind == param.kind || (param.kind == Type::Kind::tensor &&
                                                           argument.kind == Type::Kind::window);
    return kind_fits && argument.element == param.element &&
           argument.shape.size() == param.shape.size();
}

std::string expectation(const Type& type) {
    if (type.shape.empty()) return describe(type);
    return fmt::format("{} with {} dimension{}", describe(type), type.shape.size(),
                       type.shape.size() == 1 ? "" : "s");
}

void check_aliases(const Invoke& call, const Kernel& callee, const Program& program,
                   Findings& findings) {
    const UsageMap usage = usage_of(callee, program);
    const auto written = [&](std::size_t i) {
        const auto it = usage.find(callee.params[i].var->name);
        return it != usage.end() && it->second.written;
    };
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        for (std::size_t j = i + 1; j < call.arguments.size(); ++j) {
            const auto* a = as<Var>(call.arguments[i]);
            const auto* b = as<Var>(call.arguments[j]);
            if (!a || !b || a->name != b->name || !a->type.is_memory()) continue;
            if (!written(i) && !written(j)) continue;
            findings.error(call.span,
                           fmt::format("'{}' is passed as both '{}' and '{}' of kernel '{}', which "
                                       "writes it",
                                       a->name, callee.params[i].var->name,
                                       callee.params[j].var->name, callee.name),
                           "two parameters of one kernel never share memory");
        }
    }
}

void check_invoke(const Invoke& call, const Kernel& kernel, const Program& program,
                  Findings& findings) {
    const Kernel* callee = program.find(call.kernel);
    if (!callee) {
        return findings.error(call.span, fmt::format("there is no kernel '{}'", call.kernel));
    }
    std::set<std::string_view> seen;
    if (callee->name == kernel.name || reaches(program, *callee, kernel.name, seen)) {
        return findings.error(call.span, fmt::format("kernel '{}' calls itself", kernel.name),
                              "a plan is a flat list: use a loop");
    }
    if (call.arguments.size() != callee->params.size()) {
        return findings.error(call.span,
                              fmt::format("kernel '{}' takes {} arguments, found {}", callee->name,
                                          callee->params.size(), call.arguments.size()));
    }
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const Type& wanted = callee->params[i].var->type;
        const Type found = type_of(*call.arguments[i]);
        const bool named = wanted.kind == Type::Kind::scalar || as<Var>(call.arguments[i]);
        if (fits(found, wanted) && named) continue;
        findings.error(call.span,
                       fmt::format("argument {} of kernel '{}' ('{}') must be {}, found {}", i + 1,
                                   callee->name, callee->params[i].var->name, expectation(wanted),
                                   expectation(found)));
    }
    check_aliases(call, *callee, program, findings);
}

}  // namespace

void verify_invokes(const Kernel& kernel, const Program& program, Findings& findings) {
    walk_stmts(kernel.body, [&](const StmtPtr& stmt) {
        if (const auto* call = as<Invoke>(stmt)) check_invoke(*call, kernel, program, findings);
    });
}

}  // namespace peal::ir
