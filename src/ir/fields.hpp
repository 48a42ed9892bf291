// SPDX-License-Identifier: Apache-2.0
// Everything that can be derived from a node's list of fields: walking, rewriting, and (in
// structure.cpp) equality, hashing and dumping.
#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "peal/ir.hpp"

namespace peal::ir {

template <class T>
concept HasFields = requires {
    T::fields();
};

template <class T>
inline constexpr bool kIsNodePtr = false;
template <class T>
inline constexpr bool kIsNodePtr<std::shared_ptr<const T>> = true;

template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

// Calls visitor(name, value) for each field of a node or part.
template <HasFields T, class Visitor>
void for_each_field(const T& node, Visitor&& visitor) {
    std::apply([&](const auto&... field) { (visitor(field.name, node.*field.member), ...); },
               T::fields());
}

// Calls visitor with the node as what it really is.
template <class Visitor>
decltype(auto) dispatch(const Expr& expr, Visitor&& visitor) {
    switch (expr.kind) {
        case ExprKind::int_const: return visitor(static_cast<const IntConst&>(expr));
        case ExprKind::float_const: return visitor(static_cast<const FloatConst&>(expr));
        case ExprKind::var: return visitor(static_cast<const Var&>(expr));
        case ExprKind::unary: return visitor(static_cast<const Unary&>(expr));
        case ExprKind::binary: return visitor(static_cast<const Binary&>(expr));
        case ExprKind::table_at: return visitor(static_cast<const TableAt&>(expr));
        case ExprKind::fold: return visitor(static_cast<const Fold&>(expr));
        case ExprKind::call: return visitor(static_cast<const Call&>(expr));
    }
    std::abort();
}

template <class Visitor>
decltype(auto) dispatch(const Stmt& stmt, Visitor&& visitor) {
    switch (stmt.kind) {
        case StmtKind::let: return visitor(static_cast<const Let&>(stmt));
        case StmtKind::eval: return visitor(static_cast<const Eval&>(stmt));
        case StmtKind::for_loop: return visitor(static_cast<const ForStmt&>(stmt));
        case StmtKind::if_else: return visitor(static_cast<const IfStmt&>(stmt));
        case StmtKind::invoke: return visitor(static_cast<const Invoke&>(stmt));
    }
    std::abort();
}

// A node whose kind the pointer already says.
template <HasFields Node, class Visitor>
decltype(auto) dispatch(const Node& node, Visitor&& visitor) {
    return visitor(node);
}

// It has no operands.
inline bool is_leaf(const Expr& expr) {
    return expr.kind == ExprKind::int_const || expr.kind == ExprKind::float_const ||
           expr.kind == ExprKind::var;
}

// Whether a walk goes into the types of variables and calls, where the expressions of shapes are.
enum class Types : std::uint8_t { skip, enter };

// Calls visitor for each node directly below a value: a node, a part such as
// Block, or a vector of those. It does not go deeper; visitors that want to call it again.
template <Types kTypes = Types::enter, class T, class Visitor>
void for_each_child(const T& value, Visitor&& visitor) {
    if constexpr (kIsNodePtr<T>) {
        if (value) visitor(value);
    } else if constexpr (kIsVector<T>) {
        for (const auto& item : value) for_each_child<kTypes>(item, visitor);
    } else if constexpr (std::is_same_v<T, Expr> || std::is_same_v<T, Stmt>) {
        dispatch(value, [&](const auto& node) { for_each_child<kTypes>(node, visitor); });
    } else if constexpr (kTypes == Types::skip && std::is_same_v<T, Type>) {
        return;
    } else if constexpr (HasFields<T>) {
        for_each_field(value, [&](std::string_view, const auto& member) {
            for_each_child<kTypes>(member, visitor);
        });
    }
}

// Every expression below a value, parents before children.
template <Types kTypes = Types::enter, class T, class Visitor>
void walk_exprs(const T& value, const Visitor& visitor) {
    for_each_child<kTypes>(value, [&](const auto& child) {
        using Child = decltype(child);
        if constexpr (std::is_convertible_v<Child, ExprPtr>) {
            visitor(static_cast<const ExprPtr&>(child));
        }
        walk_exprs<kTypes>(*child, visitor);
    });
}

// Every statement below a value, parents before children.
template <class T, class Visitor>
void walk_stmts(const T& value, const Visitor& visitor) {
    for_each_child<Types::skip>(value, [&](const auto& child) {
        if constexpr (std::is_convertible_v<decltype(child), StmtPtr>) {
            visitor(static_cast<const StmtPtr&>(child));
            walk_stmts(*child, visitor);
        }
    });
}

// A copy of `value` in which each direct child c is rewrite(c). Rewriters overload on ExprPtr,
// VarPtr and StmtPtr.
template <class T, class Rewrite>
T map_children(const T& value, Rewrite&& rewrite) {
    if constexpr (kIsNodePtr<T>) {
        return value ? T(rewrite(value)) : value;
    } else if constexpr (kIsVector<T>) {
        T result;
        result.reserve(value.size());
        for (const auto& item : value) result.push_back(map_children(item, rewrite));
        return result;
    } else if constexpr (HasFields<T>) {
        T result = value;
        std::apply(
            [&](const auto&... field) {
                ((result.*field.member = map_children(value.*field.member, rewrite)), ...);
            },
            T::fields());
        return result;
    } else {
        return value;
    }
}

// The same, for a node behind a pointer; the node itself when none of its children changes. Most do
// not: a copy is begun at the first that does.
template <class Base, class Rewrite>
std::shared_ptr<const Base> map_node(const std::shared_ptr<const Base>& node, Rewrite&& rewrite) {
    return dispatch(*node, [&](const auto& concrete) -> std::shared_ptr<const Base> {
        using Node = std::remove_cvref_t<decltype(concrete)>;
        std::size_t same = 0;  // children before the first that changes
        std::shared_ptr<const void> first;
        for_each_child(concrete, [&](const auto& child) {
            if (first) return;
            auto result = rewrite(child);
            if (result == child) {
                ++same;
            } else {
                first = std::move(result);
            }
        });
        if (!first) return node;
        std::size_t next = 0;
        return std::make_shared<const Node>(map_children(concrete, [&](const auto& child) {
            using Child = std::remove_cvref_t<decltype(child)>;
            const std::size_t index = next++;
            if (index < same) return child;
            if (index > same) return Child(rewrite(child));
            return std::static_pointer_cast<typename Child::element_type>(first);
        }));
    });
}

}  // namespace peal::ir
