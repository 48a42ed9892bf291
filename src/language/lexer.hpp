// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "language/report.hpp"
#include "language/token.hpp"
#include "peal/source.hpp"

namespace peal::language {

// The tokens of a text, the last one being Kind::end. Whatever is no token is reported and becomes
// one of Kind::bad. The tokens refer to the source's text.
std::vector<Token> lex(const Source& source, Report& report);

}  // namespace peal::language
