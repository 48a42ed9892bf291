// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/compile.hpp"
#include "plan/draft.hpp"
#include "plan/resolved.hpp"

namespace peal::plan {

// As specialise() in peal/compile.hpp, for a kernel that serves many ranks and sizes.
Draft specialise(const ResolvedKernel& kernel, const Bindings& bindings, int rank, int nranks,
                 const CompileOptions& options = {});

// Throws Error(usage) unless the bindings name exactly the symbols, scalars and tables of the
// kernel, each as what it is, with scalars in the range of their element types.
void require_bindings(const ResolvedKernel& kernel, const Bindings& bindings);

}  // namespace peal::plan
