// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <optional>
#include <set>

#include "emit/phases.hpp"
#include "ir/fields.hpp"
#include "passes/rewrite.hpp"
#include "peal/builder.hpp"
#include "peal/ops.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: rewrites the IR

using Stmts = std::vector<StmtPtr>;

const Call* command_of(const StmtPtr& stmt) {
    const auto* command = as<Eval>(stmt);
    return command ? as<Call>(command->call) : nullptr;
}

bool is_notify(const StmtPtr& stmt) {
    const Call* call = command_of(stmt);
    return call && call->op == ops::kNotify;
}

const Call* load_of(const StmtPtr& stmt) {
    const auto* definition = as<Let>(stmt);
    const auto* call = definition ? as<Call>(definition->value) : nullptr;
    return call && (call->op == ops::kTileLoad || call->op == ops::kRemoteLoad) ? call : nullptr;
}

bool is_number(const StmtPtr& stmt) {
    const auto* definition = as<Let>(stmt);
    return definition && definition->var->type.is_integer();
}

std::string_view memory_of(const Call& call) {
    const bool remote = call.op == ops::kRemoteLoad || call.op == ops::kRemoteStore;
    return as<Var>(operand(call, remote ? "window" : "memory"))->name;
}

// A loop that copies the same elements to one place after another, and may tell somebody each time:
// all rounds are numbers, one load that is the same in each, stores of it, and then notifies.
class CopyToMany {
public:
    explicit CopyToMany(const ForStmt& loop) : loop_(loop) {
        is_one_ = loop.carried.empty() && loop.body.yields.empty() && look(stmts());
    }

    bool is_one() const { return is_one_; }

    // One load, the loop of the stores, the loop of the notifies. A notify later than before is as
    // good: nothing that it waits for is between, and it tells of no less.
    Stmts apart(NameCounter& names) const {
        Stmts result = {load_, storing()};
        if (!notifies_.empty()) result.push_back(telling(names));
        return result;
    }

private:
    // In each round, or under one condition in each.
    const IfStmt* condition() const {
        const auto* branch =
            loop_.body.stmts.size() == 1 ? as<IfStmt>(loop_.body.stmts.front()) : nullptr;
        const bool is_plain = branch && branch->results.empty() && branch->else_block.stmts.empty();
        return is_plain ? branch : nullptr;
    }
    const Stmts& stmts() const {
        return condition() ? condition()->then_block.stmts : loop_.body.stmts;
    }

    bool look(const Stmts& stmts) {
        std::set<std::string, std::less<>> own = {loop_.var->name};
        for (const StmtPtr& stmt : stmts) {
            const bool is_fine = is_number(stmt)   ? add_number(stmt, own)
                                 : load_of(stmt)   ? add_load(stmt, own)
                                 : is_notify(stmt) ? add_notify(stmt)
                                                   : add_store(stmt);
            if (!is_fine) return false;
        }
        return load_ && has_store_;
    }

    bool add_number(const StmtPtr& stmt, std::set<std::string, std::less<>>& own) {
        own.insert(as<Let>(stmt)->var->name);
        stores_.push_back(stmt);
        numbers_.push_back(stmt);
        return notifies_.empty();
    }
    bool add_load(const StmtPtr& stmt, const std::set<std::string, std::less<>>& own) {
        bool is_same = !load_ && !has_store_ && notifies_.empty();
        walk_exprs<Types::skip>(*stmt, [&](const ExprPtr& expr) {
            const auto* var = as<Var>(expr);
            is_same = is_same && !(var && own.contains(var->name));
        });
        load_ = stmt;
        return is_same;
    }
    bool add_store(const StmtPtr& stmt) {
        const Call* call = command_of(stmt);
        const bool stores = call && (call->op == ops::kTileStore || call->op == ops::kRemoteStore);
        if (!stores || !load_ || !notifies_.empty()) return false;
        const auto* tile = as<Var>(operand(*call, "tile"));
        has_store_ = true;
        stores_.push_back(stmt);
        return tile && tile->name == as<Let>(load_)->var->name &&
               memory_of(*call) != memory_of(*load_of(load_));
    }
    bool add_notify(const StmtPtr& stmt) {
        if (notifies_.empty()) notifies_ = numbers_;
        notifies_.push_back(stmt);
        return has_store_;
    }

    StmtPtr storing() const {
        auto loop = std::make_shared<ForStmt>(loop_);
        loop->body.stmts = stores_;
        if (const IfStmt* branch = condition()) {
            auto inner = std::make_shared<IfStmt>(*branch);
            inner->then_block.stmts = stores_;
            loop->body.stmts = {inner};
        }
        return loop;
    }

    // The loop of the notifies, with new names for what it defines: every name is defined once.
    StmtPtr telling(NameCounter& names) const {
        std::map<std::string, VarPtr, std::less<>> given;
        const auto give = [&](const VarPtr& var) {
            return given[var->name] = variable(names.Fresh(var->name), var->type, var->span);
        };
        const auto say = [&](const ExprPtr& expr) {
            return passes::rewrite_expr(expr, [&](const ExprPtr& each) -> ExprPtr {
                const auto* var = as<Var>(each);
                const auto it = var ? given.find(var->name) : given.end();
                return it == given.end() ? each : it->second;
            });
        };
        auto loop = std::make_shared<ForStmt>(loop_);
        loop->var = give(loop_.var);
        Stmts stmts;
        for (const StmtPtr& stmt : notifies_) {
            if (const auto* number = as<Let>(stmt)) {
                auto definition = std::make_shared<Let>(*number);
                definition->value = say(number->value);
                definition->var = give(number->var);
                stmts.push_back(definition);
            } else {
                auto command = std::make_shared<Eval>(*as<Eval>(stmt));
                command->call = say(command->call);
                stmts.push_back(command);
            }
        }
        if (const IfStmt* branch = condition()) {
            auto inner = std::make_shared<IfStmt>(*branch);
            inner->condition = say(branch->condition);
            inner->then_block.stmts = stmts;
            stmts = {inner};
        }
        loop->body.stmts = stmts;
        return loop;
    }

    const ForStmt& loop_;
    bool is_one_ = false;
    bool has_store_ = false;
    StmtPtr load_;
    Stmts numbers_, stores_, notifies_;
};

}  // namespace

Block share_loads(const Block& block, NameCounter& names) {
    return passes::rewrite_block(block, [&](const StmtPtr& stmt) -> std::optional<Stmts> {
        const auto* loop = as<ForStmt>(stmt);
        if (!loop) return std::nullopt;
        const CopyToMany copy(*loop);
        if (!copy.is_one()) return std::nullopt;
        return copy.apart(names);
    });
}

}  // namespace peal::emit
