// SPDX-License-Identifier: Apache-2.0
#include "ir/verify.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "peal/builder.hpp"

namespace peal::ir {
namespace {

void verify_kernel_names(const Program& program, Findings& findings) {
    std::set<std::string_view> seen;
    for (const Kernel& kernel : program.kernels) {
        if (!seen.insert(kernel.name).second) {
            findings.error(kernel.span, fmt::format("kernel '{}' is defined twice", kernel.name));
        }
    }
}

}  // namespace

void Findings::error(Span span, std::string message, std::string hint) {
    list.push_back({Diagnostic::Severity::error, span, std::move(message), std::move(hint)});
}

void Findings::warning(Span span, std::string message, std::string hint) {
    list.push_back({Diagnostic::Severity::warning, span, std::move(message), std::move(hint)});
}

std::vector<Diagnostic> verify(const Program& program) {
    Findings findings;
    verify_kernel_names(program, findings);
    for (const Kernel& kernel : program.kernels) {
        verify_scopes(kernel, findings);
        verify_invokes(kernel, program, findings);
    }
    // The rules below take names and arguments for granted.
    if (findings.list.empty()) {
        for (const Kernel& kernel : program.kernels) {
            verify_memory(kernel, program, findings);
            verify_divergence(kernel, program, findings);
        }
    }
    std::stable_sort(
        findings.list.begin(), findings.list.end(), [](const Diagnostic& a, const Diagnostic& b) {
            return std::pair(a.span.line, a.span.column) < std::pair(b.span.line, b.span.column);
        });
    return std::move(findings.list);
}

namespace {

std::vector<Diagnostic> errors_of(const Program& program) {
    std::vector<Diagnostic> errors = verify(program);
    std::erase_if(errors,
                  [](const Diagnostic& d) { return d.severity != Diagnostic::Severity::error; });
    return errors;
}

}  // namespace

Program verified(Program program) {
    std::vector<Diagnostic> errors = errors_of(program);
    if (!errors.empty()) throw ProgramError(std::move(errors), program.source.get());
    return program;
}

void require_valid(const Program& program, std::string_view after) {
    std::vector<Diagnostic> errors = errors_of(program);
    if (errors.empty()) return;
    for (Diagnostic& error : errors) error.message += fmt::format(" (after {})", after);
    throw ProgramError(std::move(errors), program.source.get());
}

}  // namespace peal::ir
