// SPDX-License-Identifier: Apache-2.0
// The IR: one SPMD kernel for all ranks. Nodes are immutable and shared; values (tiles, scalars)
// are in SSA form; memory (tensors, windows, signals) is named by parameters and changed by ops in
// program order. Every node prints to .peal text that parses back to an equal node.
//
// Each node lists its fields once, in fields(). Equality, hashing, dumping, visiting and rewriting
// all come from that list (src/ir/fields.hpp), so a new field cannot be forgotten in one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "peal/element.hpp"
#include "peal/source.hpp"
#include "peal/words.hpp"

namespace peal::ir {

struct Expr;
struct Stmt;
struct Var;
struct Call;
using ExprPtr = std::shared_ptr<const Expr>;
using StmtPtr = std::shared_ptr<const Stmt>;
using VarPtr = std::shared_ptr<const Var>;
using CallPtr = std::shared_ptr<const Call>;

// A field of a node: its name for dumps, and where it is. A node's span is not a field: two nodes
// from different places are equal.
template <class Node, class Member>
struct Field {
    std::string_view name;
    Member Node::*member;
};
template <class Node, class Member>
constexpr Field<Node, Member> field(std::string_view name, Member Node::*member) {
    return {name, member};
}

// ---------------------------------------------------------------------------- types

// Shapes are expressions over integers, symbols, nranks and, for tensors, rank. A tile has one
// dimension: its number of elements.
struct Type {
    enum class Kind : std::uint8_t {
        none,     // the op yields nothing
        boolean,  //
        scalar,   // one number, the same for a whole call; integers are 64-bit inside expressions
        table,    // an integer array known before the plan is made (counts of all_to_all_v)
        tile,     // a value in core-local memory
        tensor,   // private memory
        window,   // symmetric memory, also signals
        context,  // the communication domain
    };
    Kind kind = Kind::none;
    Element element = Element::i64;
    std::vector<ExprPtr> shape;

    static constexpr auto fields() {
        return std::tuple(field("kind", &Type::kind), field("element", &Type::element),
                          field("shape", &Type::shape));
    }
    bool is_integer() const { return kind == Kind::scalar && !is_float(element); }
    bool is_memory() const { return kind == Kind::tensor || kind == Kind::window; }
};
Type index_type();
Type boolean_type();
Type tile_type(Element element, ExprPtr count);

// ---------------------------------------------------------------------------- expressions

enum class ExprKind : std::uint8_t {
    int_const,
    float_const,
    var,
    unary,
    binary,
    table_at,
    fold,
    call
};

struct Expr {
    ExprKind kind;
    Span span;

protected:
    explicit Expr(ExprKind k) : kind(k) {}
};

struct IntConst : Expr {
    static constexpr ExprKind kKind = ExprKind::int_const;
    IntConst() : Expr(kKind) {}
    std::int64_t value = 0;
    static constexpr auto fields() { return std::tuple(field("value", &IntConst::value)); }
};

struct FloatConst : Expr {
    static constexpr ExprKind kKind = ExprKind::float_const;
    FloatConst() : Expr(kKind) {}
    double value = 0;
    static constexpr auto fields() { return std::tuple(field("value", &FloatConst::value)); }
};

// A parameter, a shape symbol, a loop counter, or the one definition of an SSA value. Names are
// unique within a kernel, and a variable is the same variable if its name is.
struct Var : Expr {
    static constexpr ExprKind kKind = ExprKind::var;
    Var() : Expr(kKind) {}
    std::string name;
    Type type;
    static constexpr auto fields() {
        return std::tuple(field("name", &Var::name), field("type", &Var::type));
    }
};

enum class UnaryOp : std::uint8_t { neg, logical_not, log2 };  // log2 rounds down

struct Unary : Expr {
    static constexpr ExprKind kKind = ExprKind::unary;
    Unary() : Expr(kKind) {}
    UnaryOp op = UnaryOp::neg;
    ExprPtr operand;
    static constexpr auto fields() {
        return std::tuple(field("op", &Unary::op), field("operand", &Unary::operand));
    }
};

// Integer arithmetic (64-bit; overflow and division by zero are errors; / and % round towards minus
// infinity), comparisons of integers, and logic. Tiles are combined by ops, not here.
enum class BinaryOp : std::uint8_t {
    add,
    sub,
    mul,
    div,
    mod,
    min,
    max,
    shl,
    shr,
    bit_xor,
    eq,
    ne,
    lt,
    le,
    gt,
    ge,
    logical_and,
    logical_or,
};

struct Binary : Expr {
    static constexpr ExprKind kKind = ExprKind::binary;
    Binary() : Expr(kKind) {}
    BinaryOp op = BinaryOp::add;
    ExprPtr lhs, rhs;
    static constexpr auto fields() {
        return std::tuple(field("op", &Binary::op), field("lhs", &Binary::lhs),
                          field("rhs", &Binary::rhs));
    }
};

// counts[i, j]
struct TableAt : Expr {
    static constexpr ExprKind kKind = ExprKind::table_at;
    TableAt() : Expr(kKind) {}
    ExprPtr table;
    std::vector<ExprPtr> indices;
    static constexpr auto fields() {
        return std::tuple(field("table", &TableAt::table), field("indices", &TableAt::indices));
    }
};

// sum(k in lo..hi, body) and max(k in lo..hi, body); an empty range gives 0.
enum class FoldOp : std::uint8_t { sum, max };

struct Fold : Expr {
    static constexpr ExprKind kKind = ExprKind::fold;
    Fold() : Expr(kKind) {}
    FoldOp op = FoldOp::sum;
    VarPtr var;
    ExprPtr lo, hi, body;
    static constexpr auto fields() {
        return std::tuple(field("op", &Fold::op), field("var", &Fold::var), field("lo", &Fold::lo),
                          field("hi", &Fold::hi), field("body", &Fold::body));
    }
};

// An attribute is a word (op=sum) or an integer (root=0).
using AttributeValue = std::variant<std::string, std::int64_t>;
struct Attribute {
    std::string name;
    AttributeValue value;
    bool operator==(const Attribute&) const = default;
};

// One op of the registry (peal/ops.hpp). Operands stand in the registry's order, a missing optional
// one as null; attributes stand in the registry's order with defaults filled in. Build calls with
// make_call, which checks all of that and deduces the type.
struct Call : Expr {
    static constexpr ExprKind kKind = ExprKind::call;
    Call() : Expr(kKind) {}
    std::string op;
    std::vector<ExprPtr> operands;
    std::vector<Attribute> attributes;
    Type type;
    static constexpr auto fields() {
        return std::tuple(field("op", &Call::op), field("operands", &Call::operands),
                          field("attributes", &Call::attributes), field("type", &Call::type));
    }
};

// ---------------------------------------------------------------------------- statements

enum class StmtKind : std::uint8_t { let, eval, for_loop, if_else, invoke };

struct Stmt {
    StmtKind kind;
    Span span;

protected:
    explicit Stmt(StmtKind k) : kind(k) {}
};

// Statements in order, and the values that the block hands to the loop or condition around it.
struct Block {
    std::vector<StmtPtr> stmts;
    std::vector<ExprPtr> yields;
    static constexpr auto fields() {
        return std::tuple(field("stmts", &Block::stmts), field("yields", &Block::yields));
    }
};

struct Let : Stmt {
    static constexpr StmtKind kKind = StmtKind::let;
    Let() : Stmt(kKind) {}
    VarPtr var;
    ExprPtr value;
    static constexpr auto fields() {
        return std::tuple(field("var", &Let::var), field("value", &Let::value));
    }
};

// A call made for its effect.
struct Eval : Stmt {
    static constexpr StmtKind kKind = StmtKind::eval;
    Eval() : Stmt(kKind) {}
    ExprPtr call;
    static constexpr auto fields() { return std::tuple(field("call", &Eval::call)); }
};

// A value that a loop carries: `inner` is `init` in the first round and what the body yielded
// after that; `result` is the last one, visible after the loop.
struct Carried {
    VarPtr inner;
    ExprPtr init;
    VarPtr result;
    static constexpr auto fields() {
        return std::tuple(field("inner", &Carried::inner), field("init", &Carried::init),
                          field("result", &Carried::result));
    }
};

// for var in lo..hi (hi is not reached).
struct ForStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::for_loop;
    ForStmt() : Stmt(kKind) {}
    VarPtr var;
    ExprPtr lo, hi;
    std::vector<Carried> carried;
    Block body;
    static constexpr auto fields() {
        return std::tuple(field("var", &ForStmt::var), field("lo", &ForStmt::lo),
                          field("hi", &ForStmt::hi), field("carried", &ForStmt::carried),
                          field("body", &ForStmt::body));
    }
};

// Both blocks yield one value per result.
struct IfStmt : Stmt {
    static constexpr StmtKind kKind = StmtKind::if_else;
    IfStmt() : Stmt(kKind) {}
    ExprPtr condition;
    std::vector<VarPtr> results;
    Block then_block, else_block;
    static constexpr auto fields() {
        return std::tuple(
            field("condition", &IfStmt::condition), field("results", &IfStmt::results),
            field("then_block", &IfStmt::then_block), field("else_block", &IfStmt::else_block));
    }
};

// Another kernel of the program, inlined by the first pass. Arguments are memory parameters,
// scalars and tables, one for each parameter of the kernel.
struct Invoke : Stmt {
    static constexpr StmtKind kKind = StmtKind::invoke;
    Invoke() : Stmt(kKind) {}
    std::string kernel;
    std::vector<ExprPtr> arguments;
    static constexpr auto fields() {
        return std::tuple(field("kernel", &Invoke::kernel), field("arguments", &Invoke::arguments));
    }
};

// ---------------------------------------------------------------------------- kernels

struct Param {
    VarPtr var;
    Direction direction = Direction::unknown;  // memory only; unknown until inferred
    static constexpr auto fields() {
        return std::tuple(field("var", &Param::var), field("direction", &Param::direction));
    }
};

struct Kernel {
    std::string name;
    std::vector<Param> params;
    Block body;
    Span span;
    static constexpr auto fields() {
        return std::tuple(field("name", &Kernel::name), field("params", &Kernel::params),
                          field("body", &Kernel::body));
    }
    const Param* find(std::string_view param) const;
};

struct Program {
    std::vector<Kernel> kernels;
    SourcePtr source;  // where spans point; null for a program built in C++
    static constexpr auto fields() { return std::tuple(field("kernels", &Program::kernels)); }
    const Kernel* find(std::string_view kernel) const;
};

// ---------------------------------------------------------------------------- what one can ask

bool equal(const ExprPtr& a, const ExprPtr& b);
bool equal(const Type& a, const Type& b);
bool equal(const Kernel& a, const Kernel& b);
bool equal(const Program& a, const Program& b);
std::size_t hash(const Kernel& kernel);
std::size_t hash(const Program& program);

// The node and its fields as an indented tree, for debugging and failure messages of tests.
std::string dump(const Kernel& kernel);
std::string dump(const Program& program);

// The static type of an expression; it lives as long as the expression.
const Type& type_of(const Expr& expr);

// The symbols of a kernel: variables of its parameters' shapes that are not parameters, in order
// of first appearance.
std::vector<VarPtr> symbols_of(const Kernel& kernel);

// Casts, by kind: as<Call>(expr) is null when expr is something else.
template <class Node, class Base>
const Node* as(const std::shared_ptr<const Base>& node) {
    return node && node->kind == Node::kKind ? static_cast<const Node*>(node.get()) : nullptr;
}

// ---------------------------------------------------------------------------- making nodes

ExprPtr integer(std::int64_t value, Span span = {});
ExprPtr floating(double value, Span span = {});
VarPtr variable(std::string name, Type type, Span span = {});
ExprPtr unary(UnaryOp op, ExprPtr operand, Span span = {});
ExprPtr binary(BinaryOp op, ExprPtr lhs, ExprPtr rhs, Span span = {});
ExprPtr table_at(ExprPtr table, std::vector<ExprPtr> indices, Span span = {});
ExprPtr fold(FoldOp op, VarPtr var, ExprPtr lo, ExprPtr hi, ExprPtr body, Span span = {});

// pld.system.rank(pld.system.get_comm_ctx()), written `rank`; likewise nranks, lane and nlanes.
ExprPtr rank(Span span = {});
ExprPtr nranks(Span span = {});
ExprPtr lane(Span span = {});
ExprPtr nlanes(Span span = {});

StmtPtr let(VarPtr var, ExprPtr value, Span span = {});
StmtPtr eval(ExprPtr call, Span span = {});
StmtPtr for_loop(VarPtr var, ExprPtr lo, ExprPtr hi, std::vector<Carried> carried, Block body,
                 Span span = {});
StmtPtr if_else(ExprPtr condition, std::vector<VarPtr> results, Block then_block, Block else_block,
                Span span = {});
StmtPtr invoke(std::string kernel, std::vector<ExprPtr> arguments, Span span = {});

std::string_view name(BinaryOp op);  // as written in .peal: "+", "<<", "and", "min"
std::string_view name(UnaryOp op);
std::string_view name(FoldOp op);

}  // namespace peal::ir
