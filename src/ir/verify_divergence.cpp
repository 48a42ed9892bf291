// SPDX-License-Identifier: Apache-2.0
// A collective is entered by all ranks or by none; a generation advances alike on all. So neither
// may stand inside control flow that can differ between ranks. Scalars and tables are the same on
// every rank by contract; what differs is `rank` and whatever is computed from it.
#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "ir/effects.hpp"
#include "ir/fields.hpp"
#include "ir/verify.hpp"
#include "peal/ops.hpp"

namespace peal::ir {
namespace {

bool is_collective(const Call& call) {
    const OpSpec* spec = find_op(call.op);
    return (spec && spec->composite) || call.op == ops::kAdvance;
}

bool has_collective(const Kernel& kernel, const Program& program, std::set<std::string>& seen) {
    if (!seen.insert(kernel.name).second) return false;
    const std::vector<const Call*> calls = calls_of(kernel.body);
    bool found = std::any_of(calls.begin(), calls.end(),
                             [](const Call* call) { return is_collective(*call); });
    walk_stmts(kernel.body, [&](const StmtPtr& stmt) {
        const auto* call = as<Invoke>(stmt);
        const Kernel* callee = call ? program.find(call->kernel) : nullptr;
        found = found || (callee && has_collective(*callee, program, seen));
    });
    return found;
}

class DivergenceVerifier {
public:
    DivergenceVerifier(const Program& program, Findings& findings)
        : program_(program), findings_(findings) {}

    void check_block(const Block& block) {
        for (const StmtPtr& stmt : block.stmts) {
            dispatch(*stmt, [&](const auto& concrete) { check(concrete); });
        }
    }

private:
    // Nodes are shared. What differs does so for good; what does not is looked at again when more
    // variables do.
    bool differs(const ExprPtr& expr) {
        if (const auto* var = as<Var>(expr)) return differing_.contains(var->name);
        if (is_leaf(*expr)) return false;
        Answer& answer = answers_[expr.get()];
        if (answer.differs || answer.known == differing_.size() + 1) return answer.differs;
        answer.known = differing_.size() + 1;
        const auto* call = as<Call>(expr);
        bool found = call && call->op == ops::kRank;
        for_each_child<Types::skip>(*expr,
                                    [&](const auto& child) { found = found || differs(child); });
        return answers_[expr.get()].differs = found;
    }

    void taint(const VarPtr& var, bool differs) {
        if (differs) differing_.insert(var->name);
    }

    void check(const Let& stmt) { taint(stmt.var, differs(stmt.value)); }

    void check(const Eval& stmt) {
        const auto* call = as<Call>(stmt.call);
        if (!call || !is_collective(*call)) return;
        if (inside_) report(call->op, stmt.span);
        const ExprPtr uniform =
            call->op == ops::kAdvance ? operand(*call, "by") : operand(*call, "root");
        if (uniform && differs(uniform)) {
            findings_.error(stmt.span,
                            fmt::format("{}: '{}' differs between ranks", call->op,
                                        call->op == ops::kAdvance ? "by" : "root"),
                            "it must be the same on every rank");
        }
    }

    void check(const Invoke& stmt) {
        const Kernel* callee = program_.find(stmt.kernel);
        std::set<std::string> seen;
        if (inside_ && callee && has_collective(*callee, program_, seen))
            report(stmt.kernel, stmt.span);
    }

    void check(const ForStmt& stmt) {
        const bool here = differs(stmt.lo) || differs(stmt.hi);
        taint(stmt.var, here);
        for (const Carried& carried : stmt.carried) {
            taint(carried.inner, here || differs(carried.init));
            taint(carried.result, here || differs(carried.init));
        }
        const Span* outer = inside_;
        if (here) inside_ = &stmt.span;
        // A carried value can become rank-dependent in the body and flow around: look again until
        // nothing new is known. Only the last look reports.
        for (bool stable = false; !stable;) {
            const std::size_t reported = findings_.list.size();
            const std::size_t known = differing_.size();
            check_block(stmt.body);
            for (std::size_t i = 0; i < stmt.carried.size(); ++i) {
                taint(stmt.carried[i].inner, differs(stmt.body.yields[i]));
                taint(stmt.carried[i].result, differs(stmt.body.yields[i]));
            }
            stable = differing_.size() == known;
            if (!stable) findings_.list.resize(reported);
        }
        inside_ = outer;
    }

    void check(const IfStmt& stmt) {
        const bool here = differs(stmt.condition);
        const Span* outer = inside_;
        if (here) inside_ = &stmt.span;
        check_block(stmt.then_block);
        check_block(stmt.else_block);
        inside_ = outer;
        for (std::size_t i = 0; i < stmt.results.size(); ++i) {
            taint(stmt.results[i],
                  here || differs(stmt.then_block.yields[i]) || differs(stmt.else_block.yields[i]));
        }
    }

    void report(std::string_view what, Span span) {
        findings_.error(
            span,
            fmt::format("{} stands inside control flow that differs between ranks (line {})", what,
                        inside_->line),
            "ranks that pass it by never ring, and the others wait for ever; "
            "call it on every rank");
    }

    const Program& program_;
    Findings& findings_;
    std::set<std::string_view> differing_;
    struct Answer {
        bool differs = false;
        std::size_t known = 0;  // how many variables differed, plus one
    };
    std::unordered_map<const Expr*, Answer> answers_;
    const Span* inside_ = nullptr;  // the innermost divergent statement around
};

}  // namespace

void verify_divergence(const Kernel& kernel, const Program& program, Findings& findings) {
    DivergenceVerifier(program, findings).check_block(kernel.body);
}

}  // namespace peal::ir
