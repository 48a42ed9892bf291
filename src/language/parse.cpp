// SPDX-License-Identifier: Apache-2.0
// parse(): lexer, parser, resolver and verifier, one after the other.
#include <cassert>
#include <utility>

#include "base/file.hpp"
#include "ir/verify.hpp"
#include "language/limits.hpp"
#include "language/parser.hpp"
#include "language/report.hpp"
#include "language/stages.hpp"
#include "peal/program.hpp"

namespace peal {
namespace {

ir::Program read_program(const SourcePtr& source, language::Report& report) {
    ir::Program program;
    program.source = source;
    try {
        const std::vector<language::Token> tokens = language::lex(*source, report);
        const language::syntax::File file = language::Parser(tokens, report).file();
        program.kernels = language::resolve(file, report);
    } catch (const language::TooManyErrors&) {
        assert(report.error_count() > 0);
    }
    return program;
}

void throw_errors(std::vector<Diagnostic> errors, const SourcePtr& source) {
    if (!errors.empty()) throw ProgramError(std::move(errors), source.get());
}

}  // namespace

ir::Program parse(SourcePtr source, std::vector<Diagnostic>* warnings) {
    assert(source);
    language::Report report;
    ir::Program program = read_program(source, report);
    throw_errors(report.errors(), source);
    for (Diagnostic& finding : ir::verify(program)) {
        if (finding.severity == Diagnostic::Severity::error) {
            report.error(finding.span, std::move(finding.message), std::move(finding.hint));
        } else {
            report.warning(finding.span, std::move(finding.message), std::move(finding.hint));
        }
    }
    throw_errors(report.errors(), source);
    if (warnings) *warnings = report.warnings();
    return program;
}

ir::Program parse_file(const std::string& path, std::vector<Diagnostic>* warnings) {
    return parse(
        std::make_shared<const Source>(path, base::read_text(path, language::kMaxFileBytes)),
        warnings);
}

}  // namespace peal
