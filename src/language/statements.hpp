// SPDX-License-Identifier: Apache-2.0
// From the statements of a kernel to IR in SSA form.
//
// A variable of the text may be assigned again; each assignment is a new IR variable. One that a
// loop body or a branch assigns, and that was defined before, becomes a value that the loop carries
// or a result of the condition.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "language/expressions.hpp"
#include "language/report.hpp"
#include "language/scope.hpp"
#include "language/syntax.hpp"
#include "peal/ir.hpp"

namespace peal::language {

class Statements {
public:
    // `kernels` are the names of all kernels in the file.
    Statements(Scope& scope, Names& names, const std::set<std::string>& kernels, Report& report)
        : scope_(scope), names_(names), kernels_(kernels), report_(report), exprs_(scope, report) {}

    // The body of a kernel.
    ir::Block body(const syntax::Block& block);

private:
    using Values = std::vector<ir::ExprPtr>;
    using BodyFn = std::function<Values()>;
    class Nested;
    struct BranchSpans {
        Span whole;
        Span end;  // of the block that decides whether the types agree
    };
    static constexpr const char* kRename = "choose another name";

    void run(const syntax::Block& block);
    void run(const syntax::Stmt& stmt);

    // statements.cpp
    void resolve(const syntax::Let& stmt, const Span& span);
    void resolve(const syntax::Assign& stmt, const Span& span);
    void resolve(const syntax::Evaluate& stmt, const Span& span);
    void define(const syntax::Identifier& name, const ir::ExprPtr& value, const Span& span);
    void reassign(const syntax::Identifier& name, Entity& entity, const ir::ExprPtr& value,
                  const Span& span);
    void assign_name(const syntax::Identifier& name, const syntax::Expr& value, const Span& span);
    void mark_broken(const syntax::Stmt& stmt);
    void mark_broken(const syntax::Identifier& name);
    void require_new(const syntax::Identifier& name, std::string hint = kRename);
    void invoke(const syntax::Call& call, const Span& span);
    void emit(ir::StmtPtr stmt) { stmts_.push_back(std::move(stmt)); }
    void emit_call(ir::CallPtr call, const Span& span);
    ir::ExprPtr limited(ir::ExprPtr expr);

    // statement_memory.cpp
    void resolve(const syntax::Notify& stmt, const Span& span);
    void resolve(const syntax::Wait& stmt, const Span& span);
    void resolve(const syntax::Put& stmt, const Span& span);
    void resolve(const syntax::Get& stmt, const Span& span);
    void assign_memory(const syntax::Assign& stmt, const Span& span);
    Place signal_cell(const syntax::Expr& expr);
    void require_equal(const ir::ExprPtr& target, const ir::ExprPtr& value, const Span& span);

    // statement_collectives.cpp
    void assign_collective(const syntax::Expr& target, const syntax::Call& call, const Span& span);
    void barrier(const syntax::Call& call, const Span& span);

    // statement_blocks.cpp
    void resolve(const syntax::For& stmt, const Span& span);
    void resolve(const syntax::If& stmt, const Span& span);
    ir::Block nested(const Span& span, const BodyFn& body);
    Values yields(const syntax::Block& block, const std::vector<syntax::Identifier>& results);
    std::vector<std::string> rebound_in(const std::vector<const syntax::Block*>& blocks);
    void branch(const ir::ExprPtr& condition, const std::vector<syntax::Identifier>& results,
                const std::vector<std::string>& rebound, const BodyFn& then_body,
                const BodyFn& else_body, const BranchSpans& spans);
    Values with_rebound(Values values, const std::vector<std::string>& rebound);
    void check_header(const syntax::For& stmt, const Span& span);
    std::vector<ir::Carried> initial_values(const syntax::For& stmt,
                                            const std::vector<std::string>& rebound);
    void enter_carried(const syntax::For& stmt, const std::vector<std::string>& rebound,
                       std::vector<ir::Carried>& carried);
    void leave_carried(const syntax::For& stmt, const std::vector<std::string>& rebound,
                       const Values& yielded, std::vector<ir::Carried>& carried);
    void run_for_peer(const syntax::For& stmt, const ir::VarPtr& counter,
                      const std::vector<std::string>& rebound, const Span& span);
    ir::VarPtr result_variable(std::size_t i, const std::vector<syntax::Identifier>& results,
                               const std::vector<std::string>& rebound, const ir::Type& type);
    ir::VarPtr rebind(const std::string& name, const ir::Type& type);
    ir::VarPtr new_variable(const std::string& name, const ir::Type& type, const Span& span);
    void require_same_types(const ir::Type& wanted, const ir::ExprPtr& found, const Span& span);

    Scope& scope_;
    Names& names_;
    const std::set<std::string>& kernels_;
    Report& report_;
    Expressions exprs_;
    std::vector<ir::StmtPtr> stmts_;
    int depth_ = 0;
};

}  // namespace peal::language
