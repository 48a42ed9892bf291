// SPDX-License-Identifier: Apache-2.0
// Making nodes, and what can be asked of them.
#include <algorithm>
#include <array>
#include <set>

#include "ir/fields.hpp"
#include "peal/ops.hpp"

namespace peal::ir {
namespace {

template <class Node>
std::shared_ptr<const Node> make(Node node, Span span) {
    node.span = span;
    return std::make_shared<const Node>(std::move(node));
}

ExprPtr of_domain(std::string_view op, Span span) {
    return make_call(op, {make_call(ops::kContext, {}, {}, span)}, {}, span);
}

constexpr std::array<std::string_view, 18> kBinaryNames = {
    "+",   "-",  "*",  "/", "%",  "min", "max", "<<",  ">>",
    "xor", "==", "!=", "<", "<=", ">",   ">=",  "and", "or"};
constexpr std::array<std::string_view, 3> kUnaryNames = {"-", "not", "log2"};
constexpr std::array<std::string_view, 2> kFoldNames = {"sum", "max"};

}  // namespace

Type index_type() { return {Type::Kind::scalar, Element::i64, {}}; }
Type boolean_type() { return {Type::Kind::boolean, Element::u8, {}}; }
Type tile_type(Element element, ExprPtr count) {
    return {Type::Kind::tile, element, {std::move(count)}};
}

ExprPtr integer(std::int64_t value, Span span) {
    IntConst node;
    node.value = value;
    return make(std::move(node), span);
}

ExprPtr floating(double value, Span span) {
    FloatConst node;
    node.value = value;
    return make(std::move(node), span);
}

VarPtr variable(std::string name, Type type, Span span) {
    Var node;
    node.name = std::move(name);
    node.type = std::move(type);
    return make(std::move(node), span);
}

ExprPtr unary(UnaryOp op, ExprPtr operand, Span span) {
    Unary node;
    node.op = op;
    node.operand = std::move(operand);
    return make(std::move(node), span);
}

ExprPtr binary(BinaryOp op, ExprPtr lhs, ExprPtr rhs, Span span) {
    Binary node;
    node.op = op;
    node.lhs = std::move(lhs);
    node.rhs = std::move(rhs);
    return make(std::move(node), span);
}

ExprPtr table_at(ExprPtr table, std::vector<ExprPtr> indices, Span span) {
    TableAt node;
    node.table = std::move(table);
    node.indices = std::move(indices);
    return make(std::move(node), span);
}

ExprPtr fold(FoldOp op, VarPtr var, ExprPtr lo, ExprPtr hi, ExprPtr body, Span span) {
    Fold node;
    node.op = op;
    node.var = std::move(var);
    node.lo = std::move(lo);
    node.hi = std::move(hi);
    node.body = std::move(body);
    return make(std::move(node), span);
}

ExprPtr rank(Span span) {
    static const ExprPtr from_nowhere = of_domain(ops::kRank, {});
    return span.line == 0 ? from_nowhere : of_domain(ops::kRank, span);
}
ExprPtr nranks(Span span) {
    static const ExprPtr from_nowhere = of_domain(ops::kNranks, {});
    return span.line == 0 ? from_nowhere : of_domain(ops::kNranks, span);
}

ExprPtr lane(Span span) { return of_domain(ops::kLane, span); }
ExprPtr nlanes(Span span) { return of_domain(ops::kNlanes, span); }

StmtPtr let(VarPtr var, ExprPtr value, Span span) {
    Let node;
    node.var = std::move(var);
    node.value = std::move(value);
    return make(std::move(node), span);
}

StmtPtr eval(ExprPtr call, Span span) {
    Eval node;
    node.call = std::move(call);
    return make(std::move(node), span);
}

StmtPtr for_loop(VarPtr var, ExprPtr lo, ExprPtr hi, std::vector<Carried> carried, Block body,
                 Span span) {
    ForStmt node;
    node.var = std::move(var);
    node.lo = std::move(lo);
    node.hi = std::move(hi);
    node.carried = std::move(carried);
    node.body = std::move(body);
    return make(std::move(node), span);
}

StmtPtr if_else(ExprPtr condition, std::vector<VarPtr> results, Block then_block, Block else_block,
                Span span) {
    IfStmt node;
    node.condition = std::move(condition);
    node.results = std::move(results);
    node.then_block = std::move(then_block);
    node.else_block = std::move(else_block);
    return make(std::move(node), span);
}

StmtPtr invoke(std::string kernel, std::vector<ExprPtr> arguments, Span span) {
    Invoke node;
    node.kernel = std::move(kernel);
    node.arguments = std::move(arguments);
    return make(std::move(node), span);
}

const Param* Kernel::find(std::string_view param) const {
    const auto it = std::find_if(params.begin(), params.end(),
                                 [&](const Param& p) { return p.var->name == param; });
    return it == params.end() ? nullptr : &*it;
}

const Kernel* Program::find(std::string_view kernel) const {
    const auto it = std::find_if(kernels.begin(), kernels.end(),
                                 [&](const Kernel& k) { return k.name == kernel; });
    return it == kernels.end() ? nullptr : &*it;
}

const Type& type_of(const Expr& expr) {
    static const Type boolean = boolean_type();
    static const Type index = index_type();
    static const Type floating{Type::Kind::scalar, Element::f64, {}};
    switch (expr.kind) {
        case ExprKind::float_const: return floating;
        case ExprKind::var: return static_cast<const Var&>(expr).type;
        case ExprKind::call: return static_cast<const Call&>(expr).type;
        case ExprKind::unary:
            return static_cast<const Unary&>(expr).op == UnaryOp::logical_not ? boolean : index;
        case ExprKind::binary:
            return static_cast<const Binary&>(expr).op >= BinaryOp::eq ? boolean : index;
        default: return index;
    }
}

std::vector<VarPtr> symbols_of(const Kernel& kernel) {
    std::vector<VarPtr> symbols;
    std::set<std::string_view> seen;
    std::set<std::string_view> bound;  // variables of sum(...) and max(...)
    for (const Param& param : kernel.params) seen.insert(param.var->name);
    for (const Param& param : kernel.params) {
        walk_exprs(param.var->type, [&](const ExprPtr& expr) {
            if (const auto* fold = as<Fold>(expr)) bound.insert(fold->var->name);
            const auto* var = as<Var>(expr);
            if (!var || bound.contains(var->name) || !seen.insert(var->name).second) return;
            symbols.push_back(std::static_pointer_cast<const Var>(expr));
        });
    }
    return symbols;
}

std::string_view name(BinaryOp op) { return kBinaryNames[static_cast<std::size_t>(op)]; }
std::string_view name(UnaryOp op) { return kUnaryNames[static_cast<std::size_t>(op)]; }
std::string_view name(FoldOp op) { return kFoldNames[static_cast<std::size_t>(op)]; }

}  // namespace peal::ir
