// SPDX-License-Identifier: Apache-2.0
// Each primitive op and the instruction it becomes. An op on no elements becomes nothing.
#include <unordered_map>

#include <fmt/format.h>

#include "peal/program.hpp"
#include "plan/access.hpp"
#include "plan/limits.hpp"
#include "plan/specialiser.hpp"

namespace peal {

KernelValue Specialiser::call(const ir::Call& call) {
    // Index arithmetic asks for these far more often than for all other ops together.
    if (call.op == ir::ops::kRank) return AffineInteger{plan_.rank, 0, 0};
    if (call.op == ir::ops::kNranks) return AffineInteger{plan_.nranks, 0, 0};
    const Handler handler = handler_of(call.op);
    if (!handler) {
        fail(call.span, fmt::format("'{}' is not a primitive op", call.op),
             "lower the program first");
    }
    return (this->*handler)(call);
}

Specialiser::Handler Specialiser::handler_of(std::string_view op) {
    namespace ops = ir::ops;
    using S = Specialiser;
    static const std::unordered_map<std::string_view, Handler> kHandlers = {
        {ops::kTileLoad, &S::load},
        {ops::kTileStore, &S::store},
        {ops::kTileSlice, &S::slice},
        {ops::kTileFull, &S::full},
        {ops::kTileAdd, &S::combine<ReduceOp::sum>},
        {ops::kTileMul, &S::combine<ReduceOp::prod>},
        {ops::kTileMax, &S::combine<ReduceOp::max>},
        {ops::kTileMin, &S::combine<ReduceOp::min>},
        {ops::kTileAddScalar, &S::with_scalar<MapOp::add_scalar>},
        {ops::kTileMulScalar, &S::with_scalar<MapOp::mul_scalar>},
        {ops::kRemoteLoad, &S::remote_load},
        {ops::kRemoteStore, &S::remote_store},
        {ops::kPut, &S::put},
        {ops::kGet, &S::get},
        {ops::kNotify, &S::notify},
        {ops::kWait, &S::wait},
        {ops::kEpoch, &S::epoch},
        {ops::kAdvance, &S::advance},
        {ops::kRequire, &S::require},
    };
    const auto it = kHandlers.find(op);
    return it == kHandlers.end() ? nullptr : it->second;
}

// ---------------------------------------------------------------------------- operands

std::int32_t Specialiser::peer(const ir::Call& call, const ir::Expr& operand) {
    const std::int64_t rank = integer(operand);
    if (rank < 0 || rank >= plan_.nranks) {
        fail(call.span, fmt::format("{}: there is no rank {}, expected 0..{}", call.op, rank,
                                    plan_.nranks - 1));
    }
    return static_cast<std::int32_t>(rank);
}

std::uint64_t Specialiser::natural(const ir::Call& call, const ir::Expr& operand,
                                   std::string_view what) {
    const std::int64_t value = integer(operand);
    if (value < 0) fail(call.span, fmt::format("{}: the {} is negative: {}", call.op, what, value));
    return static_cast<std::uint64_t>(value);
}

double Specialiser::scalar(const ir::Call& call, const ir::Expr& operand, Element element) {
    const KernelValue value = evaluate(operand);
    const auto* floating = std::get_if<double>(&value);
    const double number = floating ? *floating : exact(call, plain(value, operand));
    if (!fits(number, element)) {
        fail(call.span, fmt::format("{}: {} is not a value of {}", call.op, number, name(element)));
    }
    return number;
}

// The scalars of instructions are doubles.
double Specialiser::exact(const ir::Call& call, std::int64_t integer) const {
    const auto number = static_cast<double>(integer);
    if (!fits(number, Element::i64) || static_cast<std::int64_t>(number) != integer) {
        fail(call.span, fmt::format("{}: the scalar {} has more than 53 bits", call.op, integer));
    }
    return number;
}

Range Specialiser::elements(const ir::Call& call, std::uint16_t buffer, std::int32_t rank,
                            std::uint64_t offset, std::uint64_t count) {
    const Buffer& memory = plan_.buffers[buffer];
    if (memory.kind == BufferKind::signal) {
        fail(call.span, fmt::format("{}: '{}' holds signals, not data", call.op, memory.name));
    }
    const std::uint64_t size = bytes_of(memory.element);
    const std::uint64_t total = memory.bytes / size;
    if (offset > total || count > total - offset) {
        fail(call.span, fmt::format("{}: elements {}..{} leave '{}', which has {}", call.op, offset,
                                    offset + count, memory.name, total));
    }
    return {buffer, rank, offset * size, count * size};
}

Cell Specialiser::cell(const ir::Call& call, std::int32_t rank, const ir::Expr& index) {
    const std::uint16_t signal = buffer(*call.operands[0]);
    const std::int64_t number = integer(index);
    const std::uint64_t cells = plan_.buffers[signal].cells;
    if (number < 0 || static_cast<std::uint64_t>(number) >= cells) {
        fail(call.span, fmt::format("{}: there is no cell {} in '{}', which has {}", call.op,
                                    number, plan_.buffers[signal].name, cells));
    }
    return {signal, rank, static_cast<std::uint64_t>(number)};
}

Value Specialiser::signal_value(const ir::Call& call, const ir::Expr& operand,
                                std::uint16_t signal) {
    const AffineInteger value = affine(operand);
    const Buffer& cells = plan_.buffers[signal];
    if (!value.is_plain() && value.signal != signal) {
        fail(call.span, fmt::format("{}: a value relative to epoch({}) is given to '{}'", call.op,
                                    signal_name(value.signal), cells.name));
    }
    for (const std::int64_t part : {value.constant, value.per_generation}) {
        if (!fits(part, cells.element)) {
            fail(call.span, fmt::format("{}: {} is not a value of '{}', whose cells are {}",
                                        call.op, part, cells.name, name(cells.element)));
        }
    }
    return {value.constant, value.per_generation};
}

// ---------------------------------------------------------------------------- tiles

Range Specialiser::range_of(const TileValue& tile) const {
    return {kTile, plan_.rank, tile.offset, tile.bytes};
}

// Tile memory is virtual here: every tile gets bytes of its own. place_tiles makes it small.
TileValue Specialiser::new_tile(const ir::Call& call, Element element, std::uint64_t count) {
    constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;
    const std::uint64_t size = bytes_of(element);
    if (count > kMaxBytes / size || plan_.tile_bytes > kMaxBytes - count * size) {
        fail(call.span, fmt::format("{}: a tile of {} elements is too large", call.op, count));
    }
    const TileValue tile{element, plan_.tile_bytes, count * size};
    const std::uint64_t end = plan_.tile_bytes + tile.bytes;
    plan_.tile_bytes = (end + kCacheLineBytes - 1) / kCacheLineBytes * kCacheLineBytes;
    return tile;
}

TileValue Specialiser::load_from(const ir::Call& call, const Range& source) {
    const Element element = plan_.buffers[source.buffer].element;
    const TileValue tile = new_tile(call, element, source.length / bytes_of(element));
    emit_copy(call, range_of(tile), source);
    return tile;
}

// ---------------------------------------------------------------------------- emitting

void Specialiser::emit(const ir::Call& call, Action action) {
    if (plan_.instructions.size() >= options_.max_instructions) {
        fail(call.span,
             fmt::format("the plan has more than {} instructions", options_.max_instructions));
    }
    const Span span = call.span.line != 0 ? call.span : statement();
    plan_.instructions.push_back({std::move(action), Pipe::none, span.line});
}

void Specialiser::emit_copy(const ir::Call& call, const Range& dst, const Range& src) {
    if (dst.length == 0) return;
    if (overlaps(dst, src)) {
        fail(call.span, fmt::format("{}: source and destination overlap in '{}'", call.op,
                                    plan_.buffers[dst.buffer].name));
    }
    emit(call, Copy{dst, src});
}

// ---------------------------------------------------------------------------- the ops

KernelValue Specialiser::load(const ir::Call& call) {  // (memory, offset, count)
    const auto& in = call.operands;
    const std::uint64_t offset = natural(call, *in[1], "offset");
    const std::uint64_t count = natural(call, *in[2], "count");
    return load_from(call, elements(call, buffer(*in[0]), plan_.rank, offset, count));
}

KernelValue Specialiser::remote_load(const ir::Call& call) {  // (window, peer, offset, count)
    const auto& in = call.operands;
    const std::int32_t rank = peer(call, *in[1]);
    const std::uint64_t offset = natural(call, *in[2], "offset");
    const std::uint64_t count = natural(call, *in[3], "count");
    return load_from(call, elements(call, buffer(*in[0]), rank, offset, count));
}

KernelValue Specialiser::store(const ir::Call& call) {  // (tile, memory, offset)
    const auto& in = call.operands;
    const TileValue value = tile(*in[0]);
    const std::uint64_t offset = natural(call, *in[2], "offset");
    emit_copy(call, elements(call, buffer(*in[1]), plan_.rank, offset, value.count()),
              range_of(value));
    return {};
}

KernelValue Specialiser::remote_store(const ir::Call& call) {  // (tile, window, peer, offset)
    const auto& in = call.operands;
    const TileValue value = tile(*in[0]);
    const std::int32_t rank = peer(call, *in[2]);
    const std::uint64_t offset = natural(call, *in[3], "offset");
    emit_copy(call, elements(call, buffer(*in[1]), rank, offset, value.count()), range_of(value));
    return {};
}

KernelValue Specialiser::put(const ir::Call& call) {
    const auto& in = call.operands;  // (window, peer, offset, src, src_offset, count)
    const std::uint64_t count = natural(call, *in[5], "count");
    const Range dst =
        elements(call, buffer(*in[0]), peer(call, *in[1]), natural(call, *in[2], "offset"), count);
    const Range src =
        elements(call, buffer(*in[3]), plan_.rank, natural(call, *in[4], "source offset"), count);
    emit_copy(call, dst, src);
    return {};
}

KernelValue Specialiser::get(const ir::Call& call) {
    const auto& in = call.operands;  // (dst, dst_offset, window, peer, offset, count)
    const std::uint64_t count = natural(call, *in[5], "count");
    const Range dst = elements(call, buffer(*in[0]), plan_.rank,
                               natural(call, *in[1], "destination offset"), count);
    const Range src =
        elements(call, buffer(*in[2]), peer(call, *in[3]), natural(call, *in[4], "offset"), count);
    emit_copy(call, dst, src);
    return {};
}

KernelValue Specialiser::slice(const ir::Call& call) {  // (tile, offset, count)
    const auto& in = call.operands;
    const TileValue whole = tile(*in[0]);
    const std::uint64_t offset = natural(call, *in[1], "offset");
    const std::uint64_t count = natural(call, *in[2], "count");
    if (offset > whole.count() || count > whole.count() - offset) {
        fail(call.span, fmt::format("{}: elements {}..{} leave a tile of {}", call.op, offset,
                                    offset + count, whole.count()));
    }
    const std::uint64_t size = bytes_of(whole.element);
    return TileValue{whole.element, whole.offset + offset * size, count * size};
}

template <ReduceOp kOp>
KernelValue Specialiser::combine(const ir::Call& call) {  // (tile, tile)
    const TileValue a = tile(*call.operands[0]);
    const TileValue b = tile(*call.operands[1]);
    if (a.element != b.element || a.bytes != b.bytes) {
        fail(call.span,
             fmt::format("{}: a tile of {} {} does not combine with one of {} {}", call.op,
                         a.count(), name(a.element), b.count(), name(b.element)));
    }
    const TileValue result = new_tile(call, a.element, a.count());
    if (result.bytes != 0) {
        emit(call, Reduce{kOp, a.element, range_of(result), {range_of(a), range_of(b)}});
    }
    return result;
}

template <MapOp kOp>
KernelValue Specialiser::with_scalar(const ir::Call& call) {  // (tile, number)
    const TileValue source = tile(*call.operands[0]);
    const double number = scalar(call, *call.operands[1], source.element);
    const TileValue result = new_tile(call, source.element, source.count());
    if (result.bytes != 0) {
        emit(call, Map{kOp, source.element, number, range_of(result), range_of(source)});
    }
    return result;
}

KernelValue Specialiser::full(const ir::Call& call) {  // (number, count) element=
    const Element element = call.type.element;
    const double number = scalar(call, *call.operands[0], element);
    const TileValue result = new_tile(call, element, natural(call, *call.operands[1], "count"));
    if (result.bytes != 0) emit(call, Map{MapOp::fill, element, number, range_of(result), {}});
    return result;
}

KernelValue Specialiser::notify(const ir::Call& call) {  // (signal, peer, cell, value) op=
    const auto& in = call.operands;
    const Cell target = cell(call, peer(call, *in[1]), *in[2]);
    const NotifyOp op = ir::word(call, "op") == name(NotifyOp::set) ? NotifyOp::set : NotifyOp::add;
    emit(call, Notify{op, target, signal_value(call, *in[3], target.buffer)});
    return {};
}

KernelValue Specialiser::wait(const ir::Call& call) {  // (signal, cell, value) cmp=
    const auto& in = call.operands;
    const Cell own = cell(call, plan_.rank, *in[1]);
    const Compare compare = *compare_from(ir::word(call, "cmp"));
    emit(call, Wait{compare, own, signal_value(call, *in[2], own.buffer)});
    return {};
}

KernelValue Specialiser::epoch(const ir::Call& call) {  // (signal)
    const std::uint16_t signal = buffer(*call.operands[0]);
    return AffineInteger{plan_.advance[signal], 1, signal};
}

KernelValue Specialiser::advance(const ir::Call& call) {  // (signal, by)
    const std::uint16_t signal = buffer(*call.operands[0]);
    const auto by = static_cast<std::int64_t>(natural(call, *call.operands[1], "advance"));
    std::int64_t& total = plan_.advance[signal];
    total = checked(call.span, ir::BinaryOp::add, total, by);
    return {};
}

KernelValue Specialiser::require(const ir::Call& call) {  // (left, right) cmp=
    const std::int64_t left = integer(*call.operands[0]);
    const std::int64_t right = integer(*call.operands[1]);
    const Compare compare = *compare_from(ir::word(call, "cmp"));
    if (!compares(left, compare, right)) {
        const bool plain = call.operands[1]->kind == ir::ExprKind::int_const;
        fail(call.span, fmt::format("required: {} {} {}, found {}{}", print(call.operands[0]),
                                    symbol(compare), print(call.operands[1]), left,
                                    plain ? "" : fmt::format(" and {}", right)));
    }
    return {};
}

}  // namespace peal
