// SPDX-License-Identifier: Apache-2.0
// Expressions with @ and brackets: parts of memory, tables and tiles.
#include <utility>

#include <fmt/format.h>

#include "ir/describe.hpp"
#include "language/expressions.hpp"

namespace peal::language {
namespace {

const syntax::Expr* base_of(const syntax::Expr& expr) {
    if (const auto* at = syntax::as<syntax::At>(expr)) return at->base.get();
    if (const auto* slice = syntax::as<syntax::Slice>(expr)) return slice->base.get();
    if (const auto* index = syntax::as<syntax::Index>(expr)) return index->base.get();
    return nullptr;
}

}  // namespace

const syntax::Name* root_name(const syntax::Expr& expr) {
    const syntax::Expr* root = &expr;
    while (const syntax::Expr* base = base_of(*root)) root = base;
    return syntax::as<syntax::Name>(*root);
}

bool Expressions::is_memory(const syntax::Expr& expr) {
    const syntax::Name* root = root_name(expr);
    const Entity* found = root ? scope_.find(root->text) : nullptr;
    return found && found->kind == Entity::Kind::memory;
}

bool Expressions::is_table(const syntax::Expr& expr) {
    const syntax::Name* root = root_name(expr);
    const Entity* found = root ? scope_.find(root->text) : nullptr;
    return found && found->kind == Entity::Kind::table;
}

ir::VarPtr Expressions::whole_parameter(const syntax::Expr& expr) {
    const auto* name = syntax::as<syntax::Name>(expr);
    if (!name || !(is_memory(expr) || is_table(expr))) return nullptr;
    const ir::VarPtr& var = scope_.find(name->text)->var;
    return ir::variable(var->name, var->type, expr.span);
}

Place Expressions::place(const syntax::Expr& expr) {
    if (!is_memory(expr)) {
        fail_found(expr.span, "a tensor or window parameter, or a part of one", value(expr));
    }
    Place result;
    extend(result, expr);
    result.span = expr.span;
    return result;
}

// What `expr` adds to the place of its base.
void Expressions::extend(Place& place, const syntax::Expr& expr) {
    if (const syntax::Expr* base = base_of(expr)) extend(place, *base);
    const auto require_dimension = [&] {
        if (!place.shape.empty()) return;
        report_.fail(expr.span, fmt::format("'{}' has {} dimension{}; this is one too many",
                                            place.memory->name, place.memory->type.shape.size(),
                                            place.memory->type.shape.size() == 1 ? "" : "s"));
    };
    if (const auto* at = syntax::as<syntax::At>(expr)) {
        if (place.peer) report_.fail(expr.span, "more than one '@'", "one rank owns a place");
        if (place.memory->type.kind != ir::Type::Kind::window) {
            report_.fail(expr.span,
                         fmt::format("'{}' is {}: peers cannot reach it", place.memory->name,
                                     ir::describe(place.memory->type)),
                         "only a window has a copy on every rank");
        }
        place.peer = integer(*at->rank);
    } else if (const auto* slice = syntax::as<syntax::Slice>(expr)) {
        require_dimension();
        const ir::ExprPtr offset = integer(*slice->offset);
        place.slice(offset, integer(*slice->extent));
    } else if (const auto* index = syntax::as<syntax::Index>(expr)) {
        for (const syntax::ExprPtr& position : index->indices) {
            require_dimension();
            place.index(integer(*position));
        }
    } else {
        place.memory = whole_parameter(expr);
        place.offset = ir::integer(0, expr.span);
        place.shape = place.memory->type.shape;
    }
}

ir::ExprPtr Expressions::load(const Place& place) {
    if (place.peer) {
        return make(ir::ops::kRemoteLoad, {place.memory, place.peer, place.offset, place.count()},
                    {}, place.span);
    }
    return make(ir::ops::kTileLoad, {place.memory, place.offset, place.count()}, {}, place.span);
}

// counts[i, j] and counts[i][j]
ir::ExprPtr Expressions::table_element(const syntax::Expr& expr) {
    const ir::VarPtr table = scope_.find(root_name(expr)->text)->var;
    std::vector<const syntax::Index*> chain;
    const syntax::Expr* part = &expr;
    for (; base_of(*part); part = base_of(*part)) {
        const auto* index = syntax::as<syntax::Index>(*part);
        if (!index) {
            report_.fail(part->span, fmt::format("'{}' is a table: only its elements can be used",
                                                 table->name));
        }
        chain.push_back(index);
    }
    std::vector<ir::ExprPtr> indices;
    for (auto index = chain.rbegin(); index != chain.rend(); ++index) {
        for (const syntax::ExprPtr& position : (*index)->indices) {
            indices.push_back(integer(*position));
        }
    }
    const std::size_t dimensions = table->type.shape.size();
    if (indices.size() != dimensions) {
        report_.fail(expr.span, fmt::format("'{}' is a table of {} dimension{}, found {} ind{}",
                                            table->name, dimensions, dimensions == 1 ? "" : "s",
                                            indices.size(), indices.size() == 1 ? "ex" : "ices"));
    }
    return ir::table_at(ir::variable(table->name, table->type, part->span), std::move(indices),
                        expr.span);
}

ir::ExprPtr Expressions::resolve(const syntax::At& node, const Span& span) {
    const ir::ExprPtr base = value(*node.base);
    report_.fail(span,
                 fmt::format("'@' needs a window, found {}", ir::describe(ir::type_of(*base))),
                 "only a window has a copy on every rank");
}

ir::ExprPtr Expressions::resolve(const syntax::Slice& node, const Span& span) {
    const ir::ExprPtr offset = integer(*node.offset);
    return tile_part(*node.base, offset, integer(*node.extent), span);
}

ir::ExprPtr Expressions::resolve(const syntax::Index& node, const Span& span) {
    if (node.indices.size() != 1) report_.fail(span, "a tile has one dimension");
    return tile_part(*node.base, integer(*node.indices.front()), ir::integer(1, span), span);
}

ir::ExprPtr Expressions::tile_part(const syntax::Expr& base, const ir::ExprPtr& offset,
                                   const ir::ExprPtr& count, const Span& span) {
    ir::ExprPtr whole = value(base);
    if (ir::type_of(*whole).kind != ir::Type::Kind::tile) {
        report_.fail(span, fmt::format("brackets need memory, a tile or a table, found {}",
                                       ir::describe(ir::type_of(*whole))));
    }
    return make(ir::ops::kTileSlice, {std::move(whole), offset, count}, {}, span);
}

}  // namespace peal::language
