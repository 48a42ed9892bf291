// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.hpp"

#include "ir/effects.hpp"
#include "passes/rewrite.hpp"

namespace peal::passes {

using namespace ir;  // NOLINT: passes are about the IR

namespace {

Block with_tiles(const Kernel& kernel) {
    NameCounter names = names_of(kernel);
    return rewrite_block(
        kernel.body, [&](const StmtPtr& stmt) -> std::optional<std::vector<StmtPtr>> {
            const auto* statement = as<Eval>(stmt);
            const auto* copy = statement ? as<Call>(statement->call) : nullptr;
            if (!copy || copy->op != ops::kTensorCopy) return std::nullopt;
            LoweringBuilder b(names, stmt->span);
            const ExprPtr tile = b.Load(operand(*copy, "src"), operand(*copy, "src_offset"),
                                        operand(*copy, "count"));
            b.Store(tile, operand(*copy, "dst"), operand(*copy, "dst_offset"));
            return b.Take().stmts;
        });
}

void infer_directions(Kernel& kernel, const Program& program) {
    const UsageMap usage = usage_of(kernel, program);
    for (Param& param : kernel.params) {
        if (!param.var->type.is_memory() || param.direction != Direction::unknown) continue;
        const auto it = usage.find(param.var->name);
        param.direction = it == usage.end() ? Direction::in : it->second.direction();
    }
}

}  // namespace

Program convert_tensor_to_tile_ops(const Program& program) {
    return map_kernels(program, [&](const Kernel& kernel) {
        Kernel result = kernel;
        infer_directions(result, program);
        result.body = with_tiles(kernel);
        return result;
    });
}

}  // namespace peal::passes
