// SPDX-License-Identifier: Apache-2.0
#include "plan/resolved.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory_resource>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "ir/fields.hpp"
#include "peal/error.hpp"
#include "peal/ops.hpp"
#include "plan/arithmetic.hpp"

namespace peal::plan {
namespace {

Primitive primitive_of(std::string_view op) {
    namespace ops = ir::ops;
    static const std::unordered_map<std::string_view, Primitive> kPrimitives = {
        {ops::kTileLoad, Primitive::load},
        {ops::kTileStore, Primitive::store},
        {ops::kTileSlice, Primitive::slice},
        {ops::kTileFull, Primitive::full},
        {ops::kTileAdd, Primitive::add},
        {ops::kTileMul, Primitive::mul},
        {ops::kTileMax, Primitive::max},
        {ops::kTileMin, Primitive::min},
        {ops::kTileAddScalar, Primitive::add_scalar},
        {ops::kTileMulScalar, Primitive::mul_scalar},
        {ops::kRemoteLoad, Primitive::remote_load},
        {ops::kRemoteStore, Primitive::remote_store},
        {ops::kPut, Primitive::put},
        {ops::kPutLater, Primitive::put_later},
        {ops::kRemoteAdd, Primitive::remote_add},
        {ops::kPutAdd, Primitive::put_add},
        {ops::kGet, Primitive::get},
        {ops::kNotify, Primitive::notify},
        {ops::kWait, Primitive::wait},
        {ops::kGeneration, Primitive::generation},
        {ops::kAdvance, Primitive::advance},
        {ops::kFence, Primitive::fence},
        {ops::kRequire, Primitive::require},
    };
    const auto it = kPrimitives.find(op);
    return it == kPrimitives.end() ? Primitive::none : it->second;
}

constexpr Slot kNoSlot = UINT32_MAX;
constexpr std::size_t kUsualNodes = 256;
constexpr std::size_t kOperandBytes = 4096;  // to begin with

class Resolver {
public:
    Resolver() {
        done_.reserve(kUsualNodes);
        known_.reserve(kUsualNodes);
    }

    ResolvedKernel run(const ir::Program& program, const ir::Kernel& kernel) {
        ResolvedKernel result;
        result.origin = &kernel;
        result.source = program.source;
        for (const ir::VarPtr& symbol : ir::symbols_of(kernel)) {
            result.symbols.push_back({symbol->name, slot_of(*symbol)});
        }
        for (const ir::Param& param : kernel.params) {
            result.parameters.push_back(
                {&param, slot_of(*param.var), false, all(param.var->type.shape)});
        }
        result.body = body(kernel.body);
        for (Parameter& parameter : result.parameters) {
            parameter.is_signal =
                std::find(signals_.begin(), signals_.end(), parameter.slot) != signals_.end();
        }
        result.asks_lane = asks_lane_;
        result.slots = next_slot_;
        result.memos = next_memo_;
        result.memory = std::move(operand_memory_);
        result.expressions = std::move(expressions_);
        return result;
    }

private:
    Slot slot_of(const ir::Var& var) {
        const auto [it, is_new] = slots_.try_emplace(var.name, next_slot_);
        next_slot_ += is_new;
        return it->second;
    }

    // ---- statements

    Body body(const ir::Block& block) {
        Body result;
        result.statements.reserve(block.stmts.size());
        for (const ir::StmtPtr& stmt : block.stmts) {
            ir::dispatch(*stmt, [&](const auto& concrete) {
                result.statements.push_back({statement(concrete), stmt->span});
            });
        }
        result.yields = all(block.yields);
        return result;
    }

    Definition statement(const ir::Let& let) { return {slot_of(*let.var), expression(let.value)}; }
    Command statement(const ir::Eval& eval) { return {expression(eval.call)}; }
    Loop statement(const ir::ForStmt& loop) {
        Loop result{
            slot_of(*loop.var), loop.var->name, expression(loop.lo), expression(loop.hi), {}, {}};
        for (const ir::Carried& carried : loop.carried) {
            result.carried.push_back(
                {slot_of(*carried.inner), slot_of(*carried.result), expression(carried.init)});
        }
        result.body = body(loop.body);
        return result;
    }
    Branch statement(const ir::IfStmt& branch) {
        Branch result{expression(branch.condition), {}, {}, {}};
        for (const ir::VarPtr& var : branch.results) result.results.push_back(slot_of(*var));
        result.taken = body(branch.then_block);
        result.otherwise = body(branch.else_block);
        return result;
    }
    Uninlined statement(const ir::Invoke& invoke) { return {invoke.kernel}; }

    // ---- expressions

    std::vector<Operand> all(const std::vector<ir::ExprPtr>& exprs) {
        std::vector<Operand> result;
        result.reserve(exprs.size());
        for (const ir::ExprPtr& expr : exprs) result.push_back(expression(expr));
        return result;
    }

    // Nodes are shared by many, and so is what becomes of them. Not inside a fold: there the same
    // node may stand for another counter of the same name.
    Operand expression(const ir::ExprPtr& expr) {
        if (!expr) return nullptr;
        if (folds_ != 0 || expr.use_count() == 1) return resolved(*expr);
        const auto it = done_.find(expr.get());
        if (it != done_.end()) return it->second;
        return done_[expr.get()] = resolved(*expr);
    }

    Operand resolved(const ir::Expr& expr) {
        Expression result{.kind = expr.kind,
                          .operands = std::pmr::vector<Operand>(operand_memory_.get()),
                          .origin = &expr};
        ir::dispatch(expr, [&](const auto& concrete) { fill(result, concrete); });
        if (!is_pure(result)) return &expressions_.emplace_back(std::move(result));
        const auto [it, is_new] = known_.try_emplace(Key(result), nullptr);
        if (is_new) {
            if (!result.operands.empty()) result.memo = next_memo_++;
            result.newest = newest_before(result, kNoSlot);
            it->second = &expressions_.emplace_back(std::move(result));
        }
        return it->second;
    }

    // An integer that follows from variables alone.
    static bool is_pure(const Expression& expr) {
        if (expr.kind == ir::ExprKind::call || expr.kind == ir::ExprKind::float_const) return false;
        if (expr.kind == ir::ExprKind::binary && !is_arithmetic(expr.binary)) return false;
        if (expr.kind == ir::ExprKind::unary && expr.unary != ir::UnaryOp::log2) return false;
        const auto is_remembered = [](Operand operand) {
            return operand->memo != kNoMemo || operand->kind == ir::ExprKind::int_const ||
                   operand->kind == ir::ExprKind::var;
        };
        return expr.operands.size() <= Key::kOperands &&
               std::all_of(expr.operands.begin(), expr.operands.end(), is_remembered);
    }

    // The newest variable that a pure expression depends on, of those before `limit`. The counter
    // of a fold is newer than all that the fold depends on.
    static Slot newest_before(const Expression& expr, Slot limit) {
        if (expr.kind == ir::ExprKind::var) return expr.slot < limit ? expr.slot : kRankSlot;
        if (expr.kind == ir::ExprKind::fold) limit = std::min(limit, expr.slot);
        Slot newest = kRankSlot;
        for (const Operand operand : expr.operands) {
            const bool known = operand->newest < limit;
            newest = std::max(newest, known ? operand->newest : newest_before(*operand, limit));
        }
        return newest;
    }

    // What makes two expressions the same. Places in a text stay apart, for messages.
    struct Key {
        static constexpr std::size_t kOperands = 3;

        explicit Key(const Expression& expr)
            : head{word(static_cast<std::uint32_t>(expr.kind) |
                            static_cast<std::uint32_t>(expr.unary) << 8 |
                            static_cast<std::uint32_t>(expr.binary) << 16 |
                            static_cast<std::uint32_t>(expr.fold) << 24,
                        expr.slot),
                   expr.integer,
                   word(static_cast<std::uint32_t>(expr.span().line),
                        static_cast<std::uint32_t>(expr.span().column))} {
            std::copy(expr.operands.begin(), expr.operands.end(), operands.begin());
        }
        bool operator==(const Key&) const = default;
        static constexpr std::int64_t word(std::uint32_t low, std::uint32_t high) {
            return static_cast<std::int64_t>(low | std::uint64_t{high} << 32);
        }

        std::array<std::int64_t, 3> head;
        std::array<Operand, kOperands> operands{};
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            std::size_t state = 0;
            const auto mix = [&](std::size_t value) {
                state = (std::rotl(state, 5) ^ value) * 0x517cc1b727220a95ULL;
            };
            for (const std::int64_t value : key.head) mix(static_cast<std::size_t>(value));
            for (const Operand operand : key.operands) mix(std::hash<Operand>{}(operand));
            return state;
        }
    };

    void fill(Expression& result, const ir::IntConst& expr) { result.integer = expr.value; }
    void fill(Expression& result, const ir::FloatConst& expr) { result.number = expr.value; }
    void fill(Expression& result, const ir::Var& expr) { result.slot = slot_of(expr); }
    void fill(Expression& result, const ir::Unary& expr) {
        result.unary = expr.op;
        result.operands.push_back(expression(expr.operand));
    }
    void fill(Expression& result, const ir::Binary& expr) {
        result.binary = expr.op;
        result.operands.reserve(2);
        result.operands.push_back(expression(expr.lhs));
        result.operands.push_back(expression(expr.rhs));
    }
    void fill(Expression& result, const ir::TableAt& expr) {
        result.operands.reserve(1 + expr.indices.size());
        result.operands.push_back(expression(expr.table));
        for (const ir::ExprPtr& index : expr.indices) result.operands.push_back(expression(index));
    }
    void fill(Expression& result, const ir::Fold& expr) {
        result.fold = expr.op;
        result.operands.reserve(3);
        result.operands.push_back(expression(expr.lo));
        result.operands.push_back(expression(expr.hi));
        result.slot = next_slot_++;
        const auto counter = slots_.try_emplace(expr.var->name, result.slot).first;
        const Slot hidden = std::exchange(counter->second, result.slot);
        ++folds_;
        result.operands.push_back(expression(expr.body));
        --folds_;
        slots_[expr.var->name] = hidden;
    }
    void fill(Expression& result, const ir::Call& expr) {
        if (expr.op == ir::ops::kRank) return make_variable(result, kRankSlot);
        if (expr.op == ir::ops::kNranks) return make_variable(result, kNranksSlot);
        if (expr.op == ir::ops::kNlanes) return make_variable(result, kNlanesSlot);
        if (expr.op == ir::ops::kLane) {
            asks_lane_ = true;
            return make_variable(result, kLaneSlot);
        }
        result.primitive = primitive_of(expr.op);
        result.operands.reserve(expr.operands.size());
        for (const ir::ExprPtr& each : expr.operands) result.operands.push_back(expression(each));
        note_signals(expr);
        if (result.primitive == Primitive::notify) {
            const bool is_set = ir::word(expr, "op") == name(NotifyOp::set);
            result.notify = is_set ? NotifyOp::set : NotifyOp::add;
        }
        if (result.primitive == Primitive::wait || result.primitive == Primitive::require) {
            result.compare = *compare_from(ir::word(expr, "cmp"));
        }
    }

    // What an op takes for a signal is one.
    void note_signals(const ir::Call& call) {
        const ir::OpSpec* spec = ir::find_op(call.op);
        if (spec == nullptr) return;
        for (std::size_t i = 0; i < call.operands.size() && i < spec->operands.size(); ++i) {
            if (spec->operands[i].kind != ir::OperandKind::signal) continue;
            if (const auto* var = ir::as<ir::Var>(call.operands[i])) {
                signals_.push_back(slot_of(*var));
            }
        }
    }

    static void make_variable(Expression& result, Slot slot) {
        result.kind = ir::ExprKind::var;
        result.slot = slot;
    }

    // The maps are many small pieces that are gone together.
    std::array<std::byte, std::size_t{1} << 15> room_;
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
    std::pmr::unordered_map<std::string_view, Slot> slots_{&memory_};
    Slot next_slot_ = kLaneSlot + 1;
    bool asks_lane_ = false;
    Memo next_memo_ = 0;
    int folds_ = 0;              // around the expression that is being resolved
    std::vector<Slot> signals_;  // which variables are
    std::unique_ptr<std::pmr::memory_resource> operand_memory_ =
        std::make_unique<std::pmr::monotonic_buffer_resource>(kOperandBytes);
    std::deque<Expression> expressions_;
    std::pmr::unordered_map<const ir::Expr*, Operand> done_{&memory_};
    std::pmr::unordered_map<Key, Operand, KeyHash> known_{&memory_};
};

}  // namespace

ResolvedKernel resolve(const ir::Program& lowered, std::string_view kernel) {
    if (const ir::Kernel* found = lowered.find(kernel)) return Resolver().run(lowered, *found);
    throw Error(Fault::usage, fmt::format("there is no kernel '{}' in the program", kernel));
}

}  // namespace peal::plan
