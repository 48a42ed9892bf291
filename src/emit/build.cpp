// SPDX-License-Identifier: Apache-2.0
#include "emit/phases.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "emit/regions.hpp"
#include "ir/fields.hpp"
#include "passes/rewrite.hpp"
#include "peal/ops.hpp"
#include "peal/program.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: reads the IR

// Pieces of a fixed size that are not worth a loop.
constexpr std::int64_t kSmallBytes = 4096;

struct Named {
    std::string_view op, text;
};
constexpr Named kInstructions[] = {
    {ops::kTileAdd, "TADD"},      {ops::kTileMul, "TMUL"},        {ops::kTileMax, "TMAX"},
    {ops::kTileMin, "TMIN"},      {ops::kTileAddScalar, "TADDS"}, {ops::kTileMulScalar, "TMULS"},
    {ops::kTileFull, "TEXPANDS"},
};

std::string_view instruction_of(const Call& call) {
    for (const Named& each : kInstructions) {
        if (each.op == call.op) return each.text;
    }
    return {};
}

VarPtr var_of(const ExprPtr& expr) { return std::static_pointer_cast<const Var>(expr); }

bool is_tile(const VarPtr& var) { return var->type.kind == Type::Kind::tile; }

class Builder {
public:
    Builder(const Kernel& kernel, const Facts& facts, const Trouble& trouble)
        : kernel_(kernel), facts_(facts), trouble_(trouble), names_(passes::names_of(kernel)) {}

    DeviceProgram build() {
        program_.steps = block(kernel_.body);
        return std::move(program_);
    }

private:
    // ------------------------------------------------------------------------ statements

    Steps block(const Block& block) {
        Steps steps;
        for (std::size_t i = 0; i < block.stmts.size();) {
            const Region region = in_region_ || !works_on_tiles(block.stmts[i])
                                      ? Region{}
                                      : region_at(block, i, facts_);
            if (region.count) {
                add_region(block, i, region, steps);
                i = region.end;
            } else {
                if (!region.why.empty()) why_ = region.why;
                add(block.stmts[i++], steps);
            }
        }
        return steps;
    }

    void add_region(const Block& block, std::size_t begin, const Region& region, Steps& steps) {
        const std::int64_t bound = facts_.constant_bound(region.count);
        const auto* constant = as<IntConst>(region.count);
        const bool whole = constant && bound * 8 <= kSmallBytes;
        Loop loop{next_loop_++, nullptr, nullptr, nullptr, region.count, false, {}};
        in_region_ = true;
        in_chunks_ = !whole;
        held_.clear();
        Steps body;
        for (std::size_t i = begin; i < region.end; ++i) {
            // What has to do with numbers only is the same for all chunks.
            add(block.stmts[i], works_on_tiles(block.stmts[i]) ? body : steps);
        }
        in_region_ = in_chunks_ = false;
        const Span span = block.stmts[begin]->span;
        if (whole) {
            if (constant->value == 0) return;
            for (Step& step : body) steps.push_back(std::move(step));
            return;
        }
        if (!as<Var>(region.count) && !as<IntConst>(region.count)) {
            loop.chunks = variable(names_.Fresh("size"), index_type());
            steps.push_back({Define{var_of(loop.chunks), region.count}, span});
        }
        loop.body = std::move(body);
        steps.push_back({std::move(loop), span});
    }

    void add(const StmtPtr& stmt, Steps& steps) {
        span_ = stmt->span.line != 0 ? stmt->span : span_;
        if (const auto* definition = as<Let>(stmt)) return add_let(*definition, steps);
        if (const auto* command = as<Eval>(stmt))
            return add_command(*as<Call>(command->call), steps);
        if (const auto* loop = as<ForStmt>(stmt)) return add_loop(*loop, steps);
        add_branch(*as<IfStmt>(stmt), steps);
    }

    void add_let(const Let& definition, Steps& steps) {
        if (is_tile(definition.var)) {
            tiles_[definition.var->name] = tile(definition.value, steps, definition.var->name);
        } else {
            steps.push_back({Define{definition.var, definition.value}, span_});
        }
    }

    void add_loop(const ForStmt& stmt, Steps& steps) {
        for (const Carried& carried : stmt.carried) {
            start(carried.inner, carried.init, steps);
            follow(carried.result, carried.inner);
        }
        Loop loop{next_loop_++, stmt.var, stmt.lo, stmt.hi, nullptr, false, nested(stmt.body)};
        std::vector<VarPtr> inner;
        for (const Carried& carried : stmt.carried) inner.push_back(carried.inner);
        assign(inner, stmt.body.yields, loop.body);
        steps.push_back({std::move(loop), stmt.span});
        for (const Carried& carried : stmt.carried) {
            if (is_tile(carried.inner)) continue;
            steps.push_back({Define{carried.result, carried.inner}, stmt.span});
        }
    }

    void add_branch(const IfStmt& stmt, Steps& steps) {
        for (const VarPtr& result : stmt.results) {
            if (is_tile(result)) continue;
            steps.push_back({Define{result, nullptr, false}, stmt.span});
        }
        conditions_.push_back(stmt.condition);
        Branch branch{stmt.condition, nested(stmt.then_block), {}};
        conditions_.back() = unary(UnaryOp::logical_not, stmt.condition);
        for (std::size_t i = 0; i < stmt.results.size(); ++i) {
            if (is_tile(stmt.results[i])) declare(stmt.results[i], stmt.then_block.yields[i]);
        }
        assign(stmt.results, stmt.then_block.yields, branch.then_steps);
        branch.else_steps = nested(stmt.else_block);
        conditions_.pop_back();
        assign(stmt.results, stmt.else_block.yields, branch.else_steps);
        steps.push_back({std::move(branch), stmt.span});
    }

    // ------------------------------------------------------------------------ carried values

    void start(const VarPtr& var, const ExprPtr& init, Steps& steps) {
        if (!is_tile(var)) return steps.push_back({Define{var, init, false}, span_});
        const TileId from = tile(init, steps, var->name);
        declare_like(var, from);
        move(tiles_.at(var->name), from, steps);
    }

    void follow(const VarPtr& result, const VarPtr& inner) {
        if (is_tile(inner)) tiles_[result->name] = tiles_.at(inner->name);
    }

    void declare(const VarPtr& var, const ExprPtr& like) {
        declare_like(var, tiles_.at(as<Var>(like)->name));
    }
    void declare_like(const VarPtr& var, TileId like) {
        TileVariable copy = program_.tiles[static_cast<std::size_t>(like)];
        copy.name = var->name;
        tiles_[var->name] = new_tile(std::move(copy));
    }

    void move(TileId to, TileId from, Steps& steps) {
        if (to != from) steps.push_back({Compute{kMove, to, {from}, nullptr}, span_});
    }

    // All at once: no variable is overwritten before its old value was taken.
    void assign(const std::vector<VarPtr>& vars, const std::vector<ExprPtr>& values, Steps& steps) {
        const bool one = vars.size() == 1;
        std::vector<std::pair<VarPtr, ExprPtr>> scalars;
        std::vector<std::pair<TileId, TileId>> moves;
        for (std::size_t i = 0; i < vars.size(); ++i) {
            if (is_tile(vars[i])) {
                const TileId value = tile(values[i], steps, vars[i]->name);
                moves.emplace_back(tiles_.at(vars[i]->name), one ? value : copy_of(value, steps));
            } else if (one) {
                scalars.emplace_back(vars[i], values[i]);
            } else {
                const VarPtr next = variable(names_.Fresh("next_" + vars[i]->name), vars[i]->type);
                steps.push_back({Define{next, values[i]}, span_});
                scalars.emplace_back(vars[i], next);
            }
        }
        for (const auto& [var, value] : scalars) steps.push_back({Assign{var, value}, span_});
        for (const auto& [to, from] : moves) move(to, from, steps);
    }

    TileId copy_of(TileId tile, Steps& steps) {
        const TileId copy = new_tile(TileVariable(program_.tiles[static_cast<std::size_t>(tile)]));
        move(copy, tile, steps);
        return copy;
    }

    // ------------------------------------------------------------------------ tiles

    TileId new_tile(TileVariable tile) {
        program_.tiles.push_back(std::move(tile));
        return static_cast<TileId>(program_.tiles.size() - 1);
    }

    TileId new_tile(const std::string& name, Element element, const ExprPtr& count) {
        require_element(element);
        TileVariable tile;
        tile.name = name;
        tile.element = element;
        tile.span = span_;
        if (!in_chunks_) {
            tile.count = count;
            tile.bound = facts_.constant_bound(count);
            if (tile.bound < 0) {
                trouble_.fail(span_,
                              fmt::format("tile '{}' of {} elements must fit in tile memory as a "
                                          "whole, but its size is not known",
                                          name, print(count)),
                              why_.empty() ? "a tile that is used after a notify or wait cannot be "
                                             "taken in chunks: load it again behind them, or give "
                                             "it a constant size"
                                           : "it cannot be taken in chunks: " + why_);
            }
        }
        return new_tile(std::move(tile));
    }

    void require_element(Element element) const {
        if (bytes_of(element) < 8) return;
        trouble_.fail(span_, fmt::format("the device has no elements of type {}", name(element)),
                      "use f32, f16, bf16, i32, i16, i8 or u8");
    }

    // The tile that an expression gives; ops are carried out, `name` is for their result.
    TileId tile(const ExprPtr& expr, Steps& steps, const std::string& name) {
        if (const auto* var = as<Var>(expr)) return tiles_.at(var->name);
        const auto& call = *as<Call>(expr);
        const Element element = call.type.element;
        const ExprPtr count = call.type.shape.front();
        if (call.op == ops::kTileLoad || call.op == ops::kRemoteLoad) {
            if (const auto held = held_at(ref_of(call))) return *held;
            const TileId result = new_tile(name, element, count);
            steps.push_back({LoadTile{result, ref_of(call)}, span_});
            return result;
        }
        if (call.op == ops::kTileSlice) {
            trouble_.fail(span_, "tile.slice: a part of a tile cannot be emitted",
                          "load that part from memory instead");
        }
        Compute compute{instruction_of(call), 0, {}, nullptr};
        for (const ExprPtr& each : call.operands) {
            if (type_of(*each).kind == Type::Kind::tile) {
                compute.src.push_back(tile(each, steps, names_.Fresh(name)));
            }
        }
        if (compute.src.size() < 2) {
            compute.scalar = operand(call, "value");
        }
        compute.dst = new_tile(name, element, count);
        const TileId result = compute.dst;
        steps.push_back({std::move(compute), span_});
        return result;
    }

    MemoryRef ref_of(const Call& call) const {
        const bool remote = call.op == ops::kRemoteLoad || call.op == ops::kRemoteStore;
        return {var_of(operand(call, remote ? "window" : "memory")),
                remote ? operand(call, "peer") : nullptr, operand(call, "offset")};
    }

    // ------------------------------------------------------------------------ what tiles still
    // hold

    struct Held {
        MemoryRef ref;
        TileId tile;
    };

    std::optional<TileId> held_at(const MemoryRef& ref) const {
        if (!in_chunks_ || ref.peer) return std::nullopt;
        for (const Held& each : held_) {
            if (each.ref.peer || each.ref.memory->name != ref.memory->name) continue;
            if (facts_.equal(each.ref.offset, ref.offset)) return each.tile;
        }
        return std::nullopt;
    }

    // The memory is written.
    void forget(const MemoryRef& ref) {
        if (ref.peer && facts_.is_other_rank(ref.peer)) return;
        std::erase_if(held_,
                      [&](const Held& each) { return each.ref.memory->name == ref.memory->name; });
    }

    // A block that may be left out or come again: what it stores is not held any more, before it
    // nor behind it.
    Steps nested(const Block& inner) {
        const auto forget_stores = [&](const ExprPtr& expr) {
            const auto* call = as<Call>(expr);
            if (!call) return;
            if (call->op == ops::kTileStore || call->op == ops::kRemoteStore) {
                forget(ref_of(*call));
            }
        };
        walk_exprs<Types::skip>(inner, forget_stores);
        const std::vector<Held> before = held_;
        Steps steps = block(inner);
        held_ = before;
        return steps;
    }

    // ------------------------------------------------------------------------ commands

    void add_command(const Call& call, Steps& steps) {
        if (call.op == ops::kTileStore || call.op == ops::kRemoteStore) {
            const TileId stored = tile(operand(call, "tile"), steps, "tile");
            steps.push_back({StoreTile{stored, ref_of(call)}, span_});
            forget(ref_of(call));
            if (in_chunks_) held_.push_back({ref_of(call), stored});
        } else if (call.op == ops::kNotify) {
            steps.push_back({NotifyCell{var_of(operand(call, "signal")), operand(call, "peer"),
                                        operand(call, "cell"), operand(call, "value"),
                                        word(call, "op") == "set" ? NotifyOp::set : NotifyOp::add},
                             span_});
        } else if (call.op == ops::kWait) {
            steps.push_back({WaitForCell{var_of(operand(call, "signal")), operand(call, "cell"),
                                         operand(call, "value"), *compare_from(word(call, "cmp"))},
                             span_});
        } else if (call.op == ops::kAdvance) {
            steps.push_back(
                {AdvanceGeneration{var_of(operand(call, "signal")), operand(call, "by")}, span_});
        } else if (call.op == ops::kFence) {
            // Nothing was put later: see copy_through_tile().
        } else if (call.op == ops::kRequire) {
            add_requirement(call);
        } else {
            trouble_.fail(span_,
                          fmt::format("{}: there is no such instruction on the device", call.op));
        }
    }

    // What is not known to hold is asked before anything is done.
    void add_requirement(const Call& call) {
        const ExprPtr left = of_arguments(operand(call, "left"));
        const ExprPtr right = of_arguments(operand(call, "right"));
        const Compare compare = *compare_from(word(call, "cmp"));
        const bool at_least = compare == Compare::ge && !as<Var>(left) &&
                              facts_.not_negative(binary(BinaryOp::sub, left, right));
        const bool same = compare == Compare::eq || compare == Compare::ge;
        if (at_least || (same && facts_.equal(left, right))) return;
        Requirement requirement{{}, left, compare, right};
        for (const ExprPtr& condition : conditions_) {
            requirement.when.push_back(of_arguments(condition));
        }
        program_.requirements.push_back(std::move(requirement));
    }

    // In terms of symbols, scalars, rank and nranks.
    ExprPtr of_arguments(const ExprPtr& expr) const {
        return passes::rewrite_expr(expr, [&](const ExprPtr& each) {
            const auto* var = as<Var>(each);
            if (!var || kernel_.find(var->name)) return each;
            if (const ExprPtr definition = facts_.definition(var->name)) {
                return of_arguments(definition);
            }
            const auto symbols = symbols_of(kernel_);
            const bool is_symbol =
                std::any_of(symbols.begin(), symbols.end(),
                            [&](const VarPtr& symbol) { return symbol->name == var->name; });
            if (is_symbol) return each;
            trouble_.fail(span_,
                          fmt::format("require: '{}' is not known before the kernel begins, when "
                                      "its arguments are checked",
                                      var->name),
                          "require something of sizes, scalars, rank and nranks");
        });
    }

    const Kernel& kernel_;
    const Facts& facts_;
    const Trouble& trouble_;
    NameCounter names_;
    DeviceProgram program_;
    std::map<std::string, TileId, std::less<>> tiles_;
    std::vector<ExprPtr> conditions_;  // of the branches around
    std::vector<Held> held_;           // what was stored in this region and is still in its tile
    std::string why_;                  // no region was found where the last one was sought
    Span span_;
    LoopId next_loop_ = 0;
    bool in_region_ = false;
    bool in_chunks_ = false;
};

}  // namespace

DeviceProgram build_steps(const Kernel& kernel, const Facts& facts, const Trouble& trouble) {
    return Builder(kernel, facts, trouble).build();
}

}  // namespace peal::emit
