// SPDX-License-Identifier: Apache-2.0
// The passes, in order. The verifier looks at the program after each.
#include "peal/lower.hpp"
#include "ir/verify.hpp"
#include "passes/pipeline.hpp"

namespace peal {
namespace passes {

const std::vector<Pass>& pipeline() {
    static const std::vector<Pass> passes = {
        {"InlineCalls", inline_calls, true},
        {"ConvertTensorToTileOps", convert_tensor_to_tile_ops, true},
        {"LowerCompositeOps", lower_composite_ops, true},
        {"Simplify", simplify, false},
    };
    return passes;
}

ir::Program apply(const Pass& pass, const ir::Program& program) {
    ir::Program result = pass.run(program);
    ir::require_valid(result, pass.name);
    return result;
}

ir::Program lower_unverified(const ir::Program& program) {
    ir::Program result = program;
    for (const Pass& pass : pipeline()) {
        if (pass.changes_plans) result = pass.run(result);
    }
    return result;
}

}  // namespace passes

ir::Program lower(const ir::Program& program) {
    ir::Program result = program;
    for (const passes::Pass& pass : passes::pipeline()) result = apply(pass, result);
    return result;
}

}  // namespace peal
