// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.hpp"

#include <map>

#include <fmt/format.h>

#include "ir/fields.hpp"
#include "passes/rewrite.hpp"
#include "peal/diagnostic.hpp"

namespace peal::passes {

using namespace ir;  // NOLINT: passes are about the IR

namespace {

using Substitution = std::map<std::string, ExprPtr, std::less<>>;

[[noreturn]] void fail(const Program& program, Span span, std::string message) {
    throw ProgramError({{Diagnostic::Severity::error, span, std::move(message), {}}},
                       program.source.get());
}

// A symbol of the callee is whatever stands in its place in the argument's shape.
void bind_symbols(const Kernel& callee, const Invoke& call, const Program& program,
                  Substitution& values) {
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const std::vector<ExprPtr>& wanted = callee.params[i].var->type.shape;
        const std::vector<ExprPtr> found = type_of(*call.arguments[i]).shape;
        for (std::size_t d = 0; d < wanted.size(); ++d) {
            if (const auto* symbol = as<Var>(wanted[d])) values.emplace(symbol->name, found[d]);
        }
    }
    for (const VarPtr& symbol : symbols_of(callee)) {
        if (values.contains(symbol->name)) continue;
        fail(program, call.span,
             fmt::format(
                 "the call of kernel '{}' does not tell its symbol '{}': no parameter has it "
                 "alone as a dimension",
                 callee.name, symbol->name));
    }
}

// What a shape demands beyond its symbols: the callee's f32[2*n] takes a buffer of just that size.
void require_shapes(const Kernel& callee, const Invoke& call, const Substitution& values,
                    LoweringBuilder& builder) {
    const auto substitute = [&](const ExprPtr& expr) {
        const auto* var = as<Var>(expr);
        const auto it = var ? values.find(var->name) : values.end();
        return it == values.end() ? expr : it->second;
    };
    for (std::size_t i = 0; i < call.arguments.size(); ++i) {
        const std::vector<ExprPtr>& wanted = callee.params[i].var->type.shape;
        const std::vector<ExprPtr> found = type_of(*call.arguments[i]).shape;
        for (std::size_t d = 0; d < wanted.size(); ++d) {
            const ExprPtr size = rewrite_expr(wanted[d], substitute);
            if (!equal(size, found[d])) builder.Require(found[d], Compare::eq, size);
        }
    }
}

// Copies a body: parameters and symbols replaced, everything defined in it renamed.
class Copier {
public:
    Copier(Substitution values, NameCounter& names) : values_(std::move(values)), names_(names) {}

    VarPtr operator()(const VarPtr& definition) {
        const VarPtr fresh = variable(names_.Fresh(definition->name),
                                      map_children(definition->type, *this), definition->span);
        values_[definition->name] = fresh;
        return fresh;
    }

    ExprPtr operator()(const ExprPtr& expr) {
        if (const auto* var = as<Var>(expr)) {
            const auto it = values_.find(var->name);
            return it == values_.end() ? expr : it->second;
        }
        if (const auto* call = as<Call>(expr)) return copy_call(*call);
        return map_node(expr, *this);
    }

    StmtPtr operator()(const StmtPtr& stmt) {
        // Results are defined after the body: their fields come later in the copy of the node, but
        // uses of them only follow the statement, so the order of renaming does not matter.
        return map_node(stmt, *this);
    }

private:
    // Made anew, so that the type follows from the new operands.
    ExprPtr copy_call(const Call& call) {
        return make_call(call.op, map_children(call.operands, *this), call.attributes, call.span);
    }

    Substitution values_;
    NameCounter& names_;
};

class Inliner {
public:
    explicit Inliner(const Program& program) : program_(program) {}

    Kernel inlined(const Kernel& kernel) {
        NameCounter names = names_of(kernel);
        Kernel result = kernel;
        result.body = rewrite_block(
            kernel.body, [&](const StmtPtr& stmt) -> std::optional<std::vector<StmtPtr>> {
                const auto* call = as<Invoke>(stmt);
                if (!call) return std::nullopt;
                return body_for(*call, names);
            });
        return result;
    }

private:
    std::vector<StmtPtr> body_for(const Invoke& call, NameCounter& names) {
        const Kernel callee = inlined(*program_.find(call.kernel));
        Substitution values;
        for (std::size_t i = 0; i < call.arguments.size(); ++i) {
            values[callee.params[i].var->name] = call.arguments[i];
        }
        bind_symbols(callee, call, program_, values);
        LoweringBuilder builder(names, call.span);
        require_shapes(callee, call, values, builder);
        std::vector<StmtPtr> stmts = builder.Take().stmts;
        Copier copier(values, names);
        for (const StmtPtr& stmt : callee.body.stmts) stmts.push_back(copier(stmt));
        return stmts;
    }

    const Program& program_;
};

}  // namespace

Program inline_calls(const Program& program) {
    Inliner inliner(program);
    return map_kernels(program, [&](const Kernel& kernel) { return inliner.inlined(kernel); });
}

}  // namespace peal::passes
