// SPDX-License-Identifier: Apache-2.0
// Names, types and calls of one kernel.
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "ir/describe.hpp"
#include "ir/fields.hpp"
#include "ir/registry.hpp"
#include "ir/verify.hpp"
#include "peal/error.hpp"
#include "peal/ops.hpp"

namespace peal::ir {
namespace {

// Integers of all widths are one type inside expressions, and so are floating scalars.
bool same_type(const Type& a, const Type& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == Type::Kind::scalar) return is_float(a.element) == is_float(b.element);
    return a.element == b.element;
}

class ScopeVerifier {
public:
    ScopeVerifier(const Kernel& kernel, Findings& findings)
        : kernel_(kernel), findings_(findings) {}

    void run() {
        const std::vector<VarPtr> symbols = symbols_of(kernel_);
        for (const VarPtr& symbol : symbols) define(*symbol, kernel_.span);
        for (const Param& param : kernel_.params) {
            define(*param.var, param.var->span);
            check_param(param);
        }
        check_block(kernel_.body);
        if (!kernel_.body.yields.empty()) {
            findings_.error(kernel_.span, "a kernel yields nothing");
        }
    }

private:
    void define(const Var& var, Span span) {
        if (!names_.insert(var.name).second) {
            findings_.error(
                span, fmt::format("'{}' is defined twice in kernel '{}'", var.name, kernel_.name));
        }
        open(var);
    }

    void open(const Var& var) {
        const Type*& type = in_scope_[var.name];
        opened_.push_back({var.name, type, checked_.size()});
        type = &var.type;
    }

    // Ends the scope of everything that was opened after the first `outer` variables.
    void close(std::size_t outer) {
        if (opened_.size() > outer) forget_checked(opened_[outer].checked);
        for (; opened_.size() > outer; opened_.pop_back()) {
            in_scope_[opened_.back().name] = opened_.back().before;
        }
    }

    // Nodes are shared: what was checked is right wherever the same variables are in scope. False
    // if it was.
    bool is_unchecked(const ExprPtr& expr) {
        if (expr.use_count() == 1) return true;
        if (!is_checked_.insert(expr.get()).second) return false;
        checked_.push_back(expr.get());
        return true;
    }

    void forget_checked(std::size_t kept) {
        for (; checked_.size() > kept; checked_.pop_back()) is_checked_.erase(checked_.back());
    }

    void check_param(const Param& param) {
        const Type& type = param.var->type;
        if (!type.is_memory() && param.direction != Direction::unknown) {
            findings_.error(param.var->span,
                            fmt::format("parameter '{}' is {} and has no direction",
                                        param.var->name, describe(type)));
        }
        walk_exprs(type, [&](const ExprPtr& expr) {
            const auto* call = as<Call>(expr);
            if (type.kind == Type::Kind::window && call && call->op == ops::kRank) {
                findings_.error(
                    param.var->span,
                    fmt::format("the shape of window '{}' depends on rank", param.var->name),
                    "a window is symmetric: it has the same shape on every rank");
            }
            if (call && call->op == ops::kLane) {
                findings_.error(param.var->span,
                                fmt::format("the shape of '{}' depends on lane", param.var->name),
                                "the lanes of a rank share its memory; nlanes says how many they "
                                "are");
                return;
            }
            if (call && call->op != ops::kRank && call->op != ops::kNranks &&
                call->op != ops::kNlanes && call->op != ops::kContext) {
                findings_.error(param.var->span, fmt::format("the shape of '{}' uses {}",
                                                             param.var->name, call->op));
            }
        });
    }

    void check_block(const Block& block) {
        for (const StmtPtr& stmt : block.stmts) {
            dispatch(*stmt, [&](const auto& concrete) { check(concrete); });
        }
    }

    // Definitions made inside a block end with it.
    void check_scope(const Block& block, const std::vector<VarPtr>& results, Span span,
                     std::string_view what) {
        check_block(block);
        for (const ExprPtr& value : block.yields) check_expr(value);
        if (block.yields.size() != results.size()) {
            findings_.error(span, fmt::format("{} yields {} values for {} results", what,
                                              block.yields.size(), results.size()));
            return;
        }
        for (std::size_t i = 0; i < results.size(); ++i) {
            const Type& found = type_of(*block.yields[i]);
            if (same_type(found, results[i]->type)) continue;
            findings_.error(span,
                            fmt::format("{} yields {} for '{}', which is {}", what, describe(found),
                                        results[i]->name, describe(results[i]->type)));
        }
    }

    void check(const Let& stmt) {
        check_expr(stmt.value);
        const Type& found = type_of(*stmt.value);
        if (found.kind != Type::Kind::tile && found.kind != Type::Kind::scalar &&
            found.kind != Type::Kind::boolean) {
            findings_.error(stmt.span, fmt::format("'{}' cannot be bound to {}", stmt.var->name,
                                                   describe(found)));
        } else if (!same_type(found, stmt.var->type)) {
            findings_.error(stmt.span, fmt::format("'{}' is {} but is bound to {}", stmt.var->name,
                                                   describe(stmt.var->type), describe(found)));
        }
        define(*stmt.var, stmt.span);
    }

    void check(const Eval& stmt) {
        const auto* call = as<Call>(stmt.call);
        if (!call) return findings_.error(stmt.span, "only a call can stand alone");
        check_expr(stmt.call);
        if (call->type.kind != Type::Kind::none) {
            findings_.error(stmt.span, fmt::format("the result of {} is not used", call->op),
                            "bind it with let");
        }
    }

    void check(const ForStmt& stmt) {
        check_kind(stmt.lo, Type::Kind::scalar, "a loop bound");
        check_kind(stmt.hi, Type::Kind::scalar, "a loop bound");
        for (const Carried& carried : stmt.carried) check_expr(carried.init);
        const std::size_t outer = opened_.size();
        define(*stmt.var, stmt.span);
        std::vector<VarPtr> results;
        for (const Carried& carried : stmt.carried) {
            define(*carried.inner, stmt.span);
            results.push_back(carried.result);
            if (!same_type(type_of(*carried.init), carried.inner->type)) {
                findings_.error(
                    stmt.span,
                    fmt::format("'{}' is {} but starts as {}", carried.inner->name,
                                describe(carried.inner->type), describe(type_of(*carried.init))));
            }
        }
        check_scope(stmt.body, results, stmt.span, "the loop body");
        close(outer);
        for (const VarPtr& result : results) define(*result, stmt.span);
    }

    void check(const IfStmt& stmt) {
        check_kind(stmt.condition, Type::Kind::boolean, "a condition");
        const std::size_t outer = opened_.size();
        check_scope(stmt.then_block, stmt.results, stmt.span, "the first branch");
        close(outer);
        check_scope(stmt.else_block, stmt.results, stmt.span, "the second branch");
        close(outer);
        for (const VarPtr& result : stmt.results) define(*result, stmt.span);
    }

    void check(const Invoke& stmt) {
        for (const ExprPtr& argument : stmt.arguments) check_expr(argument);
    }

    void check_kind(const ExprPtr& expr, Type::Kind kind, std::string_view what) {
        check_expr(expr);
        const Type& found = type_of(*expr);
        if (found.kind == kind && (kind != Type::Kind::scalar || found.is_integer())) return;
        findings_.error(expr->span,
                        fmt::format("{} must be {}, found {}", what,
                                    kind == Type::Kind::boolean ? "a comparison" : "an integer",
                                    describe(found)));
    }

    void check_expr(const ExprPtr& expr) {
        if (const auto* var = as<Var>(expr)) return check_var(*var);
        if (is_leaf(*expr) || !is_unchecked(expr)) return;
        if (const auto* fold = as<Fold>(expr)) return check_fold(*fold);
        if (const auto* binary = as<Binary>(expr)) check_binary(*binary);
        if (const auto* call = as<Call>(expr)) check_call(*call);
        // Types are checked where variables are defined; only operands are visited here.
        if (as<Call>(expr)) {
            for (const ExprPtr& operand : as<Call>(expr)->operands) {
                if (operand) check_expr(operand);
            }
        } else {
            for_each_child(*expr, [&](const auto& child) {
                if constexpr (std::is_convertible_v<decltype(child), ExprPtr>) check_expr(child);
            });
        }
    }

    void check_var(const Var& var) {
        const Type* type = type_in_scope(var);
        if (!type) {
            findings_.error(var.span, fmt::format("'{}' is not defined here", var.name));
        } else if (!same_type(*type, var.type)) {
            findings_.error(var.span, fmt::format("'{}' is {} but is used as {}", var.name,
                                                  describe(*type), describe(var.type)));
        }
    }

    void check_fold(const Fold& fold) {
        check_kind(fold.lo, Type::Kind::scalar, "a bound");
        check_kind(fold.hi, Type::Kind::scalar, "a bound");
        if (type_in_scope(*fold.var)) {
            findings_.error(fold.span, fmt::format("'{}' is already defined here", fold.var->name));
        }
        const std::size_t outer = opened_.size();
        open(*fold.var);
        check_kind(fold.body, Type::Kind::scalar, "a summand");
        close(outer);
    }

    void check_binary(const Binary& expr) {
        const bool logic = expr.op == BinaryOp::logical_and || expr.op == BinaryOp::logical_or;
        for (const ExprPtr& side : {expr.lhs, expr.rhs}) {
            const Type& found = type_of(*side);
            if (logic ? found.kind == Type::Kind::boolean : found.is_integer()) continue;
            findings_.error(expr.span,
                            fmt::format("'{}' takes {}, found {}", name(expr.op),
                                        logic ? "conditions" : "integers", describe(found)));
        }
    }

    void check_call(const Call& call) {
        try {
            require_well_formed(call);
        } catch (const Error& error) {
            findings_.error(call.span, error.what());
        }
    }

    // Null when there is no such variable here.
    const Type* type_in_scope(const Var& var) const {
        const auto it = in_scope_.find(var.name);
        return it == in_scope_.end() ? nullptr : it->second;
    }

    struct Opened {
        std::string_view name;
        const Type* before;   // what the name meant outside
        std::size_t checked;  // how many nodes were
    };

    const Kernel& kernel_;
    Findings& findings_;
    std::unordered_set<std::string_view> names_;
    std::unordered_map<std::string_view, const Type*> in_scope_;
    std::vector<Opened> opened_;
    std::vector<const Expr*> checked_;  // shared nodes, in order
    std::unordered_set<const Expr*> is_checked_;
};

}  // namespace

void verify_scopes(const Kernel& kernel, Findings& findings) {
    ScopeVerifier(kernel, findings).run();
}

}  // namespace peal::ir
