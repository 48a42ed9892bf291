// SPDX-License-Identifier: Apache-2.0
// The first and the last stage of parse(); between them is the parser (language/parser.hpp).
#pragma once

#include <vector>

#include "language/report.hpp"
#include "language/syntax.hpp"
#include "language/token.hpp"
#include "peal/ir.hpp"
#include "peal/source.hpp"

namespace peal::language {

// The tokens of a text, the last one being Kind::end. Whatever is no token is reported and becomes
// one of Kind::bad. The tokens refer to the source's text.
std::vector<Token> lex(const Source& source, Report& report);

// The kernels of a file as IR. Kernels that have syntax errors are left out; errors are reported,
// and what is returned is a program only if there were none.
std::vector<ir::Kernel> resolve(const syntax::File& file, Report& report);

}  // namespace peal::language
