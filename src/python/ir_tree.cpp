// SPDX-License-Identifier: Apache-2.0
// Programs taken apart, for front ends that go on with them: a node becomes a dict of its fields,
// with its class under "node".
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <pybind11/stl.h>

#include "peal/error.hpp"
#include "peal/ir.hpp"
#include "peal/lower.hpp"
#include "python/module.hpp"

namespace peal::python {
namespace {

py::object tree(const std::string& text) { return py::str(text); }
py::object tree(std::int64_t value) { return py::int_(value); }
py::object tree(double value) { return py::float_(value); }
py::object tree(ir::BinaryOp op) { return py::str(std::string(ir::name(op))); }
py::object tree(ir::UnaryOp op) { return py::str(std::string(ir::name(op))); }
py::object tree(ir::FoldOp op) { return py::int_(static_cast<int>(op)); }
py::object tree(ir::Type::Kind kind) { return py::int_(static_cast<int>(kind)); }
py::object tree(Element element) { return py::str(std::string(name(element))); }
py::object tree(Direction direction) { return py::str(std::string(name(direction))); }
py::object tree(const ir::Attribute& attribute) {
    return py::make_tuple(
        attribute.name, std::visit([](const auto& value) { return tree(value); }, attribute.value));
}
py::object tree(const ir::ExprPtr& node);
py::object tree(const ir::StmtPtr& node);
py::object tree(const ir::VarPtr& node);
template <class Node>
py::object tree(const Node& node) requires requires {
    Node::fields();
};

template <class Item>
py::object tree(const std::vector<Item>& items) {
    py::list list;
    for (const Item& item : items) list.append(tree(item));
    return list;
}

template <class Node>
py::object tree(const Node& node) requires requires {
    Node::fields();
}
{
    py::dict fields;
    std::apply(
        [&](const auto&... field) {
            ((fields[py::str(std::string(field.name))] = tree(node.*(field.member))), ...);
        },
        Node::fields());
    return fields;
}

template <class Node, class Base>
py::object named(const Base& node, const char* kind) {
    const py::object fields = tree(static_cast<const Node&>(node));
    fields["node"] = kind;
    return fields;
}

py::object tree(const ir::ExprPtr& node) {
    if (!node) return py::none();
    switch (node->kind) {
        case ir::ExprKind::int_const: return named<ir::IntConst>(*node, "int");
        case ir::ExprKind::float_const: return named<ir::FloatConst>(*node, "float");
        case ir::ExprKind::var: return named<ir::Var>(*node, "var");
        case ir::ExprKind::unary: return named<ir::Unary>(*node, "unary");
        case ir::ExprKind::binary: return named<ir::Binary>(*node, "binary");
        case ir::ExprKind::table_at: return named<ir::TableAt>(*node, "table_at");
        case ir::ExprKind::fold: return named<ir::Fold>(*node, "fold");
        case ir::ExprKind::call: return named<ir::Call>(*node, "call");
    }
    throw Error(Fault::usage, "there is no such expression");
}

py::object tree(const ir::StmtPtr& node) {
    switch (node->kind) {
        case ir::StmtKind::let: return named<ir::Let>(*node, "let");
        case ir::StmtKind::eval: return named<ir::Eval>(*node, "eval");
        case ir::StmtKind::for_loop: return named<ir::ForStmt>(*node, "for");
        case ir::StmtKind::if_else: return named<ir::IfStmt>(*node, "if");
        case ir::StmtKind::invoke: return named<ir::Invoke>(*node, "invoke");
    }
    throw Error(Fault::usage, "there is no such statement");
}

py::object tree(const ir::VarPtr& node) { return named<ir::Var>(*node, "var"); }

}  // namespace

void add_ir_tree(py::module_& module) {
    module.def(
        "lowered_tree", [](const ir::Program& program) { return tree(lower(program).kernels); },
        py::arg("program"),
        "The kernels of a program once collectives are written out: dicts of what nodes have.");
}

}  // namespace peal::python
