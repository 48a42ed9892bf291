// SPDX-License-Identifier: Apache-2.0
#include "passes/rewrite.hpp"

#include "ir/fields.hpp"

namespace peal::passes {

using namespace ir;  // NOLINT: passes are about the IR

namespace {

struct BlockRewriter {
    const StmtRewrite& rewrite;

    StmtPtr nested(const StmtPtr& stmt) const {
        if (const auto* loop = as<ForStmt>(stmt)) {
            return for_loop(loop->var, loop->lo, loop->hi, loop->carried,
                            rewrite_block(loop->body, rewrite), loop->span);
        }
        if (const auto* branch = as<IfStmt>(stmt)) {
            return if_else(branch->condition, branch->results,
                           rewrite_block(branch->then_block, rewrite),
                           rewrite_block(branch->else_block, rewrite), branch->span);
        }
        return stmt;
    }
};

struct ExprRewriter {
    const ExprRewrite& rewrite;

    VarPtr operator()(const VarPtr& var) const {
        return variable(var->name, map_children(var->type, *this), var->span);
    }
    ExprPtr operator()(const ExprPtr& expr) const { return rewrite_expr(expr, rewrite); }
    StmtPtr operator()(const StmtPtr& stmt) const { return map_node(stmt, *this); }
};

}  // namespace

Block rewrite_block(const Block& block, const StmtRewrite& rewrite) {
    const BlockRewriter rewriter{rewrite};
    Block result;
    result.yields = block.yields;
    for (const StmtPtr& stmt : block.stmts) {
        const StmtPtr inner = rewriter.nested(stmt);
        if (auto replacement = rewrite(inner)) {
            for (StmtPtr& each : *replacement) result.stmts.push_back(std::move(each));
        } else {
            result.stmts.push_back(inner);
        }
    }
    return result;
}

ExprPtr rewrite_expr(const ExprPtr& expr, const ExprRewrite& rewrite) {
    return expr ? rewrite(map_node(expr, ExprRewriter{rewrite})) : expr;
}

Kernel rewrite_exprs(const Kernel& kernel, const ExprRewrite& rewrite) {
    return map_children(kernel, ExprRewriter{rewrite});
}

NameCounter names_of(const Kernel& kernel) {
    NameCounter names;
    walk_exprs(kernel, [&](const ExprPtr& expr) {
        if (const auto* var = as<Var>(expr)) names.Reserve(var->name);
    });
    return names;
}

Program map_kernels(const Program& program, const std::function<Kernel(const Kernel&)>& change) {
    Program result;
    result.source = program.source;
    for (const Kernel& kernel : program.kernels) result.kernels.push_back(change(kernel));
    return result;
}

}  // namespace peal::passes
