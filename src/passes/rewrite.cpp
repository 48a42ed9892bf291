// SPDX-License-Identifier: Apache-2.0
#include "passes/rewrite.hpp"

#include <unordered_map>

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

// Nodes are shared: each is rewritten once, and the results are shared in turn.
class ExprRewriter {
public:
    explicit ExprRewriter(const ExprRewrite& rewrite) : rewrite_(rewrite) {}

    VarPtr operator()(const VarPtr& var) {
        if (is_plain(*var)) return var;
        VarPtr& result = definitions_[var.get()];
        if (!result) result = std::static_pointer_cast<const Var>(map_node(ExprPtr(var), *this));
        return result;
    }
    ExprPtr operator()(const ExprPtr& expr) {
        if (is_plain(*expr)) return rewrite_(expr);
        if (expr.use_count() == 1) return rewrite_(map_node(expr, *this));
        const auto it = done_.find(expr.get());
        if (it != done_.end()) return it->second;
        ExprPtr result = rewrite_(map_node(expr, *this));
        done_.emplace(expr.get(), result);
        return result;
    }
    StmtPtr operator()(const StmtPtr& stmt) { return map_node(stmt, *this); }

private:
    // There is nothing below it.
    static bool is_plain(const Expr& expr) { return is_leaf(expr) && type_of(expr).shape.empty(); }

    const ExprRewrite& rewrite_;
    std::unordered_map<const Expr*, ExprPtr> done_;
    std::unordered_map<const Var*, VarPtr> definitions_;
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
    return expr ? ExprRewriter(rewrite)(expr) : expr;
}

Kernel rewrite_exprs(const Kernel& kernel, const ExprRewrite& rewrite) {
    return map_children(kernel, ExprRewriter(rewrite));
}

NameCounter names_of(const Kernel& kernel) {
    NameCounter names;
    const auto reserve = [&](const ExprPtr& expr) {
        if (const auto* var = as<Var>(expr)) names.Reserve(var->name);
    };
    walk_exprs(kernel.params, reserve);
    walk_exprs<Types::skip>(kernel.body, reserve);
    return names;
}

Program map_kernels(const Program& program, const std::function<Kernel(const Kernel&)>& change) {
    Program result;
    result.source = program.source;
    for (const Kernel& kernel : program.kernels) result.kernels.push_back(change(kernel));
    return result;
}

}  // namespace peal::passes
