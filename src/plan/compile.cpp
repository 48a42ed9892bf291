// SPDX-License-Identifier: Apache-2.0
#include "peal/compile.hpp"

#include "peal/error.hpp"
#include "plan/compile_rank.hpp"
#include "plan/faults.hpp"

namespace peal {

std::vector<Plan> compile(const ir::Program& program, std::string_view kernel,
                          const Bindings& bindings, int nranks, const CompileOptions& options) {
    const plan::LoweredKernel lowered(program, kernel);
    std::vector<Plan> plans;
    for (int rank = 0; rank == 0 || rank < nranks; ++rank) {
        plans.push_back(plan::compile_rank(lowered, bindings, rank, nranks, options));
    }
    const std::vector<plan::PlanFault> faults = plan::disagreements_of(plans);
    if (!faults.empty()) throw Error(Fault::program, to_text(faults.front()));
    return plans;
}

std::vector<Plan> compile(const Collective& collective, int nranks, const CompileOptions& options) {
    validate(collective, nranks);
    CompileOptions with_lanes = options;
    with_lanes.lanes = lanes_of(collective);
    return compile(program_of(collective), name(collective.kind), bindings_of(collective), nranks,
                   with_lanes);
}

}  // namespace peal
