// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.hpp"

#include "collectives/catalogue.hpp"
#include "passes/rewrite.hpp"

namespace peal::passes {

using namespace ir;  // NOLINT: passes are about the IR

Program lower_composite_ops(const Program& program) {
    return map_kernels(program, [](const Kernel& kernel) {
        NameCounter names = names_of(kernel);
        Kernel result = kernel;
        result.body = rewrite_block(
            kernel.body, [&](const StmtPtr& stmt) -> std::optional<std::vector<StmtPtr>> {
                const auto* statement = as<Eval>(stmt);
                const auto* call = statement ? as<Call>(statement->call) : nullptr;
                if (!call || !find_op(call->op)->composite) return std::nullopt;
                LoweringBuilder builder(names, stmt->span);
                collectives::lower_composite(*call, builder);
                return builder.Take().stmts;
            });
        return result;
    });
}

}  // namespace peal::passes
