// SPDX-License-Identifier: Apache-2.0
#include "ir/registry.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/limits.hpp"

namespace peal::ir {
namespace {

using enum OperandKind;
using enum Effect;

// What the catalogue of recipes (src/collectives/) says of them, for those who know no recipes:
// their test compares the two.
//
// Recipes that use the target to stage what is private.
constexpr std::array<std::string_view, 6> kStaging = {"push",     "pull",  "stream",
                                                      "pipeline", "hosts", "leaders"};
// Those that ask which host each rank is on.
constexpr std::array<std::string_view, 2> kOfHosts = {"hosts", "leaders"};

template <std::size_t n>
bool is_among(const std::array<std::string_view, n>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void check_hosts(const Call& call) {
    const std::string& recipe = word(call, "recipe");
    const ExprPtr hosts = operand(call, "hosts");
    if (!is_among(kOfHosts, recipe)) {
        if (!hosts) return;
        throw Error(Fault::program,
                    fmt::format("{}: recipe {} does not ask for hosts; leave them out, or choose "
                                "recipe=hosts",
                                call.op, recipe));
    }
    if (!hosts || type_of(*hosts).shape.size() != 1) {
        throw Error(Fault::program,
                    fmt::format("{}: recipe {} needs hosts=, a table of one dimension: the host "
                                "of each rank, counted from 0",
                                call.op, recipe));
    }
}

// Recipes whose target is free later: calls may take several sets in turn.
constexpr std::array<std::string_view, 4> kOpen = {"push", "pull", "stream", "leaders"};

void require_sets(const Call& call) {
    const std::int64_t sets = ir::number(call, "sets");
    const std::string& recipe = word(call, "recipe");
    if (sets < 1 || sets > kMaxSets) {
        throw Error(Fault::program,
                    fmt::format("{}: sets must be 1..{}, found {}", call.op, kMaxSets, sets));
    }
    if (sets > 1 && !is_among(kOpen, recipe)) {
        throw Error(Fault::program, fmt::format("{}: recipe {} has one set; only {} take several "
                                                "in turn",
                                                call.op, recipe, fmt::join(kOpen, ", ")));
    }
}

// Target, input and output hold elements of one type.
Type collective_result(const Call& call) {
    const std::string& recipe = word(call, "recipe");
    const bool is_private = operand(call, "input") && operand(call, "output");
    check_hosts(call);
    require_sets(call);
    if (!is_private && is_among(kStaging, recipe)) {
        throw Error(Fault::program,
                    fmt::format("{}: recipe {} stages private memory; give input and output",
                                call.op, recipe));
    }
    const ExprPtr target = operand(call, "target");
    for (const std::string_view side : {"input", "output"}) {
        const ExprPtr memory = operand(call, side);
        if (!memory) continue;
        const Element found = type_of(*memory).element;
        const Element wanted = type_of(*target).element;
        if (found != wanted) {
            throw Error(Fault::program, fmt::format("{}: {} has elements of type {}, target has {}",
                                                    call.op, side, name(found), name(wanted)));
        }
    }
    return {};
}

Type pairs_result(const Call& call) {
    if (type_of(*operand(call, "counts")).shape.size() != 2) {
        throw Error(Fault::program, fmt::format("{}: counts must be a table of two dimensions: "
                                                "counts[from, to]",
                                                call.op));
    }
    const ExprPtr sent_at = operand(call, "sent_at");
    const ExprPtr received_at = operand(call, "received_at");
    const auto has_pairs = [](const ExprPtr& table) {
        return table && type_of(*table).shape.size() == 2;
    };
    if ((sent_at || received_at) && (!has_pairs(sent_at) || !has_pairs(received_at))) {
        throw Error(Fault::program,
                    fmt::format("{}: sent_at and received_at are given together, tables of two "
                                "dimensions: sent_at[from, to] and received_at[to, from]",
                                call.op));
    }
    const ExprPtr input = operand(call, "input");
    const ExprPtr output = operand(call, "output");
    if (!input || !output || equal(input, output)) {
        throw Error(Fault::program,
                    fmt::format("{}: there is no in-place form; give input and output", call.op));
    }
    return collective_result(call);
}

Type pieces_result(const Call& call) {
    if (type_of(*operand(call, "counts")).shape.size() != 1) {
        throw Error(
            Fault::program,
            fmt::format("{}: counts must be a table of one dimension: counts[rank]", call.op));
    }
    if (!operand(call, "input") || !operand(call, "output")) {
        throw Error(
            Fault::program,
            fmt::format("{}: there is no form on a window; give input and output", call.op));
    }
    return collective_result(call);
}

AttributeSpec reduction() { return {"op", {"sum", "prod", "max", "min"}, "sum"}; }

AttributeSpec recipe(std::vector<std::string_view> words) {
    words.insert(words.begin(), "auto");
    return {"recipe", std::move(words), "auto"};
}

AttributeSpec sets() { return {"sets", {}, std::int64_t{1}}; }

// Target and signal are read and written: peers read what this rank stages, and its result replaces
// it; every rank writes its peers' cells and reads its own. Whoever asks sees both as inout before
// the collective is lowered.
const OperandSpec kTarget{"target", window, read_write};
const OperandSpec kSignal{"signal", signal, read_write};
const OperandSpec kRoot{"root", index, none};
const OperandSpec kCounts{"counts", table, none};
const OperandSpec kInput{"input", memory, read, true};
const OperandSpec kSentAt{"sent_at", table, none, true};
const OperandSpec kReceivedAt{"received_at", table, none, true};
const OperandSpec kOutput{"output", memory, write, true};
const OperandSpec kHosts{"hosts", table, none, true};

OpSpec composite(std::string_view name, std::vector<OperandSpec> operands,
                 std::vector<AttributeSpec> attributes,
                 std::function<Type(const Call&)> deduce = collective_result) {
    if (operands.front().name == kTarget.name) attributes.push_back(sets());
    return {name, std::move(operands), std::move(attributes), std::move(deduce), true};
}

}  // namespace

std::vector<OpSpec> composite_ops() {
    return {
        composite(ops::kAllreduce, {kTarget, kSignal, kInput, kOutput, kHosts},
                  {reduction(), recipe({"mesh", "two_phase", "lanes", "ring", "bidirectional_ring",
                                        "halving_doubling", "direct", "pipeline", "push", "pull",
                                        "hosts", "leaders"})}),
        composite(ops::kReduceScatter, {kTarget, kSignal, kInput, kOutput, kHosts},
                  {reduction(), recipe({"mesh", "ring", "pipeline", "push", "hosts"})}),
        composite(ops::kAllgather, {kTarget, kSignal, kInput, kOutput, kHosts},
                  {recipe({"mesh", "ring", "pipeline", "push", "pull", "hosts"})}),
        composite(ops::kBroadcast, {kTarget, kSignal, kRoot, kInput, kOutput, kHosts},
                  {recipe({"mesh", "tree", "scatter_allgather", "joint", "pipeline", "push", "pull",
                           "stream", "hosts", "leaders"})}),
        composite(ops::kAllToAll, {kTarget, kSignal, kInput, kOutput, kHosts},
                  {recipe({"mesh", "pairwise", "lanes", "pipeline", "push", "hosts"})}),
        composite(ops::kAllToAllV,
                  {kTarget, kSignal, kCounts, kInput, kOutput, kSentAt, kReceivedAt, kHosts},
                  {recipe({"mesh", "pipeline", "push", "hosts"})}, pairs_result),
        composite(ops::kAllgatherV, {kTarget, kSignal, kCounts, kInput, kOutput, kHosts},
                  {recipe({"mesh", "ring", "pipeline", "push", "pull", "hosts"})}, pieces_result),
        composite(ops::kReduceScatterV, {kTarget, kSignal, kCounts, kInput, kOutput, kHosts},
                  {reduction(), recipe({"mesh", "ring", "pipeline", "push", "hosts"})},
                  pieces_result),
        composite(ops::kReduce, {kTarget, kSignal, kRoot, kInput, kOutput},
                  {reduction(), recipe({"mesh", "pipeline", "push"})}),
        composite(ops::kGather, {kTarget, kSignal, kRoot, kInput, kOutput},
                  {recipe({"mesh", "pipeline", "push"})}),
        composite(ops::kScatter, {kTarget, kSignal, kRoot, kInput, kOutput},
                  {recipe({"mesh", "pipeline", "push"})}),
        composite(ops::kScan, {kTarget, kSignal, kInput, kOutput},
                  {reduction(), recipe({"mesh", "pipeline", "push", "pull"})}),
        composite(ops::kExscan, {kTarget, kSignal, kInput, kOutput},
                  {reduction(), recipe({"mesh", "pipeline", "push", "pull"})}),
        composite(ops::kBarrier, {kSignal, kHosts}, {recipe({"mesh", "dissemination", "hosts"})},
                  [](const Call& call) {
                      check_hosts(call);
                      return Type{};
                  }),
    };
}

}  // namespace peal::ir
