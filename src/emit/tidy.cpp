// SPDX-License-Identifier: Apache-2.0
#include "emit/phases.hpp"

#include "emit/names.hpp"
#include "passes/rewrite.hpp"
#include "peal/ops.hpp"

namespace peal::emit {
namespace {

using namespace ir;  // NOLINT: rewrites the IR

bool is(const ExprPtr& expr, std::int64_t value) {
    const auto* constant = as<IntConst>(expr);
    return constant && constant->value == value;
}

// a * b / a is b; 0 * a is 0.
ExprPtr cancel(const ExprPtr& expr) {
    const auto* node = as<Binary>(expr);
    if (!node) return expr;
    if (node->op == BinaryOp::mul && (is(node->lhs, 0) || is(node->rhs, 0))) return integer(0);
    const auto* product = as<Binary>(node->lhs);
    if (node->op != BinaryOp::div || !product || product->op != BinaryOp::mul) return expr;
    if (equal(product->lhs, node->rhs)) return product->rhs;
    if (equal(product->rhs, node->rhs)) return product->lhs;
    return expr;
}

// put and get become a load and a store, done in their turn: that is one of the moments at which
// what is put later may be done.
std::optional<std::vector<StmtPtr>> copy_through_tile(const StmtPtr& stmt, NameCounter& names) {
    const auto* command = as<Eval>(stmt);
    const auto* call = command ? as<Call>(command->call) : nullptr;
    const bool is_put = call && (call->op == ops::kPut || call->op == ops::kPutLater);
    if (!call || (call->op != ops::kGet && !is_put)) return std::nullopt;
    LoweringBuilder b(names, stmt->span);
    const ExprPtr window = operand(*call, "window");
    const ExprPtr peer = operand(*call, "peer");
    const ExprPtr offset = operand(*call, "offset");
    const ExprPtr count = operand(*call, "count");
    if (is_put) {
        const ExprPtr tile = b.Load(operand(*call, "src"), operand(*call, "src_offset"), count);
        b.RemoteStore(tile, window, peer, offset);
    } else {
        const ExprPtr tile = b.RemoteLoad(window, peer, offset, count);
        b.Store(tile, operand(*call, "dst"), operand(*call, "dst_offset"));
    }
    return b.Take().stmts;
}

// What is loaded to be stored at once gets a name.
std::optional<std::vector<StmtPtr>> name_load(const StmtPtr& stmt, NameCounter& names) {
    const auto* command = as<Eval>(stmt);
    const auto* call = command ? as<Call>(command->call) : nullptr;
    if (!call || (call->op != ops::kTileStore && call->op != ops::kRemoteStore)) {
        return std::nullopt;
    }
    const ExprPtr tile = operand(*call, "tile");
    const auto* load = as<Call>(tile);
    if (!load || (load->op != ops::kTileLoad && load->op != ops::kRemoteLoad)) return std::nullopt;
    auto definition = std::make_shared<Let>();
    definition->span = stmt->span;
    definition->var = variable(names.Fresh("tile"), load->type, stmt->span);
    definition->value = tile;
    auto named = std::make_shared<Call>(*call);
    for (ExprPtr& each : named->operands) {
        if (each == tile) each = definition->var;
    }
    auto store = std::make_shared<Eval>(*command);
    store->call = named;
    return std::vector<StmtPtr>{definition, store};
}

}  // namespace

Kernel tidy(const Kernel& kernel) {
    Kernel result = passes::rewrite_exprs(kernel, cancel);
    NameCounter names = passes::names_of(result);
    result.body = passes::rewrite_block(
        result.body, [&](const StmtPtr& stmt) { return copy_through_tile(stmt, names); });
    result.body = passes::rewrite_block(
        result.body, [&](const StmtPtr& stmt) { return name_load(stmt, names); });
    result.body = share_loads(result.body, names);
    return name_repeated(result);
}

}  // namespace peal::emit
