// SPDX-License-Identifier: Apache-2.0
#include "language/statements.hpp"

#include <utility>

#include <fmt/format.h>

#include "ir/describe.hpp"
#include "language/limits.hpp"
#include "language/names.hpp"

namespace peal::language {
namespace {

// Whether one variable of the text may be both. How many elements a tile has may change.
bool same_kind(const ir::Type& a, const ir::Type& b) {
    if (a.kind != b.kind) return false;
    if (a.kind == ir::Type::Kind::scalar) return is_float(a.element) == is_float(b.element);
    return a.element == b.element;
}

}  // namespace

ir::Block Statements::body(const syntax::Block& block) {
    run(block);
    if (!block.yields.empty()) {
        report_.error(block.end, "a kernel yields nothing",
                      "yield hands a value to let x = for ... or let x = if ...");
    }
    return {std::exchange(stmts_, {}), {}};
}

void Statements::run(const syntax::Block& block) {
    for (const syntax::StmtPtr& stmt : block.stmts) run(*stmt);
}

void Statements::run(const syntax::Stmt& stmt) {
    try {
        std::visit([&](const auto& node) { resolve(node, stmt.span); }, stmt.node);
    } catch (const Abandoned&) {
        mark_broken(stmt);
    }
}

// What a statement with an error would have defined is not reported as missing.
void Statements::mark_broken(const syntax::Stmt& stmt) {
    if (const auto* let = syntax::as<syntax::Let>(stmt)) mark_broken(let->name);
    if (const auto* assign = syntax::as<syntax::Assign>(stmt)) {
        const auto* name = syntax::as<syntax::Name>(*assign->target);
        if (name) mark_broken({name->text, assign->target->span});
    }
    if (const auto* loop = syntax::as<syntax::For>(stmt)) {
        for (const syntax::Identifier& name : loop->results) mark_broken(name);
    }
    if (const auto* branch = syntax::as<syntax::If>(stmt)) {
        for (const syntax::Identifier& name : branch->results) mark_broken(name);
    }
}

void Statements::mark_broken(const syntax::Identifier& name) {
    if (!scope_.find(name.text)) scope_.define(name.text, {Entity::Kind::broken, {}, name.span});
}

void Statements::require_new(const syntax::Identifier& name, std::string hint) {
    const Entity* found = scope_.find(name.text);
    if (!found) return;
    if (found->kind == Entity::Kind::broken) throw Abandoned{};
    report_.fail(name.span,
                 fmt::format("'{}' is already defined: it is {} (line {})", name.text,
                             describe(found->kind), found->span.line),
                 std::move(hint));
}

ir::VarPtr Statements::new_variable(const std::string& name, const ir::Type& type,
                                    const Span& span) {
    return ir::variable(names_.next(name), type, span);
}

void Statements::define(const syntax::Identifier& name, const ir::ExprPtr& value,
                        const Span& span) {
    const ir::VarPtr var = new_variable(name.text, ir::type_of(*value), name.span);
    emit(ir::let(var, limited(value), span));
    scope_.define(name.text, {Entity::Kind::value, var, name.span});
}

void Statements::reassign(const syntax::Identifier& name, Entity& entity, const ir::ExprPtr& value,
                          const Span& span) {
    const ir::Type before = entity.var->type;
    const ir::Type now = ir::type_of(*value);
    if (!same_kind(before, now)) {
        report_.fail(span,
                     fmt::format("'{}' is {} (line {}) and cannot become {}", name.text,
                                 ir::describe(before), entity.span.line, ir::describe(now)),
                     "use another name");
    }
    entity.var = new_variable(name.text, now, name.span);
    emit(ir::let(entity.var, limited(value), span));
}

void Statements::resolve(const syntax::Let& stmt, const Span& span) {
    const Entity* before = scope_.find(stmt.name.text);
    const bool assignable = before && before->kind == Entity::Kind::value;
    require_new(stmt.name, assignable ? "leave out 'let' to assign it again" : kRename);
    define(stmt.name, exprs_.value(*stmt.value), span);
}

void Statements::resolve(const syntax::Assign& stmt, const Span& span) {
    const auto* name = syntax::as<syntax::Name>(*stmt.target);
    if (exprs_.is_memory(*stmt.target)) {
        assign_memory(stmt, span);
    } else if (name) {
        assign_name({name->text, stmt.target->span}, *stmt.value, span);
    } else if (root_name(*stmt.target)) {
        const std::string& root = root_name(*stmt.target)->text;
        const Entity& entity = exprs_.entity(root, stmt.target->span);
        report_.fail(
            stmt.target->span,
            fmt::format("a part of '{}' cannot be assigned: it is {}", root, describe(entity.kind)),
            "only memory changes in part; a tile is made anew, or stored: out[0; k] = tile");
    } else {
        report_.fail(stmt.target->span, "this cannot be assigned",
                     "assign a name or a part of memory");
    }
}

void Statements::assign_name(const syntax::Identifier& name, const syntax::Expr& value,
                             const Span& span) {
    Entity* entity = scope_.find(name.text);
    if (entity && entity->kind != Entity::Kind::value && entity->kind != Entity::Kind::broken) {
        report_.fail(
            name.span,
            fmt::format("'{}' cannot be assigned: it is {}", name.text, describe(entity->kind)),
            "use another name");
    }
    const ir::ExprPtr resolved = exprs_.value(value);
    if (!entity) {
        define(name, resolved, span);
    } else if (entity->kind == Entity::Kind::value) {
        reassign(name, *entity, resolved, span);
    }
}

void Statements::resolve(const syntax::Evaluate& stmt, const Span& span) {
    const auto& call = std::get<syntax::Call>(stmt.call->node);
    if (call.is_op) return emit_call(exprs_.op_call(call, span), span);
    if (kernels_.contains(call.callee.text)) return invoke(call, span);
    if (const ir::OpSpec* collective = collective_named(call.callee.text)) {
        if (collective->name == ir::ops::kBarrier) return barrier(call, span);
        report_.fail(span, fmt::format("'{}' says where its result goes", call.callee.text),
                     fmt::format("data = {0}(data, sig) in place, or out = {0}(inp, data, sig)",
                                 call.callee.text));
    }
    std::vector<std::string_view> known(kernels_.begin(), kernels_.end());
    for (const std::string_view name : collective_names()) known.push_back(name);
    report_.fail(call.callee.span, fmt::format("there is no kernel '{}'", call.callee.text),
                 did_you_mean(call.callee.text, known));
}

void Statements::invoke(const syntax::Call& call, const Span& span) {
    std::vector<ir::ExprPtr> arguments;
    for (const syntax::Argument& argument : call.arguments) {
        const syntax::Expr& value = *argument.value;
        if (argument.name) {
            report_.fail(argument.name->span, "arguments of a kernel are given by position",
                         "leave out the name");
        }
        if (ir::VarPtr parameter = exprs_.whole_parameter(value)) {
            arguments.push_back(std::move(parameter));
        } else if (exprs_.is_memory(value)) {
            report_.fail(value.span, "a kernel takes whole parameters, not parts of them",
                         fmt::format("write '{}'", root_name(value)->text));
        } else {
            arguments.push_back(limited(exprs_.value(value)));
        }
    }
    emit(ir::invoke(call.callee.text, std::move(arguments), span));
}

void Statements::emit_call(ir::CallPtr call, const Span& span) {
    emit(ir::eval(limited(std::move(call)), span));
}

ir::ExprPtr Statements::limited(ir::ExprPtr expr) {
    if (depth_of(expr) > kMaxExprDepth) {
        report_.fail(
            expr->span,
            fmt::format("an expression of more than {} operators inside each other", kMaxExprDepth),
            "name its parts with let");
    }
    return expr;
}

}  // namespace peal::language
