// SPDX-License-Identifier: Apache-2.0
#include "language/report.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace peal::language {
namespace {

std::vector<Diagnostic> in_source_order(std::vector<Diagnostic> diagnostics) {
    std::stable_sort(
        diagnostics.begin(), diagnostics.end(), [](const Diagnostic& a, const Diagnostic& b) {
            return std::tie(a.span.line, a.span.column) < std::tie(b.span.line, b.span.column);
        });
    return diagnostics;
}

}  // namespace

void Report::error(Span span, std::string message, std::string hint) {
    if (errors_.size() == kMaxErrors) {
        overflowed_ = true;
        throw TooManyErrors{};
    }
    errors_.push_back({Diagnostic::Severity::error, span, std::move(message), std::move(hint)});
}

void Report::warning(Span span, std::string message, std::string hint) {
    warnings_.push_back({Diagnostic::Severity::warning, span, std::move(message), std::move(hint)});
}

void Report::fail(Span span, std::string message, std::string hint) {
    error(span, std::move(message), std::move(hint));
    throw Abandoned{};
}

std::vector<Diagnostic> Report::errors() const {
    std::vector<Diagnostic> errors = in_source_order(errors_);
    if (overflowed_) {
        errors.push_back(
            {Diagnostic::Severity::error, {}, "too many errors; the rest is not shown", {}});
    }
    return errors;
}

std::vector<Diagnostic> Report::warnings() const { return in_source_order(warnings_); }

}  // namespace peal::language
