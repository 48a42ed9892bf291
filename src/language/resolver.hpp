// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "language/report.hpp"
#include "language/syntax.hpp"
#include "peal/ir.hpp"

namespace peal::language {

// The kernels of a file as IR. Kernels that have syntax errors are left out; errors are reported,
// and what is returned is a program only if there were none.
std::vector<ir::Kernel> resolve(const syntax::File& file, Report& report);

}  // namespace peal::language
