// SPDX-License-Identifier: Apache-2.0
// print(): IR as text that parses back to equal IR.
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/fields.hpp"
#include "language/precedence.hpp"
#include "peal/ops.hpp"
#include "peal/program.hpp"

namespace peal {
namespace {

using language::Precedence;
using language::tighter;

constexpr std::size_t kMaxLine = 100;

std::string expr_text(const ir::ExprPtr& expr, Precedence loosest = Precedence::logical_or);

std::string list_text(const std::vector<ir::ExprPtr>& exprs) {
    std::vector<std::string> texts;
    for (const ir::ExprPtr& expr : exprs) texts.push_back(expr_text(expr));
    return fmt::format("{}", fmt::join(texts, ", "));
}

std::string double_text(double value) {
    if (std::isnan(value)) return std::signbit(value) ? "-nan" : "nan";
    std::string text = fmt::format("{}", value);
    const bool looks_integer = text.find_first_not_of("-0123456789") == std::string::npos;
    return looks_integer ? text + ".0" : text;
}

// An expression's text, and how tightly it holds together.
struct Piece {
    std::string text;
    Precedence precedence = Precedence::atom;
};

Piece piece(const ir::IntConst& node) {
    return {std::to_string(node.value), node.value < 0 ? Precedence::negate : Precedence::atom};
}

Piece piece(const ir::FloatConst& node) {
    return {double_text(node.value),
            std::signbit(node.value) ? Precedence::negate : Precedence::atom};
}

Piece piece(const ir::Var& node) { return {node.name}; }

// -5 is a number, so the operator before a number needs parentheses: -(5).
Piece piece(const ir::Unary& node) {
    switch (node.op) {
        case ir::UnaryOp::neg: {
            const bool literal =
                ir::as<ir::IntConst>(node.operand) || ir::as<ir::FloatConst>(node.operand);
            const std::string operand = expr_text(node.operand, Precedence::negate);
            const bool plain = !literal || operand.front() == '-';
            return {plain ? "-" + operand : fmt::format("-({})", operand), Precedence::negate};
        }
        case ir::UnaryOp::logical_not:
            return {"not " + expr_text(node.operand, Precedence::logical_not),
                    Precedence::logical_not};
        case ir::UnaryOp::log2: return {fmt::format("log2({})", expr_text(node.operand))};
    }
    return {};
}

Piece piece(const ir::Binary& node) {
    const Precedence precedence = language::precedence_of(node.op);
    if (precedence == Precedence::atom) {
        return {
            fmt::format("{}({}, {})", ir::name(node.op), expr_text(node.lhs), expr_text(node.rhs))};
    }
    const Precedence left = precedence == Precedence::compare ? tighter(precedence) : precedence;
    return {fmt::format("{} {} {}", expr_text(node.lhs, left), ir::name(node.op),
                        expr_text(node.rhs, tighter(precedence))),
            precedence};
}

Piece piece(const ir::TableAt& node) {
    return {fmt::format("{}[{}]", expr_text(node.table), list_text(node.indices))};
}

std::string range_text(const ir::ExprPtr& lo, const ir::ExprPtr& hi) {
    return fmt::format("{}..{}", expr_text(lo, Precedence::sum), expr_text(hi, Precedence::sum));
}

Piece piece(const ir::Fold& node) {
    return {fmt::format("{}({} in {}, {})", ir::name(node.op), node.var->name,
                        range_text(node.lo, node.hi), expr_text(node.body))};
}

std::string attribute_text(const ir::Attribute& attribute) {
    return std::visit(
        [&](const auto& value) { return fmt::format("{}={}", attribute.name, value); },
        attribute.value);
}

bool asks_own_context(const ir::Call& call) {
    if (call.operands.size() != 1) return false;
    const auto* context = ir::as<ir::Call>(call.operands.front());
    return context && context->op == ir::ops::kContext;
}

// Operands by position, optional ones and attributes by name.
Piece piece(const ir::Call& node) {
    if (node.op == ir::ops::kRank && asks_own_context(node)) return {"rank"};
    if (node.op == ir::ops::kNranks && asks_own_context(node)) return {"nranks"};
    if (node.op == ir::ops::kLane && asks_own_context(node)) return {"lane"};
    if (node.op == ir::ops::kNlanes && asks_own_context(node)) return {"nlanes"};
    const ir::OpSpec* spec = ir::find_op(node.op);
    std::vector<std::string> arguments;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
        if (!node.operands[i]) continue;
        std::string text = expr_text(node.operands[i]);
        const bool by_name = spec && i < spec->operands.size() && spec->operands[i].optional;
        arguments.push_back(by_name ? fmt::format("{}={}", spec->operands[i].name, text) : text);
    }
    for (std::size_t i = 0; i < node.attributes.size(); ++i) {
        // Words are always said, numbers where they are not the usual ones.
        const bool is_usual = spec && spec->attributes[i].words.empty() &&
                              spec->attributes[i].preset == node.attributes[i].value;
        if (!is_usual) arguments.push_back(attribute_text(node.attributes[i]));
    }
    return {fmt::format("{}({})", node.op, fmt::join(arguments, ", "))};
}

std::string expr_text(const ir::ExprPtr& expr, Precedence loosest) {
    Piece result = ir::dispatch(*expr, [](const auto& node) { return piece(node); });
    return result.precedence < loosest ? fmt::format("({})", result.text) : std::move(result.text);
}

std::string type_text(const ir::Type& type) {
    using Kind = ir::Type::Kind;
    const std::string shape = type.shape.empty() ? "" : fmt::format("[{}]", list_text(type.shape));
    switch (type.kind) {
        case Kind::none: return "none";
        case Kind::boolean: return "boolean";
        case Kind::context: return "context";
        case Kind::table: return "index" + shape;
        case Kind::scalar:
            return type.element == Element::i64 ? "index" : std::string(name(type.element));
        case Kind::tile: return fmt::format("tile {}{}", name(type.element), shape);
        case Kind::tensor: return fmt::format("{}{}", name(type.element), shape);
        case Kind::window: return fmt::format("window {}{}", name(type.element), shape);
    }
    return {};
}

std::string param_text(const ir::Param& param) {
    const std::string direction =
        param.direction == Direction::unknown ? "" : fmt::format("{} ", name(param.direction));
    return fmt::format("{}: {}{}", param.var->name, direction, type_text(param.var->type));
}

class Printer {
public:
    void add(const ir::Kernel& kernel) {
        text_ += header(kernel);
        braces(kernel.body);
        text_ += '\n';
    }

    std::string take() { return std::move(text_); }

private:
    // On one line if it fits, else one parameter below the other.
    static std::string header(const ir::Kernel& kernel) {
        std::vector<std::string> params;
        for (const ir::Param& param : kernel.params) params.push_back(param_text(param));
        const std::string start = fmt::format("kernel {}(", kernel.name);
        const std::string flat = fmt::format("{}{}) ", start, fmt::join(params, ", "));
        if (flat.size() < kMaxLine) return flat;
        const std::string separator = fmt::format(",\n{:{}}", "", start.size());
        return fmt::format("{}{}) ", start, fmt::join(params, separator));
    }

    void line(std::string_view text) {
        indent();
        text_ += text;
        text_ += '\n';
    }

    void indent() { text_.append(static_cast<std::size_t>(depth_) * 4, ' '); }

    void braces(const ir::Block& block) {
        text_ += "{\n";
        ++depth_;
        for (const ir::StmtPtr& stmt : block.stmts) {
            ir::dispatch(*stmt, [&](const auto& node) { add(node); });
        }
        if (!block.yields.empty()) line("yield " + list_text(block.yields));
        --depth_;
        indent();
        text_ += '}';
    }

    void add(const ir::Let& stmt) {
        line(fmt::format("let {} = {}", stmt.var->name, expr_text(stmt.value)));
    }

    void add(const ir::Eval& stmt) { line(expr_text(stmt.call)); }

    void add(const ir::Invoke& stmt) {
        line(fmt::format("{}({})", stmt.kernel, list_text(stmt.arguments)));
    }

    void add(const ir::ForStmt& stmt) {
        std::vector<ir::VarPtr> results;
        std::vector<std::string> carried;
        for (const ir::Carried& carry : stmt.carried) {
            results.push_back(carry.result);
            carried.push_back(fmt::format("{} = {}", carry.inner->name, expr_text(carry.init)));
        }
        indent();
        let(results);
        text_ += fmt::format("for {} in {} ", stmt.var->name, range_text(stmt.lo, stmt.hi));
        if (!carried.empty()) text_ += fmt::format("carry {} ", fmt::join(carried, ", "));
        braces(stmt.body);
        text_ += '\n';
    }

    void add(const ir::IfStmt& stmt) {
        indent();
        condition(stmt);
        text_ += '\n';
    }

    void condition(const ir::IfStmt& stmt) {
        let(stmt.results);
        text_ += fmt::format("if {} ", expr_text(stmt.condition));
        braces(stmt.then_block);
        const ir::Block& other = stmt.else_block;
        if (other.stmts.empty() && other.yields.empty()) return;
        text_ += " else ";
        const ir::IfStmt* only =
            other.stmts.size() == 1 ? ir::as<ir::IfStmt>(other.stmts.front()) : nullptr;
        if (only && only->results.empty() && other.yields.empty()) {
            condition(*only);
        } else {
            braces(other);
        }
    }

    // let x = | let (x, y) = | nothing
    void let(const std::vector<ir::VarPtr>& results) {
        if (results.empty()) return;
        std::vector<std::string_view> names;
        for (const ir::VarPtr& result : results) names.push_back(result->name);
        text_ += names.size() == 1 ? fmt::format("let {} = ", names.front())
                                   : fmt::format("let ({}) = ", fmt::join(names, ", "));
    }

    std::string text_;
    int depth_ = 0;
};

}  // namespace

std::string print(const ir::Program& program) {
    std::string text;
    for (const ir::Kernel& kernel : program.kernels) {
        if (!text.empty()) text += '\n';
        text += print(kernel);
    }
    return text;
}

std::string print(const ir::Kernel& kernel) {
    Printer printer;
    printer.add(kernel);
    return printer.take();
}

std::string print(const ir::ExprPtr& expr) { return expr_text(expr); }
std::string print(const ir::Type& type) { return type_text(type); }

}  // namespace peal
