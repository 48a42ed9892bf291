// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

#include "peal/diagnostic.hpp"
#include "peal/source.hpp"

namespace peal::emit {

// Says what a device cannot do. Throws ProgramError at `where` in the program's text.
class Trouble {
public:
    explicit Trouble(const Source* source) : source_(source) {}
    [[noreturn]] void fail(Span where, std::string message, std::string hint = {}) const {
        throw ProgramError(
            {{Diagnostic::Severity::error, where, std::move(message), std::move(hint)}}, source_);
    }

private:
    const Source* source_;
};

}  // namespace peal::emit
