// SPDX-License-Identifier: Apache-2.0
#include "peal/compile.hpp"

#include <memory>

#include <fmt/format.h>

#include "peal/program.hpp"
#include "plan/place_tiles.hpp"
#include "plan/specialise.hpp"

namespace peal {
namespace {

// Instructions and errors refer to lines. A program that was built in C++ gets its own lowered text
// to refer to.
ir::Program with_source(ir::Program lowered, std::string_view kernel) {
    if (lowered.source) return lowered;
    return parse(
        std::make_shared<const Source>(fmt::format("{}.peal (lowered)", kernel), print(lowered)));
}

}  // namespace

std::vector<Plan> compile(const ir::Program& program, std::string_view kernel,
                          const Bindings& bindings, int nranks, const CompileOptions& options) {
    const ir::Program lowered = with_source(lower(program), kernel);
    const ResolvedKernel resolved = resolve(lowered, kernel);
    std::vector<Plan> plans;
    for (int rank = 0; rank == 0 || rank < nranks; ++rank) {
        Plan plan = specialise(resolved, bindings, rank, nranks, options);
        if (options.fuse) {
            plan = fuse(std::move(plan));
        } else {
            place_tiles(plan);
        }
        plans.push_back(std::move(plan));
    }
    validate(plans);
    return plans;
}

}  // namespace peal
