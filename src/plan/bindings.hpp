// SPDX-License-Identifier: Apache-2.0
// What a kernel needs to know before it becomes a plan.
#pragma once

#include "peal/compile.hpp"
#include "plan/resolved.hpp"

namespace peal {

// Throws Error(usage) unless the bindings name exactly the symbols, scalars and tables of the
// kernel, each as what it is, with scalars in the range of their element types.
void require_bindings(const ResolvedKernel& kernel, const Bindings& bindings);

}  // namespace peal
