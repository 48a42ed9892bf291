// SPDX-License-Identifier: Apache-2.0
#include "emit/names.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "ir/fields.hpp"
#include "passes/rewrite.hpp"
#include "peal/ops.hpp"
#include "peal/program.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: rewrites the IR

constexpr int kWorthAName = 2;  // operators
constexpr int kLong = 5;

int operators_in(const ExprPtr& expr) {
    int count = 0;
    walk_exprs<Types::skip>(std::vector<ExprPtr>{expr},
                            [&](const ExprPtr& each) { count += as<Binary>(each) ? 1 : 0; });
    return count;
}

// Integer arithmetic that can be worked out anywhere its variables are known.
bool is_candidate(const ExprPtr& expr) {
    const auto* top = as<Binary>(expr);
    if (!top || !type_of(*expr).is_integer()) return false;
    bool plain = true;
    walk_exprs<Types::skip>(std::vector<ExprPtr>{expr}, [&](const ExprPtr& each) {
        const auto* call = as<Call>(each);
        if (each->kind == ExprKind::fold || each->kind == ExprKind::table_at) plain = false;
        if (call && call->op == ops::kGeneration) plain = false;
    });
    return plain && operators_in(expr) >= kWorthAName;
}

// It may divide by 0 where a condition around it does not hold.
bool may_fail(const ExprPtr& expr) {
    bool found = false;
    walk_exprs<Types::skip>(std::vector<ExprPtr>{expr}, [&](const ExprPtr& each) {
        const auto* node = as<Binary>(each);
        if (!node || (node->op != BinaryOp::div && node->op != BinaryOp::mod)) return;
        found = found || !(as<IntConst>(node->rhs) || is_rank_count(node->rhs));
    });
    return found;
}

struct Repeated {
    ExprPtr expr;
    int operators = 0;
    int times = 0;
    std::size_t first = 0, last = 0;  // statements of the block
    bool nested = false;              // the first is inside a loop or condition
    bool direct = false;              // one is not
    bool has_good_name = false;
    std::string role;
};

class BlockNamer {
public:
    explicit BlockNamer(NameCounter& names) : names_(names) {}

    Block run(Block block) {
        for (;;) {
            const auto found = largest_repeated(block);
            if (!found) break;
            block = named(std::move(block), *found);
        }
        for (StmtPtr& stmt : block.stmts) stmt = with_nested(stmt);
        return block;
    }

private:
    // ------------------------------------------------------------------------ finding

    std::optional<Repeated> largest_repeated(const Block& block) {
        found_.clear();
        nested_definitions_.clear();
        for (const StmtPtr& stmt : block.stmts) note_nested_definitions(stmt);
        for (std::size_t i = 0; i < block.stmts.size(); ++i) {
            at_ = i;
            look(block.stmts[i], false);
        }
        const Repeated* best = nullptr;
        for (const auto& [text, each] : found_) {
            // What is in one loop or condition only gets its name there.
            const bool here = each.direct || each.first != each.last;
            const bool wanted = each.times > 1 && each.has_good_name && here &&
                                !(each.nested && may_fail(each.expr));
            if (wanted && (!best || each.operators > best->operators)) best = &each;
        }
        return best ? std::optional(*best) : std::nullopt;
    }

    void note_nested_definitions(const StmtPtr& stmt) {
        if (as<Let>(stmt)) return;
        const auto note = [&](const StmtPtr& each) {
            if (const auto* definition = as<Let>(each)) {
                nested_definitions_.insert(definition->var->name);
            } else if (const auto* loop = as<ForStmt>(each)) {
                nested_definitions_.insert(loop->var->name);
                for (const Carried& carried : loop->carried) {
                    nested_definitions_.insert(carried.inner->name);
                    nested_definitions_.insert(carried.result->name);
                }
            } else if (const auto* branch = as<IfStmt>(each)) {
                for (const VarPtr& result : branch->results) {
                    nested_definitions_.insert(result->name);
                }
            }
        };
        note(stmt);
        walk_stmts(*stmt, note);
    }

    void look(const StmtPtr& stmt, bool nested) {
        if (const auto* definition = as<Let>(stmt)) {
            look(definition->value, "value", nested);
        } else if (const auto* command = as<Eval>(stmt)) {
            look(command->call, "value", nested);
        } else if (const auto* loop = as<ForStmt>(stmt)) {
            look(loop->lo, "first", nested);
            look(loop->hi, "end", nested);
            for (const StmtPtr& each : loop->body.stmts) look(each, true);
        } else if (const auto* branch = as<IfStmt>(stmt)) {
            look(branch->condition, "value", nested);
            for (const StmtPtr& each : branch->then_block.stmts) look(each, true);
            for (const StmtPtr& each : branch->else_block.stmts) look(each, true);
        }
    }

    void look(const ExprPtr& expr, const std::string& role, bool nested) {
        if (!expr) return;
        if (const auto* call = as<Call>(expr)) {
            const OpSpec* spec = find_op(call->op);
            for (std::size_t i = 0; i < call->operands.size(); ++i) {
                look(call->operands[i], std::string(spec->operands[i].name), nested);
            }
            return;
        }
        if (is_candidate(expr) && is_known_here(expr)) note(expr, role, nested);
        if (const auto* node = as<Binary>(expr)) {
            look(node->lhs, "value", nested);
            look(node->rhs, "value", nested);
        } else if (const auto* unary = as<Unary>(expr)) {
            look(unary->operand, "value", nested);
        }
    }

    // Parts of sums are better read where they are.
    static bool has_good_name(const ExprPtr& expr, const std::string& role) {
        const BinaryOp op = as<Binary>(expr)->op;
        return role != "value" || op == BinaryOp::mod || op == BinaryOp::div ||
               operators_in(expr) >= kLong;
    }

    bool is_known_here(const ExprPtr& expr) const {
        bool known = true;
        walk_exprs<Types::skip>(std::vector<ExprPtr>{expr}, [&](const ExprPtr& each) {
            const auto* var = as<Var>(each);
            known = known && !(var && nested_definitions_.contains(var->name));
        });
        return known;
    }

    void note(const ExprPtr& expr, const std::string& role, bool nested) {
        const auto [it, is_new] = found_.try_emplace(
            print(expr),
            Repeated{expr, operators_in(expr), 0, at_, at_, nested, false, false, role});
        ++it->second.times;
        it->second.last = at_;
        it->second.direct = it->second.direct || !nested;
        it->second.has_good_name = it->second.has_good_name || has_good_name(expr, role);
        if (it->second.role == "value") it->second.role = role;
    }

    // ------------------------------------------------------------------------ naming

    std::string hint_for(const Repeated& what) const {
        const std::string text = print(what.expr);
        if (text == "(rank + 1) % nranks") return "right";
        if (text == "(rank + nranks - 1) % nranks") return "left";
        if (what.role == "offset" || what.role == "src_offset") return "begin";
        if (what.role == "count") return "size";
        if (what.role == "peer" || what.role == "end") return what.role;
        switch (as<Binary>(what.expr)->op) {
            case BinaryOp::mod: return "part";
            case BinaryOp::div: return "units";
            case BinaryOp::sub: return "length";
            case BinaryOp::min:
            case BinaryOp::max: return "limit";
            default: return "value";
        }
    }

    Block named(Block block, const Repeated& what) {
        // A let that has just this value serves as the name.
        const auto* definition = as<Let>(block.stmts[what.first]);
        const bool has_name = definition && equal(definition->value, what.expr);
        const VarPtr var =
            has_name ? definition->var : variable(names_.Fresh(hint_for(what)), index_type());
        const StmtPtr first = block.stmts[what.first];
        Kernel whole;
        whole.body = std::move(block);
        whole = passes::rewrite_exprs(
            whole, [&](const ExprPtr& each) { return equal(each, what.expr) ? var : each; });
        const StmtPtr let_stmt = let(var, what.expr, first->span);
        auto at = whole.body.stmts.begin() + static_cast<std::ptrdiff_t>(what.first);
        if (has_name) {
            *at = let_stmt;
        } else {
            whole.body.stmts.insert(at, let_stmt);
        }
        return without_aliases(std::move(whole.body), var);
    }

    // let b = a, where a is the name: b is a.
    static Block without_aliases(Block block, const VarPtr& var) {
        std::set<std::string> aliases;
        const auto is_alias = [&](const StmtPtr& stmt) {
            const auto* definition = as<Let>(stmt);
            const auto* value = definition ? as<Var>(definition->value) : nullptr;
            return value && value->name == var->name && value->type.is_integer();
        };
        Kernel whole;
        whole.body = passes::rewrite_block(
            block, [&](const StmtPtr& stmt) -> std::optional<std::vector<StmtPtr>> {
                if (!is_alias(stmt)) return std::nullopt;
                aliases.insert(as<Let>(stmt)->var->name);
                return std::vector<StmtPtr>{};
            });
        if (aliases.empty()) return block;
        return passes::rewrite_exprs(whole,
                                     [&](const ExprPtr& each) -> ExprPtr {
                                         const auto* other = as<Var>(each);
                                         return other && aliases.contains(other->name) ? var : each;
                                     })
            .body;
    }

    StmtPtr with_nested(const StmtPtr& stmt) {
        if (const auto* loop = as<ForStmt>(stmt)) {
            return for_loop(loop->var, loop->lo, loop->hi, loop->carried,
                            BlockNamer(names_).run(loop->body), loop->span);
        }
        if (const auto* branch = as<IfStmt>(stmt)) {
            return if_else(branch->condition, branch->results,
                           BlockNamer(names_).run(branch->then_block),
                           BlockNamer(names_).run(branch->else_block), branch->span);
        }
        return stmt;
    }

    NameCounter& names_;
    std::map<std::string, Repeated> found_;
    std::set<std::string> nested_definitions_;
    std::size_t at_ = 0;
};

}  // namespace

bool is_rank_count(const ExprPtr& expr) {
    const auto* call = as<Call>(expr);
    return call && call->op == ops::kNranks;
}

Kernel name_repeated(const Kernel& kernel) {
    NameCounter names = passes::names_of(kernel);
    Kernel result = kernel;
    result.body = BlockNamer(names).run(kernel.body);
    return result;
}

}  // namespace peal::emit
