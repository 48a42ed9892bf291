// SPDX-License-Identifier: Apache-2.0
#include "emit/regions.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "ir/fields.hpp"
#include "peal/ops.hpp"
#include "peal/program.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: asks about the IR

using Names = std::set<std::string, std::less<>>;
using Statements = std::span<const StmtPtr>;

bool is_sync(const Call& call) {
    return call.op == ops::kNotify || call.op == ops::kWait || call.op == ops::kAdvance;
}

bool is_tile_work(const Call& call) {
    return call.op.starts_with("tile.") || call.op == ops::kRemoteLoad ||
           call.op == ops::kRemoteStore;
}

template <class Node, class Visit>
void for_each_call(const Node& node, const Visit& visit) {
    walk_exprs<Types::skip>(node, [&](const ExprPtr& expr) {
        if (const auto* call = as<Call>(expr)) visit(*call);
    });
}

bool any_call(const StmtPtr& stmt, bool (*matches)(const Call&)) {
    bool found = false;
    for_each_call(*stmt, [&](const Call& call) { found = found || matches(call); });
    return found;
}

// Variables that a statement and what is below it define.
void add_definitions(const StmtPtr& stmt, Names& names) {
    const auto add = [&](const StmtPtr& each) {
        if (const auto* definition = as<Let>(each)) names.insert(definition->var->name);
        if (const auto* branch = as<IfStmt>(each)) {
            for (const VarPtr& result : branch->results) names.insert(result->name);
        }
        if (const auto* loop = as<ForStmt>(each)) {
            names.insert(loop->var->name);
            for (const Carried& carried : loop->carried) {
                names.insert(carried.inner->name);
                names.insert(carried.result->name);
            }
        }
    };
    add(stmt);
    walk_stmts(*stmt, add);
}

template <class Node>
bool mentions(const Node& node, const Names& names, bool tiles_only) {
    bool found = false;
    const auto look = [&](const ExprPtr& expr) {
        const auto* var = as<Var>(expr);
        if (!var || (tiles_only && var->type.kind != Type::Kind::tile)) return;
        found = found || names.contains(var->name);
    };
    walk_exprs<Types::skip>(node, look);
    return found;
}

bool mentions(const ExprPtr& expr, const Names& names) {
    const std::vector<ExprPtr> whole = {expr};
    return mentions(whole, names, false);
}

// No tile that is defined inside is used after it, nor what a loop or branch gives; no tile from
// before is used inside.
bool is_closed(const Block& block, std::size_t begin, std::size_t end) {
    Names inside, given;
    for (std::size_t i = begin; i < end; ++i) {
        add_definitions(block.stmts[i], as<Let>(block.stmts[i]) ? inside : given);
    }
    const auto escapes = [&](const auto& node) {
        return mentions(node, inside, true) || mentions(node, given, false);
    };
    for (std::size_t i = end; i < block.stmts.size(); ++i) {
        if (escapes(*block.stmts[i])) return false;
    }
    if (escapes(block.yields)) return false;
    inside.merge(given);
    bool closed = true;
    for (std::size_t i = begin; i < end; ++i) {
        walk_exprs<Types::skip>(*block.stmts[i], [&](const ExprPtr& expr) {
            const auto* var = as<Var>(expr);
            const bool tile = var && var->type.kind == Type::Kind::tile;
            if (tile && !inside.contains(var->name)) closed = false;
        });
    }
    return closed;
}

struct Access {
    const Var* memory;
    ExprPtr peer;  // null: the own rank
    ExprPtr offset;
    bool stores;
};

Access access_of(const Call& call) {
    const bool remote = call.op == ops::kRemoteLoad || call.op == ops::kRemoteStore;
    const bool stores = call.op == ops::kTileStore || call.op == ops::kRemoteStore;
    const auto* memory = as<Var>(operand(call, remote ? "window" : "memory"));
    return {memory, remote ? operand(call, "peer") : nullptr, operand(call, "offset"), stores};
}

// Looks at the statements of a region that may be one.
class Candidate {
public:
    Candidate(Statements stmts, const Facts& facts) : facts_(facts) {
        for (const StmtPtr& stmt : stmts) {
            if (as<Let>(stmt)) continue;  // what is defined here is known for the whole region
            add_definitions(stmt, inner_);
        }
        for (const StmtPtr& stmt : stmts) {
            for_each_call(*stmt, [&](const Call& call) { look_at(call); });
        }
    }

    ExprPtr count() {
        if (why_.empty()) require_steps();
        return why_.empty() ? count_ : nullptr;
    }
    // Why there is no count.
    const std::string& why() const { return why_; }

private:
    void look_at(const Call& call) {
        const bool loads = call.op == ops::kTileLoad || call.op == ops::kRemoteLoad;
        if (loads || call.op == ops::kTileFull) {
            const ExprPtr count = operand(call, "count");
            if (!count_) count_ = count;
            if (mentions(count, inner_) || !facts_.equal(count_, count)) {
                why_ = fmt::format("tiles of {} and {} elements are used together", print(count_),
                                   print(count));
            }
        }
        if (call.op == ops::kTileSlice) why_ = "a part of a tile is used";
        const bool stores = call.op == ops::kTileStore || call.op == ops::kRemoteStore;
        if (loads || stores) accesses_.push_back(access_of(call));
    }

    void require_steps() {
        for (const Access& store : accesses_) {
            if (!store.stores) continue;
            for (const Access& other : accesses_) {
                if (is_in_step(store, other)) continue;
                why_ = fmt::format(
                    "a chunk that is stored to {} may be what {} {} {} later: it is not known that "
                    "they are the same elements or none in common",
                    text_of(store), other.stores ? "is stored" : "is loaded",
                    other.stores ? "to" : "from", text_of(other));
                return;
            }
        }
    }

    static std::string text_of(const Access& access) {
        return fmt::format("{}{} + {}", access.memory->name,
                           access.peer ? fmt::format("@({})", print(access.peer)) : "",
                           print(access.offset));
    }

    // Element i of one has to do with element i of the other at most.
    bool is_in_step(const Access& store, const Access& other) const {
        if (store.memory->name != other.memory->name) return true;
        if (!store.peer != !other.peer) {
            if (facts_.is_other_rank(store.peer ? store.peer : other.peer)) return true;
        }
        if (mentions(store.offset, inner_) || mentions(other.offset, inner_)) return false;
        return facts_.equal(store.offset, other.offset) ||
               facts_.disjoint(store.offset, count_, other.offset, count_);
    }

    const Facts& facts_;
    Names inner_;
    std::vector<Access> accesses_;
    ExprPtr count_;
    std::string why_;
};

}  // namespace

bool works_on_tiles(const StmtPtr& stmt) {
    const auto* definition = as<Let>(stmt);
    const bool names_tile = definition && definition->var->type.kind == Type::Kind::tile;
    return names_tile || any_call(stmt, is_tile_work);
}
bool syncs(const StmtPtr& stmt) { return any_call(stmt, is_sync); }

Region region_at(const Block& block, std::size_t begin, const Facts& facts) {
    Region best;
    for (std::size_t i = begin; i < block.stmts.size() && !syncs(block.stmts[i]); ++i) {
        if (!works_on_tiles(block.stmts[i]) || !is_closed(block, begin, i + 1)) continue;
        const Statements stmts = Statements(block.stmts).subspan(begin, i + 1 - begin);
        Candidate candidate(stmts, facts);
        const ExprPtr count = candidate.count();
        if (!count) {
            if (!best.count) best.why = candidate.why();
            break;
        }
        best = {i + 1, count, {}};
    }
    // A condition around everything is asked once, not for each chunk.
    const bool lone = best.end == begin + 1 && as<IfStmt>(block.stmts[begin]);
    return lone ? Region{} : best;
}

}  // namespace peal::emit
