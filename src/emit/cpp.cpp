// SPDX-License-Identifier: Apache-2.0
#include "emit/cpp.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "peal/ops.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: reads the IR

// How tightly C++ operators bind.
enum Binding : int {
    kOr,
    kAnd,
    kEquality,
    kRelation,
    kShift,
    kSum,
    kProduct,
    kUnary,
    kAtom,
};

struct Operator {
    Binding binding;
    std::string_view text;
};

Operator operator_of(BinaryOp op) {
    switch (op) {
        case BinaryOp::add: return {kSum, "+"};
        case BinaryOp::sub: return {kSum, "-"};
        case BinaryOp::mul: return {kProduct, "*"};
        case BinaryOp::div: return {kProduct, "/"};
        case BinaryOp::mod: return {kProduct, "%"};
        case BinaryOp::shl: return {kShift, "<<"};
        case BinaryOp::shr: return {kShift, ">>"};
        case BinaryOp::eq: return {kEquality, "=="};
        case BinaryOp::ne: return {kEquality, "!="};
        case BinaryOp::lt: return {kRelation, "<"};
        case BinaryOp::le: return {kRelation, "<="};
        case BinaryOp::gt: return {kRelation, ">"};
        case BinaryOp::ge: return {kRelation, ">="};
        case BinaryOp::logical_and: return {kAnd, "&&"};
        case BinaryOp::logical_or: return {kOr, "||"};
        case BinaryOp::bit_xor:
        case BinaryOp::min:
        case BinaryOp::max: break;
    }
    return {kAtom, ""};
}

// Words of C++ that are no words of .peal, and names of the kernel's frame.
constexpr std::string_view kReserved[] = {
    "alignas",   "alignof",    "and",      "asm",      "auto",     "bool",         "break",
    "case",      "catch",      "char",     "class",    "concept",  "const",        "constexpr",
    "continue",  "default",    "delete",   "do",       "double",   "dynamic_cast", "else",
    "enum",      "explicit",   "export",   "extern",   "float",    "for",          "friend",
    "goto",      "half",       "if",       "inline",   "int",      "long",         "mutable",
    "namespace", "new",        "noexcept", "not",      "nullptr",  "operator",     "or",
    "private",   "protected",  "public",   "register", "requires", "return",       "short",
    "signed",    "sizeof",     "static",   "struct",   "switch",   "template",     "this",
    "throw",     "true",       "false",    "try",      "typedef",  "typename",     "union",
    "unsigned",  "using",      "virtual",  "void",     "volatile", "while",        "xor",
    "args",      "pto",        "Cell",     "Count",    "Event",    "First",        "FloorDiv",
    "FloorMod",  "LineBehind", "Log2",     "Max",      "Min",      "NotifyOp",     "Remote",
    "Row",       "RowOf",      "Signal",   "TileAt",   "WaitCmp",  "kChunk",       "kSlotBytes",
};

}  // namespace

std::string_view cpp_type(Element element) {
    switch (element) {
        case Element::f16: return "half";
        case Element::bf16: return "bfloat16_t";
        case Element::f32: return "float";
        case Element::i8: return "int8_t";
        case Element::i16: return "int16_t";
        case Element::i32: return "int32_t";
        case Element::u8: return "uint8_t";
        default: return "";
    }
}

// ---------------------------------------------------------------------------- names

std::string CppText::fresh(const std::string& hint) {
    const bool reserved =
        std::find(std::begin(kReserved), std::end(kReserved), hint) != std::end(kReserved);
    std::string name = reserved ? hint + "_" : hint;
    for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", hint, i);
    if (!blocks_.empty()) blocks_.back().push_back(name);
    return name;
}

void CppText::close_block() {
    for (const std::string& name : blocks_.back()) taken_.erase(name);
    blocks_.pop_back();
}

// peer_2 is peer where there is no other peer.
std::string CppText::declare(const std::string& variable) {
    const std::size_t last = variable.find_last_not_of("0123456789");
    const bool numbered = last != std::string::npos && last > 0 && last + 1 < variable.size() &&
                          variable[last] == '_';
    return names_[variable] = fresh(numbered ? variable.substr(0, last) : variable);
}

std::string CppText::name(const std::string& variable) {
    const auto it = names_.find(variable);
    return it != names_.end() ? it->second : declare(variable);
}

std::string CppText::generation(const std::string& signal) const { return generations_.at(signal); }

// ---------------------------------------------------------------------------- expressions

std::string CppText::text(const ExprPtr& expr, int loosest) {
    Piece result = piece(expr);
    return result.binding < loosest ? fmt::format("({})", result.text) : std::move(result.text);
}

std::string CppText::expr(const ExprPtr& expr) { return text(expr, kOr); }
std::string CppText::factor(const ExprPtr& expr) { return text(expr, kUnary); }
std::string CppText::term_of_sum(const ExprPtr& expr) { return text(expr, kSum); }
std::string CppText::comparand(const ExprPtr& expr) { return text(expr, kShift); }

std::string CppText::number(const ExprPtr& expr, Element element) {
    const auto* constant = as<FloatConst>(expr);
    const std::string plain = constant ? fmt::format("{}", constant->value) : this->expr(expr);
    if (!is_float(element)) return plain;
    const bool whole = constant && plain.find_first_of(".en") == std::string::npos;
    const std::string floating = constant ? plain + (whole ? ".0f" : "f") : plain;
    if (constant && !std::isfinite(constant->value)) {
        const std::string_view limit = std::isnan(constant->value) ? "quiet_NaN" : "infinity";
        return fmt::format("{}std::numeric_limits<float>::{}()", constant->value < 0 ? "-" : "",
                           limit);
    }
    if (element == Element::f32) return floating;
    return fmt::format("{}({})", cpp_type(element), floating);
}

CppText::Piece CppText::piece(const ExprPtr& expr) {
    switch (expr->kind) {
        case ExprKind::int_const: {
            const std::int64_t value = as<IntConst>(expr)->value;
            return {std::to_string(value), value < 0 ? kUnary : kAtom};
        }
        case ExprKind::float_const: return {fmt::format("{}", as<FloatConst>(expr)->value), kUnary};
        case ExprKind::var: return {name(as<Var>(expr)->name), kAtom};
        case ExprKind::unary: return of_unary(*as<Unary>(expr));
        case ExprKind::binary: return of_binary(*as<Binary>(expr));
        case ExprKind::fold: return of_fold(*as<Fold>(expr));
        case ExprKind::call: return of_call(*as<Call>(expr));
        case ExprKind::table_at: break;
    }
    trouble_.fail(expr->span, "tables of integers cannot be passed to a kernel of the device",
                  "use scalars, or compute the numbers from rank and nranks");
}

CppText::Piece CppText::of_unary(const Unary& node) {
    if (node.op == UnaryOp::log2) {
        return {fmt::format("Log2({})", expr(node.operand)), kAtom};
    }
    const std::string_view sign = node.op == UnaryOp::neg ? "-" : "!";
    return {fmt::format("{}{}", sign, text(node.operand, kAtom)), kUnary};
}

CppText::Piece CppText::called(std::string_view function, const Binary& node) {
    return {fmt::format("{}({}, {})", function, expr(node.lhs), expr(node.rhs)), kAtom};
}

// / and % round towards minus infinity in a program, towards zero in C++.
CppText::Piece CppText::of_binary(const Binary& node) {
    if (node.op == BinaryOp::min) return called("Min", node);
    if (node.op == BinaryOp::max) return called("Max", node);
    if (node.op == BinaryOp::bit_xor) {  // in C++ it binds looser than comparisons
        return {fmt::format("({} ^ {})", text(node.lhs, kSum), text(node.rhs, kSum)), kAtom};
    }
    const bool divides = node.op == BinaryOp::div || node.op == BinaryOp::mod;
    if (divides && !(facts_->not_negative(node.lhs) && facts_->not_negative(node.rhs))) {
        return node.op == BinaryOp::div ? called("FloorDiv", node) : called("FloorMod", node);
    }
    const Operator how = operator_of(node.op);
    const bool compares = how.binding == kEquality || how.binding == kRelation;
    std::string left = text(node.lhs, compares ? kShift : how.binding);
    if (node.op == BinaryOp::shl && as<IntConst>(node.lhs)) {
        left = fmt::format("int64_t{{{}}}", left);
    }
    const bool regroups = node.op == BinaryOp::add;  // a + (b + c) is a + b + c
    return {fmt::format("{} {} {}", left, how.text,
                        text(node.rhs, regroups ? how.binding : how.binding + 1)),
            how.binding};
}

CppText::Piece CppText::of_fold(const Fold& node) {
    const std::string counter = declare(node.var->name);
    const std::string total = fresh(node.op == FoldOp::sum ? "sum" : "most");
    const std::string term = expr(node.body);
    std::string step = fmt::format("{} += {}", total, term);
    if (node.op == FoldOp::max) {
        step = fmt::format("{0} = {1} == {2} ? {3} : Max({0}, {3})", total, counter, expr(node.lo),
                           term);
    }
    return {fmt::format("[&] {{ int64_t {0} = 0; for (int64_t {1} = {2}; {1} < {3}; ++{1}) {4}; "
                        "return {0}; }}()",
                        total, counter, expr(node.lo), text(node.hi, kShift), step),
            kAtom};
}

CppText::Piece CppText::of_call(const Call& node) {
    if (node.op == ops::kRank) return {name("rank"), kAtom};
    if (node.op == ops::kNranks) return {name("nranks"), kAtom};
    if (node.op == ops::kGeneration) {
        return {generation(as<Var>(operand(node, "signal"))->name), kAtom};
    }
    trouble_.fail(node.span,
                  fmt::format("{}: not an integer that the device can compute", node.op));
}

}  // namespace peal::emit
