// SPDX-License-Identifier: Apache-2.0
// Loops and conditions: what flows around and out of them.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "ir/describe.hpp"
#include "language/limits.hpp"
#include "language/statements.hpp"

namespace peal::language {
namespace {

void collect_assigned(const syntax::Block& block, std::vector<std::string>& names) {
    for (const syntax::StmtPtr& stmt : block.stmts) {
        if (const auto* assign = syntax::as<syntax::Assign>(*stmt)) {
            const auto* name = syntax::as<syntax::Name>(*assign->target);
            if (name && std::find(names.begin(), names.end(), name->text) == names.end()) {
                names.push_back(name->text);
            }
        } else if (const auto* loop = syntax::as<syntax::For>(*stmt)) {
            collect_assigned(loop->body, names);
        } else if (const auto* branch = syntax::as<syntax::If>(*stmt)) {
            collect_assigned(branch->then_block, names);
            collect_assigned(branch->else_block, names);
        }
    }
}

bool known_to_differ(const ir::Type& a, const ir::Type& b) {
    const auto* left = a.shape.empty() ? nullptr : ir::as<ir::IntConst>(a.shape.front());
    const auto* right = b.shape.empty() ? nullptr : ir::as<ir::IntConst>(b.shape.front());
    return left && right && left->value != right->value;
}

std::string describe_sized(const ir::Type& type) {
    const auto* count = type.shape.empty() ? nullptr : ir::as<ir::IntConst>(type.shape.front());
    if (!count) return ir::describe(type);
    return fmt::format("{} with {} elements", ir::describe(type), count->value);
}

}  // namespace

// A block of its own while it lives: names and statements.
class Statements::Nested {
public:
    explicit Nested(Statements& owner) : owner_(owner), outer_(std::exchange(owner.stmts_, {})) {
        owner_.scope_.open();
        ++owner_.depth_;
    }
    ~Nested() {
        --owner_.depth_;
        owner_.scope_.close();
        owner_.stmts_ = std::move(outer_);
    }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

private:
    Statements& owner_;
    std::vector<ir::StmtPtr> outer_;
};

ir::Block Statements::nested(const Span& span, const BodyFn& body) {
    if (depth_ == kMaxBlockDepth) {
        report_.fail(span, fmt::format("more than {} loops and conditions inside each other",
                                       kMaxBlockDepth));
    }
    const Nested block(*this);
    Values values = body();
    return {std::exchange(stmts_, {}), std::move(values)};
}

// Variables from before these blocks that they assign, in the order of assignment.
std::vector<std::string> Statements::rebound_in(const std::vector<const syntax::Block*>& blocks) {
    std::vector<std::string> names;
    for (const syntax::Block* block : blocks) collect_assigned(*block, names);
    std::erase_if(names, [&](const std::string& name) {
        const Entity* entity = scope_.find(name);
        return !entity || entity->kind != Entity::Kind::value;
    });
    return names;
}

// The values that a block hands to the names of the explicit form.
Statements::Values Statements::yields(const syntax::Block& block,
                                      const std::vector<syntax::Identifier>& results) {
    if (block.yields.size() != results.size()) {
        report_.fail(block.end,
                     fmt::format("expected {} value{} from this block, found {}", results.size(),
                                 results.size() == 1 ? "" : "s", block.yields.size()),
                     results.empty() ? "yield hands a value to let x = for ... or let x = if ..."
                                     : "a block hands out its values with yield, as in "
                                       "let x = if c { yield 1 } else { yield 2 }");
    }
    Values values;
    for (const syntax::ExprPtr& value : block.yields) {
        values.push_back(limited(exprs_.value(*value)));
    }
    return values;
}

Statements::Values Statements::with_rebound(Values values,
                                            const std::vector<std::string>& rebound) {
    for (const std::string& name : rebound) values.push_back(scope_.find(name)->var);
    return values;
}

void Statements::require_same_types(const ir::Type& wanted, const ir::ExprPtr& found,
                                    const Span& span) {
    const ir::Type type = ir::type_of(*found);
    if (type.kind == wanted.kind && is_float(type.element) == is_float(wanted.element) &&
        (type.kind != ir::Type::Kind::tile || type.element == wanted.element) &&
        !known_to_differ(type, wanted)) {
        return;
    }
    report_.fail(span, fmt::format("expected {} from this block, found {}", describe_sized(wanted),
                                   describe_sized(type)));
}

void Statements::resolve(const syntax::For& stmt, const Span& span) {
    check_header(stmt, span);
    ir::ExprPtr lo = stmt.range ? limited(exprs_.integer(*stmt.range->lo)) : ir::integer(0, span);
    ir::ExprPtr hi = stmt.range ? limited(exprs_.integer(*stmt.range->hi)) : ir::nranks(span);
    const std::vector<std::string> rebound = rebound_in({&stmt.body});
    std::vector<ir::Carried> carried = initial_values(stmt, rebound);
    const ir::VarPtr counter = new_variable(stmt.counter.text, ir::index_type(), stmt.counter.span);
    ir::Block body = nested(span, [&] {
        scope_.define(stmt.counter.text, {Entity::Kind::counter, counter, stmt.counter.span});
        enter_carried(stmt, rebound, carried);
        if (stmt.range) {
            run(stmt.body);
            return with_rebound(yields(stmt.body, stmt.results), rebound);
        }
        run_for_peer(stmt, counter, rebound, span);
        return with_rebound({}, rebound);
    });
    leave_carried(stmt, rebound, body.yields, carried);
    emit(ir::for_loop(counter, std::move(lo), std::move(hi), std::move(carried), std::move(body),
                      span));
}

void Statements::check_header(const syntax::For& stmt, const Span& span) {
    if (stmt.results.size() != stmt.carried.size()) {
        report_.fail(span,
                     fmt::format("{} name{} for {} carried value{}", stmt.results.size(),
                                 stmt.results.size() == 1 ? "" : "s", stmt.carried.size(),
                                 stmt.carried.size() == 1 ? "" : "s"),
                     "as in let x = for i in 0..n carry y = 0 { yield y + i }");
    }
    if (!stmt.range && !stmt.carried.empty()) {
        report_.fail(span, "a loop over peers has no 'carry'",
                     "assign a variable from before the loop, or use for p in 0..nranks");
    }
    for (const syntax::Identifier& result : stmt.results) require_new(result);
    require_new(stmt.counter);
}

// What a loop carries: first what its header says, then the variables that its body assigns.
std::vector<ir::Carried> Statements::initial_values(const syntax::For& stmt,
                                                    const std::vector<std::string>& rebound) {
    std::vector<ir::Carried> carried;
    for (const syntax::Carry& carry : stmt.carried) {
        carried.push_back({nullptr, limited(exprs_.value(*carry.init)), nullptr});
    }
    for (const std::string& name : rebound) {
        carried.push_back({nullptr, scope_.find(name)->var, nullptr});
    }
    return carried;
}

void Statements::enter_carried(const syntax::For& stmt, const std::vector<std::string>& rebound,
                               std::vector<ir::Carried>& carried) {
    for (std::size_t i = 0; i < carried.size(); ++i) {
        const ir::Type type = ir::type_of(*carried[i].init);
        if (i < stmt.carried.size()) {
            const syntax::Identifier& name = stmt.carried[i].name;
            require_new(name);
            carried[i].inner = new_variable(name.text, type, name.span);
            scope_.define(name.text, {Entity::Kind::value, carried[i].inner, name.span});
        } else {
            carried[i].inner = rebind(rebound[i - stmt.carried.size()], type);
        }
    }
}

void Statements::leave_carried(const syntax::For& stmt, const std::vector<std::string>& rebound,
                               const Values& yielded, std::vector<ir::Carried>& carried) {
    for (std::size_t i = 0; i < carried.size(); ++i) {
        require_same_types(carried[i].inner->type, yielded[i], stmt.body.end);
    }
    for (std::size_t i = 0; i < carried.size(); ++i) {
        carried[i].result = result_variable(i, stmt.results, rebound, carried[i].inner->type);
    }
}

// One round of a loop over peers.
void Statements::run_for_peer(const syntax::For& stmt, const ir::VarPtr& counter,
                              const std::vector<std::string>& rebound, const Span& span) {
    const auto for_peers = [&] {
        run(stmt.body);
        return yields(stmt.body, {});
    };
    branch(ir::binary(ir::BinaryOp::ne, counter, ir::rank(span), span), {}, rebound, for_peers,
           [] { return Values{}; }, {span, stmt.body.end});
}

// A variable of the text is bound to a new IR variable.
ir::VarPtr Statements::rebind(const std::string& name, const ir::Type& type) {
    Entity& entity = *scope_.find(name);
    entity.var = new_variable(name, type, entity.span);
    return entity.var;
}

// The i-th value that a loop or a condition leaves behind: for a name of the explicit form, or for
// a variable that it assigned.
ir::VarPtr Statements::result_variable(std::size_t i,
                                       const std::vector<syntax::Identifier>& results,
                                       const std::vector<std::string>& rebound,
                                       const ir::Type& type) {
    if (i >= results.size()) return rebind(rebound[i - results.size()], type);
    ir::VarPtr var = new_variable(results[i].text, type, results[i].span);
    scope_.define(results[i].text, {Entity::Kind::value, var, results[i].span});
    return var;
}

void Statements::resolve(const syntax::If& stmt, const Span& span) {
    for (const syntax::Identifier& result : stmt.results) require_new(result);
    if (!stmt.results.empty() && !stmt.has_else) {
        report_.fail(span, "a condition with a value needs an 'else'");
    }
    const ir::ExprPtr condition = limited(exprs_.condition(*stmt.condition));
    const auto block = [&](const syntax::Block& body) {
        return [&] {
            run(body);
            return yields(body, stmt.results);
        };
    };
    branch(condition, stmt.results, rebound_in({&stmt.then_block, &stmt.else_block}),
           block(stmt.then_block), block(stmt.else_block),
           {span, stmt.has_else ? stmt.else_block.end : stmt.then_block.end});
}

// A condition whose results are those of the explicit form, then the variables it assigns.
void Statements::branch(const ir::ExprPtr& condition,
                        const std::vector<syntax::Identifier>& results,
                        const std::vector<std::string>& rebound, const BodyFn& then_body,
                        const BodyFn& else_body, const BranchSpans& spans) {
    std::vector<ir::VarPtr> before;
    for (const std::string& name : rebound) before.push_back(scope_.find(name)->var);
    const auto side = [&](const BodyFn& body) {
        ir::Block block = nested(spans.whole, [&] { return with_rebound(body(), rebound); });
        for (std::size_t i = 0; i < rebound.size(); ++i) scope_.find(rebound[i])->var = before[i];
        return block;
    };
    ir::Block then_block = side(then_body);
    ir::Block else_block = side(else_body);

    std::vector<ir::VarPtr> vars;
    for (std::size_t i = 0; i < then_block.yields.size(); ++i) {
        const ir::Type type = ir::type_of(*then_block.yields[i]);
        require_same_types(type, else_block.yields[i], spans.end);
        vars.push_back(result_variable(i, results, rebound, type));
    }
    emit(ir::if_else(condition, std::move(vars), std::move(then_block), std::move(else_block),
                     spans.whole));
}

}  // namespace peal::language
