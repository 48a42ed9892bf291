// SPDX-License-Identifier: Apache-2.0
// The op registry: every op, its operands, what it reads and writes, its attributes and the type it
// yields. "What does this op write?" is answered here and nowhere else; parameter directions, the
// verifier, lowering, specialising and printing all ask the registry.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "peal/ir.hpp"

namespace peal::ir {

// What an op does to the memory behind an operand. There is no default: an op that does not say
// cannot be registered.
enum class Effect : std::uint8_t { none = 1, read, write, read_write };

enum class OperandKind : std::uint8_t {
    index,    // an integer expression
    number,   // an integer or floating scalar
    tile,     //
    memory,   // a tensor or a data window
    window,   // a data window
    signal,   // a window of signal cells: i32 or i64
    table,    // a table of integers
    context,  //
};

struct OperandSpec {
    OperandSpec(std::string_view name_, OperandKind kind_, Effect effect_, bool optional_ = false)
        : name(name_), kind(kind_), effect(effect_), optional(optional_) {}
    std::string_view name;
    OperandKind kind;
    Effect effect;
    bool optional;  // optional operands come last and are printed as name=value
};

// An attribute takes one of `words`. An empty list means any integer >= 0.
struct AttributeSpec {
    std::string_view name;
    std::vector<std::string_view> words;
    std::optional<AttributeValue> preset;  // the value when it is not given; none: it is required
};

struct OpSpec {
    std::string_view name;
    std::vector<OperandSpec> operands;
    std::vector<AttributeSpec> attributes;
    // The type of the result, from checked operands. Throws Error(program) with a reason when the
    // operands do not go together.
    std::function<Type(const Call&)> deduce;
    bool composite = false;  // a collective: expanded by LowerCompositeOps

    int operand_index(std::string_view operand) const;  // -1: there is none of that name
};

const OpSpec* find_op(std::string_view name);
const std::vector<OpSpec>& all_ops();

// Checks the operands and attributes against the registry, fills in presets, deduces the type.
// Throws Error(program) with what was found and what was expected.
CallPtr make_call(std::string_view op, std::vector<ExprPtr> operands,
                  std::vector<Attribute> attributes = {}, Span span = {});

const std::string& word(const Call& call, std::string_view attribute);
std::int64_t number(const Call& call, std::string_view attribute);
ExprPtr operand(const Call& call, std::string_view name);  // null when absent

// ---------------------------------------------------------------------------- the ops, by name

namespace ops {
// Private memory and own window to tiles and back. Offsets and counts are in elements of the
// flattened buffer.
inline constexpr std::string_view kTensorCopy =
    "tensor.copy";  // (dst, dst_offset, src, src_offset, count)
inline constexpr std::string_view kTileLoad = "tile.load";    // (memory, offset, count) -> tile
inline constexpr std::string_view kTileStore = "tile.store";  // (tile, memory, offset)
inline constexpr std::string_view kTileSlice = "tile.slice";  // (tile, offset, count) -> tile
inline constexpr std::string_view kTileFull = "tile.full";    // (number, count) element= -> tile
inline constexpr std::string_view kTileAdd = "tile.add";      // (tile, tile) -> tile
inline constexpr std::string_view kTileMul = "tile.mul";
inline constexpr std::string_view kTileMax = "tile.max";
inline constexpr std::string_view kTileMin = "tile.min";
inline constexpr std::string_view kTileAddScalar = "tile.adds";  // (tile, number) -> tile
inline constexpr std::string_view kTileMulScalar = "tile.muls";

// Peers' windows.
inline constexpr std::string_view kRemoteLoad =
    "pld.tile.remote_load";  // (window, peer, offset, count) -> tile
inline constexpr std::string_view kRemoteStore =
    "pld.tile.remote_store";  // (tile, window, peer, offset)
inline constexpr std::string_view kPut =
    "pld.tensor.put";  // (window, peer, offset, src, src_offset, count)
// The same, complete at the next fence of this rank, or at the end of the call: until then the
// source must stay as it is, and nobody may touch the destination.
inline constexpr std::string_view kPutLater =
    "pld.tensor.put_later";  // (window, peer, offset, src, src_offset, count)
// As put, added elementwise and atomically to what is there: several ranks may do so at once.
inline constexpr std::string_view kRemoteAdd =
    "pld.tile.remote_add";  // (tile, window, peer, offset)
inline constexpr std::string_view kPutAdd =
    "pld.tensor.put_add";  // (window, peer, offset, src, src_offset, count)
inline constexpr std::string_view kGet =
    "pld.tensor.get";  // (dst, dst_offset, window, peer, offset, count)

// Signals. notify writes cell `cell` of rank `peer`; wait reads the own one.
inline constexpr std::string_view kNotify =
    "pld.system.notify";  // (signal, peer, cell, value) op=set|add
inline constexpr std::string_view kWait = "pld.system.wait";  // (signal, cell, value) cmp=ge|eq|...
inline constexpr std::string_view kGeneration =
    "pld.system.generation";  // (signal) -> index: its generation
inline constexpr std::string_view kAdvance =
    "pld.system.advance";  // (signal, by): generation += by
// Goes on when all that this rank has put later is complete.
inline constexpr std::string_view kFence = "pld.system.fence";  // ()

// A condition on sizes and ranks, checked when the plan is made.
inline constexpr std::string_view kRequire = "pld.system.require";  // (left, right) cmp=eq|ge|...

// The domain.
inline constexpr std::string_view kContext = "pld.system.get_comm_ctx";
inline constexpr std::string_view kRank = "pld.system.rank";
inline constexpr std::string_view kNranks = "pld.system.nranks";
inline constexpr std::string_view kLane = "pld.system.lane";
inline constexpr std::string_view kNlanes = "pld.system.nlanes";

// Collectives. Operands (target, signal[, input][, output]): in place on the target window, or from
// `input` to `output` with the target as scratch. barrier has only the signal; all_to_all_v has
// (target, signal, counts, input, output), and so have allgather_v and reduce_scatter_v. broadcast,
// reduce, gather and scatter take the root as an operand after the signal.
inline constexpr std::string_view kAllreduce = "pld.tensor.allreduce";              // op= recipe=
inline constexpr std::string_view kReduceScatter = "pld.tensor.reduce_scatter";     // op= recipe=
inline constexpr std::string_view kAllgather = "pld.tensor.allgather";              // recipe=
inline constexpr std::string_view kBroadcast = "pld.tensor.broadcast";              // recipe=
inline constexpr std::string_view kAllToAll = "pld.tensor.all_to_all";              // recipe=
inline constexpr std::string_view kAllToAllV = "pld.tensor.all_to_all_v";           // recipe=
inline constexpr std::string_view kAllgatherV = "pld.tensor.allgather_v";           // recipe=
inline constexpr std::string_view kReduceScatterV = "pld.tensor.reduce_scatter_v";  // op= recipe=
inline constexpr std::string_view kReduce = "pld.tensor.reduce";                    // op= recipe=
inline constexpr std::string_view kGather = "pld.tensor.gather";                    // recipe=
inline constexpr std::string_view kScatter = "pld.tensor.scatter";                  // recipe=
inline constexpr std::string_view kScan = "pld.tensor.scan";                        // op= recipe=
inline constexpr std::string_view kExscan = "pld.tensor.exscan";                    // op= recipe=
inline constexpr std::string_view kBarrier = "pld.system.barrier";                  // recipe=
}  // namespace ops

}  // namespace peal::ir
