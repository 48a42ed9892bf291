// SPDX-License-Identifier: Apache-2.0
// Nodes of the IR, for front ends that are written in Python: each function makes one node and
// checks what the node's maker checks. `program` verifies the whole.
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "peal/builder.hpp"
#include "peal/error.hpp"
#include "peal/ir.hpp"
#include "peal/ops.hpp"
#include "python/module.hpp"

namespace peal::python {
namespace {

// Nodes are shared and immutable; Python holds them by these handles.
struct Expression {
    ir::ExprPtr node;
};
struct Statement {
    ir::StmtPtr node;
};

using At = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // line, column, length
const At kNowhere{0, 0, 0};

Span span_of(const At& at) { return {std::get<0>(at), std::get<1>(at), std::get<2>(at)}; }

template <class Word>
Word word_of(const std::string& text, const std::vector<std::pair<std::string_view, Word>>& words,
             std::string_view what) {
    for (const auto& [name, word] : words) {
        if (name == text) return word;
    }
    throw Error(Fault::usage, fmt::format("there is no {} '{}'", what, text));
}

ir::BinaryOp binary_op(const std::string& text) {
    std::vector<std::pair<std::string_view, ir::BinaryOp>> words;
    for (int op = 0; op <= static_cast<int>(ir::BinaryOp::logical_or); ++op) {
        words.emplace_back(ir::name(static_cast<ir::BinaryOp>(op)), static_cast<ir::BinaryOp>(op));
    }
    return word_of(text, words, "operator");
}

ir::UnaryOp unary_op(const std::string& text) {
    std::vector<std::pair<std::string_view, ir::UnaryOp>> words;
    for (const auto op : {ir::UnaryOp::neg, ir::UnaryOp::logical_not, ir::UnaryOp::log2}) {
        words.emplace_back(ir::name(op), op);
    }
    return word_of(text, words, "operator");
}

Element element_named(const std::string& text) {
    if (const auto element = element_from(text)) return *element;
    throw Error(Fault::usage, fmt::format("there is no element type '{}'", text));
}

ir::VarPtr var_of(const Expression& expression) {
    if (ir::as<ir::Var>(expression.node) == nullptr) {
        throw Error(Fault::usage, "expected a variable");
    }
    return std::static_pointer_cast<const ir::Var>(expression.node);
}

std::vector<ir::ExprPtr> nodes_of(const std::vector<Expression>& list) {
    std::vector<ir::ExprPtr> nodes;
    nodes.reserve(list.size());
    for (const Expression& one : list) nodes.push_back(one.node);
    return nodes;
}

ir::Block block_of(const std::vector<Statement>& statements,
                   const std::vector<Expression>& yields) {
    ir::Block block;
    block.stmts.reserve(statements.size());
    for (const Statement& one : statements) block.stmts.push_back(one.node);
    block.yields = nodes_of(yields);
    return block;
}

ir::Type memory_type(const std::string& kind, const std::string& element,
                     const std::vector<Expression>& shape) {
    using Kind = ir::Type::Kind;
    const Kind which = word_of<Kind>(
        kind, {{"tensor", Kind::tensor}, {"window", Kind::window}, {"table", Kind::table}}, "kind");
    return {which, element_named(element), nodes_of(shape)};
}

Expression call(const std::string& op, const std::vector<std::optional<Expression>>& operands,
                const std::vector<std::pair<std::string, ir::AttributeValue>>& attributes, At at) {
    std::vector<ir::ExprPtr> nodes;
    nodes.reserve(operands.size());
    for (const auto& one : operands) nodes.push_back(one ? one->node : nullptr);
    std::vector<ir::Attribute> list;
    list.reserve(attributes.size());
    for (const auto& [name, value] : attributes) list.push_back({name, value});
    return {ir::make_call(op, std::move(nodes), std::move(list), span_of(at))};
}

using CarriedTuple = std::tuple<Expression, Expression, Expression>;  // inner, init, result

Statement for_loop(const Expression& var, const Expression& lo, const Expression& hi,
                   const std::vector<CarriedTuple>& carried, const std::vector<Statement>& body,
                   const std::vector<Expression>& yields, At at) {
    std::vector<ir::Carried> values;
    values.reserve(carried.size());
    for (const auto& [inner, init, result] : carried) {
        values.push_back({var_of(inner), init.node, var_of(result)});
    }
    return {ir::for_loop(var_of(var), lo.node, hi.node, std::move(values), block_of(body, yields),
                         span_of(at))};
}

Statement if_else(const Expression& condition, const std::vector<Expression>& results,
                  const std::vector<Statement>& then_body,
                  const std::vector<Expression>& then_yields,
                  const std::vector<Statement>& else_body,
                  const std::vector<Expression>& else_yields, At at) {
    std::vector<ir::VarPtr> vars;
    vars.reserve(results.size());
    for (const Expression& one : results) vars.push_back(var_of(one));
    return {ir::if_else(condition.node, std::move(vars), block_of(then_body, then_yields),
                        block_of(else_body, else_yields), span_of(at))};
}

using ParamTuple = std::pair<Expression, std::string>;  // variable, direction

ir::Program program(const std::string& kernel, const std::vector<ParamTuple>& params,
                    const std::vector<Statement>& body, At at, const std::string& source_name,
                    const std::string& source_text) {
    ir::Program made;
    made.source = std::make_shared<const Source>(source_name, source_text);
    ir::Kernel one;
    one.name = kernel;
    one.span = span_of(at);
    for (const auto& [var, direction] : params) {
        const auto way = word_of<Direction>(direction,
                                            {{"", Direction::unknown},
                                             {"in", Direction::in},
                                             {"out", Direction::out},
                                             {"inout", Direction::inout}},
                                            "direction");
        one.params.push_back({var_of(var), way});
    }
    one.body = block_of(body, {});
    made.kernels.push_back(std::move(one));
    return ir::verified(std::move(made));
}

}  // namespace

void add_ir(py::module_& module) {
    py::module_ ir = module.def_submodule("ir", "Nodes of the IR, for front ends.");
    py::class_<Expression>(ir, "Expression", "A value: immutable, shared.");
    py::class_<Statement>(ir, "Statement", "What a block is made of.");
    py::class_<ir::Type>(ir, "Type", "The type of an expression.");

    ir.def(
        "integer",
        [](std::int64_t value, At at) { return Expression{ir::integer(value, span_of(at))}; },
        py::arg("value"), py::arg("at") = kNowhere);
    ir.def(
        "floating",
        [](double value, At at) { return Expression{ir::floating(value, span_of(at))}; },
        py::arg("value"), py::arg("at") = kNowhere);
    ir.def(
        "variable",
        [](const std::string& name, const ir::Type& type, At at) {
            return Expression{ir::variable(name, type, span_of(at))};
        },
        py::arg("name"), py::arg("type"), py::arg("at") = kNowhere);
    ir.def(
        "unary",
        [](const std::string& op, const Expression& operand, At at) {
            return Expression{ir::unary(unary_op(op), operand.node, span_of(at))};
        },
        py::arg("op"), py::arg("operand"), py::arg("at") = kNowhere);
    ir.def(
        "binary",
        [](const std::string& op, const Expression& a, const Expression& b, At at) {
            return Expression{ir::binary(binary_op(op), a.node, b.node, span_of(at))};
        },
        py::arg("op"), py::arg("a"), py::arg("b"), py::arg("at") = kNowhere);
    ir.def(
        "table_at",
        [](const Expression& table, const std::vector<Expression>& indices, At at) {
            return Expression{ir::table_at(table.node, nodes_of(indices), span_of(at))};
        },
        py::arg("table"), py::arg("indices"), py::arg("at") = kNowhere);
    ir.def(
        "rank", [](At at) { return Expression{ir::rank(span_of(at))}; }, py::arg("at") = kNowhere);
    ir.def("call", &call, py::arg("op"), py::arg("operands"),
           py::arg("attributes") = std::vector<std::pair<std::string, ir::AttributeValue>>{},
           py::arg("at") = kNowhere);

    ir.def("index_type", [] { return ir::index_type(); });
    ir.def("memory_type", &memory_type, py::arg("kind"), py::arg("element"), py::arg("shape"));
    ir.def("type_of", [](const Expression& expression) { return ir::type_of(*expression.node); });

    ir.def(
        "let",
        [](const Expression& var, const Expression& value, At at) {
            return Statement{ir::let(var_of(var), value.node, span_of(at))};
        },
        py::arg("var"), py::arg("value"), py::arg("at") = kNowhere);
    ir.def(
        "eval",
        [](const Expression& call, At at) { return Statement{ir::eval(call.node, span_of(at))}; },
        py::arg("call"), py::arg("at") = kNowhere);
    ir.def("for_loop", &for_loop, py::arg("var"), py::arg("lo"), py::arg("hi"), py::arg("carried"),
           py::arg("body"), py::arg("yields"), py::arg("at") = kNowhere);
    ir.def("if_else", &if_else, py::arg("condition"), py::arg("results"), py::arg("then_body"),
           py::arg("then_yields"), py::arg("else_body"), py::arg("else_yields"),
           py::arg("at") = kNowhere);
    ir.def("program", &program, py::arg("kernel"), py::arg("params"), py::arg("body"),
           py::arg("at"), py::arg("source_name"), py::arg("source_text"),
           "A program of one kernel, verified: raises ProgramError with every error, each at its\n"
           "place in the source.");
}

}  // namespace peal::python
