// SPDX-License-Identifier: Apache-2.0
// Statements that move data and ring signals.
#include <string>
#include <utility>

#include <fmt/format.h>

#include "language/names.hpp"
#include "language/statements.hpp"
#include "peal/program.hpp"

namespace peal::language {
namespace {

namespace ops = ir::ops;

ir::Attribute word_attribute(std::string name, std::string_view word) {
    return {std::move(name), std::string(word)};
}

}  // namespace

void Statements::assign_memory(const syntax::Assign& stmt, const Span& span) {
    const auto* call = syntax::as<syntax::Call>(*stmt.value);
    if (call && !call->is_op && collective_named(call->callee.text)) {
        return assign_collective(*stmt.target, *call, span);
    }
    const Place target = exprs_.place(*stmt.target);
    if (!target.peer && exprs_.is_memory(*stmt.value)) {
        const Place source = exprs_.place(*stmt.value);
        if (!source.peer) {
            require_equal(target.count(), source.count(), span);
            return emit_call(exprs_.make(ops::kTensorCopy,
                                         {target.memory, target.offset, source.memory,
                                          source.offset, source.count()},
                                         {}, span),
                             span);
        }
    }
    const ir::ExprPtr tile = exprs_.tile(*stmt.value);
    require_equal(target.count(), ir::type_of(*tile).shape.front(), span);
    emit_call(target.peer
                  ? exprs_.make(ops::kRemoteStore,
                                {tile, target.memory, target.peer, target.offset}, {}, span)
                  : exprs_.make(ops::kTileStore, {tile, target.memory, target.offset}, {}, span),
              span);
}

// The op that moves the data has one count. Sizes that cannot be compared here are compared when
// the plan is made.
void Statements::require_equal(const ir::ExprPtr& target, const ir::ExprPtr& value,
                               const Span& span) {
    if (ir::equal(target, value)) return;
    if (ir::as<ir::IntConst>(target) && ir::as<ir::IntConst>(value)) {
        report_.fail(
            span, fmt::format("{} elements do not fit a place of {}", print(value), print(target)));
    }
    emit_call(exprs_.make(ops::kRequire, {target, value},
                          {word_attribute("cmp", name(Compare::eq))}, span),
              span);
}

Place Statements::signal_cell(const syntax::Expr& expr) {
    Place cell = exprs_.place(expr);
    if (!cell.shape.empty()) {
        report_.fail(expr.span, fmt::format("expected one cell of '{}'", cell.memory->name),
                     fmt::format("as in {}[rank]", cell.memory->name));
    }
    return cell;
}

void Statements::resolve(const syntax::Notify& stmt, const Span& span) {
    const Place cell = signal_cell(*stmt.cell);
    const ir::ExprPtr peer = cell.peer ? cell.peer : ir::rank(span);
    emit_call(
        exprs_.make(ops::kNotify, {cell.memory, peer, cell.offset, exprs_.integer(*stmt.value)},
                    {word_attribute("op", name(stmt.op))}, span),
        span);
}

void Statements::resolve(const syntax::Wait& stmt, const Span& span) {
    const Place cell = signal_cell(*stmt.cell);
    if (cell.peer) {
        report_.fail(stmt.cell->span, "a rank waits on its own cells only",
                     "leave out '@'; the peer notifies the cell here");
    }
    emit_call(exprs_.make(ops::kWait, {cell.memory, cell.offset, exprs_.integer(*stmt.value)},
                          {word_attribute("cmp", name(stmt.compare))}, span),
              span);
}

void Statements::resolve(const syntax::Put& stmt, const Span& span) {
    const Place target = exprs_.place(*stmt.target);
    const Place source = exprs_.place(*stmt.value);
    if (!target.peer || source.peer) {
        report_.fail(span, "put copies own memory to a peer's window",
                     "as in put data@peer[0; k] = src[0; k]");
    }
    require_equal(target.count(), source.count(), span);
    emit_call(exprs_.make(stmt.adds ? ops::kPutAdd : ops::kPut,
                          {target.memory, target.peer, target.offset, source.memory, source.offset,
                           source.count()},
                          {}, span),
              span);
}

void Statements::resolve(const syntax::Get& stmt, const Span& span) {
    const Place target = exprs_.place(*stmt.target);
    const Place source = exprs_.place(*stmt.value);
    if (target.peer || !source.peer) {
        report_.fail(span, "get copies a peer's window to own memory",
                     "as in get dst[0; k] = data@peer[0; k]");
    }
    require_equal(target.count(), source.count(), span);
    emit_call(exprs_.make(ops::kGet,
                          {target.memory, target.offset, source.memory, source.peer, source.offset,
                           source.count()},
                          {}, span),
              span);
}

}  // namespace peal::language
