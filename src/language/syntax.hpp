// SPDX-License-Identifier: Apache-2.0
// The syntax tree: a program as it is written, before names and types mean anything.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "peal/element.hpp"
#include "peal/ir.hpp"
#include "peal/source.hpp"
#include "peal/words.hpp"

namespace peal::language::syntax {

struct Expr;
struct Stmt;
using ExprPtr = std::unique_ptr<Expr>;
using StmtPtr = std::unique_ptr<Stmt>;

struct Identifier {
    std::string text;
    Span span;
};

// ---------------------------------------------------------------------------- expressions

struct Integer {
    std::int64_t value;
};
struct Real {
    double value;
};
struct Name {  // also the word of an attribute: op=sum
    std::string text;
};
struct Rank {};
struct Nranks {};
struct Lane {};
struct Nlanes {};
struct Unary {
    ir::UnaryOp op;
    ExprPtr operand;
};
struct Binary {  // also min(a, b) and max(a, b)
    ir::BinaryOp op;
    ExprPtr lhs, rhs;
};
struct Fold {
    ir::FoldOp op;
    Identifier counter;
    ExprPtr lo, hi, body;
};
struct Argument {
    std::optional<Identifier> name;
    ExprPtr value;
};
struct Call {
    Identifier callee;
    bool is_op;  // a dotted name: an op of the registry
    std::vector<Argument> arguments;
};
struct At {  // base@rank
    ExprPtr base, rank;
};
struct Slice {  // base[offset; extent]
    ExprPtr base, offset, extent;
};
struct Index {  // base[i, j]
    ExprPtr base;
    std::vector<ExprPtr> indices;
};

struct Expr {
    Span span;
    int depth = 1;  // of the tree below
    std::variant<Integer, Real, Name, Rank, Nranks, Lane, Nlanes, Unary, Binary, Fold, Call, At,
                 Slice, Index>
        node;
};

template <class Node>
const Node* as(const Expr& expr) {
    return std::get_if<Node>(&expr.node);
}

// ---------------------------------------------------------------------------- statements

struct Block {
    std::vector<StmtPtr> stmts;
    std::vector<ExprPtr> yields;
    Span end;  // of its yield, or its closing brace
};

struct Let {
    Identifier name;
    ExprPtr value;
};
struct Assign {
    ExprPtr target, value;
};
struct Notify {
    ExprPtr cell;
    NotifyOp op;
    ExprPtr value;
};
struct Wait {
    ExprPtr cell;
    Compare compare;
    ExprPtr value;
};
struct Put {
    ExprPtr target, value;
    bool adds = false;
};
struct Get {
    ExprPtr target, value;
};
struct Evaluate {
    ExprPtr call;
};
struct Range {
    ExprPtr lo, hi;
};
struct Carry {
    Identifier name;
    ExprPtr init;
};
// results, carried and yields belong to the explicit form: let x = for ... carry p = a { yield b }
struct For {
    std::vector<Identifier> results;
    Identifier counter;
    std::optional<Range> range;  // none: over the peers
    std::vector<Carry> carried;
    Block body;
};
struct If {
    std::vector<Identifier> results;
    ExprPtr condition;
    Block then_block;
    bool has_else = false;
    Block else_block;
};

struct Stmt {
    Span span;
    std::variant<Let, Assign, Notify, Wait, Put, Get, Evaluate, For, If> node;
};

template <class Node>
const Node* as(const Stmt& stmt) {
    return std::get_if<Node>(&stmt.node);
}

// ---------------------------------------------------------------------------- kernels

struct Param {
    Identifier name;
    Span span;
    Direction direction = Direction::unknown;
    bool window = false;
    bool index = false;  // an integer, or a table of integers
    Element element = Element::i64;
    std::vector<ExprPtr> shape;
};

struct Kernel {
    Identifier name;
    std::vector<Param> params;
    Block body;
    std::set<std::string> words;  // in its text: names and keywords
    bool broken = false;          // has errors already: what is left of it is not worth resolving
};

struct File {
    std::vector<Kernel> kernels;
};

}  // namespace peal::language::syntax
