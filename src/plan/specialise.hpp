// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/compile.hpp"
#include "plan/resolved.hpp"

namespace peal {

// As specialise() in peal/compile.hpp, for a kernel that serves many ranks and sizes.
Plan specialise(const ResolvedKernel& kernel, const Bindings& bindings, int rank, int nranks,
                const CompileOptions& options = {});

}  // namespace peal
