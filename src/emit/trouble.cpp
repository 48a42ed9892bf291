// SPDX-License-Identifier: Apache-2.0
#include "emit/trouble.hpp"

#include "peal/diagnostic.hpp"

namespace peal::emitter {

void Trouble::fail(Span where, std::string message, std::string hint) const {
    throw ProgramError({{Diagnostic::Severity::error, where, std::move(message), std::move(hint)}},
                       source_);
}

}  // namespace peal::emitter
