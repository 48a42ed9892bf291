// SPDX-License-Identifier: Apache-2.0
// From a program to plans: lower (passes on the IR), specialise (rank, sizes and scalars become
// known), fuse (tile round trips disappear).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "peal/bindings.hpp"
#include "peal/collective.hpp"
#include "peal/diagnostic.hpp"
#include "peal/ir.hpp"
#include "peal/limits.hpp"
#include "peal/lower.hpp"
#include "peal/plan.hpp"

namespace peal {

struct CompileOptions {
    bool fuse = true;
    // How many things a rank does at once: the kernel is carried out once for each of them, with
    // `lane` 0, 1, ... (see Plan::lanes). More than one are for kernels that ask for `lane`.
    int lanes = 1;
    std::uint64_t max_instructions = 4'000'000;  // per rank; more is an Error(program)
    // When plans must be made; later is an Error(bound).
    std::optional<std::chrono::steady_clock::time_point> deadline;
};

// A `require` of the kernel does not hold for this number of ranks, these sizes and scalars.
class RequirementError : public ProgramError {
    using ProgramError::ProgramError;
};

// One rank's plan of a kernel in a lowered program. Throws RequirementError, Error(usage) when a
// binding is missing, left over or of the wrong size, and Error(program) when a range leaves its
// buffer, tiles of different sizes meet, or signal arithmetic is not affine in the generation; that
// message shows the source line.
Plan specialise(const ir::Program& lowered, std::string_view kernel, const Bindings& bindings,
                int rank, int nranks, const CompileOptions& options = {});

// The same work with fewer passes over memory. Every access to a window stays between the same
// notifies and waits as before; private memory may be read or written earlier or later.
Plan fuse(Plan plan);

// lower + specialise + fuse for all ranks, validated. When the program was built in C++, its
// lowered text becomes the source that instructions refer to.
std::vector<Plan> compile(const ir::Program& program, std::string_view kernel,
                          const Bindings& bindings, int nranks, const CompileOptions& options = {});
// With as many lanes as the collective says.
std::vector<Plan> compile(const Collective& collective, int nranks,
                          const CompileOptions& options = {});

}  // namespace peal
