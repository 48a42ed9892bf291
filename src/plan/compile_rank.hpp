// SPDX-License-Identifier: Apache-2.0
// One rank's plan: the road from a program to a plan. compile() goes it for each rank, and a
// process that is one rank goes it once; so what is proved of all ranks is what each of them runs.
#pragma once

#include <string_view>

#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/plan.hpp"
#include "plan/resolved.hpp"

namespace peal::plan {

// A program lowered and one of its kernels, for any number of plans. A program that was built in
// C++ gets its own lowered text as the source that instructions and errors refer to.
class LoweredKernel {
public:
    // Throws ProgramError, or Error(usage) when there is no such kernel.
    LoweredKernel(const ir::Program& program, std::string_view kernel);
    LoweredKernel(const LoweredKernel&) = delete;
    LoweredKernel& operator=(const LoweredKernel&) = delete;

    const ResolvedKernel& resolved() const { return resolved_; }

private:
    ir::Program program_;
    ResolvedKernel resolved_;  // refers to the program
};

// Specialised, fused (if so asked) and validated. Throws as specialise() and validate() do.
Plan compile_rank(const LoweredKernel& kernel, const Bindings& bindings, int rank, int nranks,
                  const CompileOptions& options = {});
Plan compile_rank(const ResolvedKernel& kernel, const Bindings& bindings, int rank, int nranks,
                  const CompileOptions& options = {});

// What compile(collective, nranks) has at `rank`, but for the source: lines are 0.
//
// The first call for a kind, recipe, element, operation and placement lowers the program and keeps
// it for the life of the process; after that a new count, root, table or rank costs only the plan
// itself: it is quick enough to be made by the call that needs it. Safe to call from several
// threads.
Plan compile_rank(const Collective& collective, int rank, int nranks);

}  // namespace peal::plan
