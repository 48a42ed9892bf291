// SPDX-License-Identifier: Apache-2.0
// A lowered kernel, ready to become plans: variables are slots, ops are numbers, attributes are
// read. It is made once per program; what is left for each rank and size is arithmetic.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <string_view>
#include <variant>
#include <vector>

#include "peal/ir.hpp"

namespace peal::plan {

// Where the value of a variable is while the kernel is carried out. Slots are numbered in the order
// of the definitions: whenever a variable gets a new value, so do those after it on the way to any
// expression that uses both.
using Slot = std::uint32_t;
inline constexpr Slot kRankSlot = 0;
inline constexpr Slot kNranksSlot = 1;
inline constexpr Slot kNlanesSlot = 2;
inline constexpr Slot kLaneSlot = 3;

enum class Primitive : std::uint8_t {
    none,  // not a primitive op
    load,
    store,
    slice,
    full,
    add,
    mul,
    max,
    min,
    add_scalar,
    mul_scalar,
    remote_load,
    remote_store,
    put,
    put_later,
    remote_add,
    put_add,
    get,
    notify,
    wait,
    generation,
    advance,
    fence,
    require,
};

using Memo = std::uint32_t;
inline constexpr Memo kNoMemo = UINT32_MAX;

struct Expression;
using Operand = const Expression*;

struct Expression {
    ir::ExprKind kind = ir::ExprKind::int_const;
    ir::UnaryOp unary{};
    ir::BinaryOp binary{};
    ir::FoldOp fold{};
    Primitive primitive = Primitive::none;
    NotifyOp notify{};         // of a notify
    Compare compare{};         // of a wait or require
    Slot slot = 0;             // of a variable or of a fold's counter
    std::int64_t integer = 0;  // of an int_const
    double number = 0;         // of a float_const
    // Of a fold: lo, hi, body. Of a table_at: the table, then the indices. Null: an optional
    // operand that is not given.
    std::pmr::vector<Operand> operands;
    // An integer that follows from variables alone is worked out again only when the newest of them
    // has changed. Equal expressions are one.
    Memo memo = kNoMemo;
    Slot newest = kRankSlot;
    const ir::Expr* origin = nullptr;

    Span span() const { return origin->span; }
    // The call that this expression is made of.
    const ir::Call& call() const { return static_cast<const ir::Call&>(*origin); }
};

struct Statement;

struct Body {
    std::vector<Statement> statements;
    std::vector<Operand> yields;
};

struct Definition {
    Slot slot;
    Operand value;
};

struct Command {
    Operand call;
};

struct Loop {
    struct Carried {
        Slot inner, result;
        Operand init;
    };
    Slot counter;
    std::string_view name;  // of the counter
    Operand lo, hi;
    std::vector<Carried> carried;
    Body body;
};

struct Branch {
    Operand condition;
    std::vector<Slot> results;
    Body taken, otherwise;
};

// A call of another kernel: lowering has not removed it.
struct Uninlined {
    std::string_view kernel;
};

struct Statement {
    std::variant<Definition, Command, Loop, Branch, Uninlined> what;
    Span span;
};

struct Parameter {
    const ir::Param* origin;
    Slot slot;
    bool is_signal;
    std::vector<Operand> shape;

    const ir::Var& var() const { return *origin->var; }
};

struct ResolvedKernel {
    ResolvedKernel() = default;
    ResolvedKernel(ResolvedKernel&&) = default;
    ResolvedKernel& operator=(ResolvedKernel&&) = delete;  // expressions go before their memory

    const ir::Kernel* origin = nullptr;
    SourcePtr source;
    std::vector<Parameter> parameters;
    struct Symbol {
        std::string_view name;
        Slot slot;
    };
    std::vector<Symbol> symbols;
    Body body;
    bool asks_lane = false;
    Slot slots = 0;  // how many there are
    Memo memos = 0;
    // Of the operands: many small pieces that are gone together.
    std::unique_ptr<std::pmr::memory_resource> memory;
    std::deque<Expression> expressions;  // stable: everything above points into it
};

// The result refers to nodes of the program, which must outlive it. Throws Error(usage) when there
// is no such kernel.
ResolvedKernel resolve(const ir::Program& lowered, std::string_view kernel);

}  // namespace peal::plan
