// SPDX-License-Identifier: Apache-2.0
// What there is to say about a program, and where.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "peal/error.hpp"
#include "peal/source.hpp"

namespace peal {

// One thing to say about a program. It prints as
//
//   mesh.peal:7:12: error: expected a value, found '}'
//       7 |     data = }
//         |            ^
//   hint: ...
struct Diagnostic {
    enum class Severity : std::uint8_t { error, warning };
    Severity severity = Severity::error;
    Span span;
    std::string message;
    std::string hint;  // may be empty
};
std::string to_text(const Diagnostic& diagnostic, const Source* source);
std::string to_text(const std::vector<Diagnostic>& diagnostics, const Source* source);

// A program with errors in it: all of them, in source order, in what().
class ProgramError : public Error {
public:
    ProgramError(std::vector<Diagnostic> diagnostics, const Source* source)
        : Error(Fault::program, to_text(diagnostics, source)),
          diagnostics_(std::move(diagnostics)) {}
    const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

private:
    std::vector<Diagnostic> diagnostics_;
};

}  // namespace peal
