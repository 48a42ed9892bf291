// SPDX-License-Identifier: Apache-2.0
// Each primitive op and the instruction it becomes. An op on no elements becomes nothing.
#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/program.hpp"
#include "plan/access.hpp"
#include "plan/arithmetic.hpp"
#include "plan/specialiser.hpp"
#include "plan/turns.hpp"

namespace peal::plan {
namespace {

// Of everything that is put later.
constexpr std::uint16_t kPutGroup = 1;

const std::string& op_of(const Expression& call) { return call.call().op; }

}  // namespace

KernelValue Specialiser::call(const Expression& call) {
    switch (call.primitive) {
        case Primitive::load: return load(call);
        case Primitive::store: return store(call);
        case Primitive::slice: return slice(call);
        case Primitive::full: return full(call);
        case Primitive::add: return combine(call, ReduceOp::sum);
        case Primitive::mul: return combine(call, ReduceOp::prod);
        case Primitive::max: return combine(call, ReduceOp::max);
        case Primitive::min: return combine(call, ReduceOp::min);
        case Primitive::add_scalar: return with_scalar(call, MapOp::add_scalar);
        case Primitive::mul_scalar: return with_scalar(call, MapOp::mul_scalar);
        case Primitive::remote_load: return remote_load(call);
        case Primitive::remote_store: return remote_store(call, Transfer::copied);
        case Primitive::put: return put(call, Transfer::copied);
        case Primitive::put_later: return put_later(call);
        case Primitive::remote_add: return remote_store(call, Transfer::added);
        case Primitive::put_add: return put(call, Transfer::added);
        case Primitive::get: return get(call);
        case Primitive::notify: return notify(call);
        case Primitive::wait: return wait(call);
        case Primitive::generation: return generation(call);
        case Primitive::advance: return advance(call);
        case Primitive::fence: emit(call, Fence{kPutGroup}); return {};
        case Primitive::require: return require(call);
        case Primitive::none: break;
    }
    fail(call.span(), fmt::format("'{}' is not a primitive op", op_of(call)),
         "lower the program first");
}

// ---------------------------------------------------------------------------- operands

std::int32_t Specialiser::peer(const Expression& call, const Expression& operand) {
    const std::int64_t rank = integer(operand);
    if (rank < 0 || rank >= plan_.nranks) {
        fail(call.span(), fmt::format("{}: there is no rank {}, expected 0..{}", op_of(call), rank,
                                      plan_.nranks - 1));
    }
    return static_cast<std::int32_t>(rank);
}

std::uint64_t Specialiser::natural(const Expression& call, const Expression& operand,
                                   std::string_view what) {
    return natural(call, integer(operand), what);
}

std::uint64_t Specialiser::natural(const Expression& call, std::int64_t value,
                                   std::string_view what) const {
    if (value < 0)
        fail(call.span(), fmt::format("{}: the {} is negative: {}", op_of(call), what, value));
    return static_cast<std::uint64_t>(value);
}

double Specialiser::scalar(const Expression& call, const Expression& operand, Element element) {
    const KernelValue value = evaluate(operand);
    const auto* floating = std::get_if<double>(&value);
    const double number = floating ? *floating : exact(call, integer(operand));
    if (!fits(number, element)) {
        fail(call.span(),
             fmt::format("{}: {} is not a value of {}", op_of(call), number, name(element)));
    }
    return number;
}

// The scalars of instructions are doubles.
double Specialiser::exact(const Expression& call, std::int64_t integer) const {
    const auto number = static_cast<double>(integer);
    if (!fits(number, Element::i64) || static_cast<std::int64_t>(number) != integer) {
        fail(call.span(),
             fmt::format("{}: the scalar {} has more than 53 bits", op_of(call), integer));
    }
    return number;
}

Specialiser::Offset Specialiser::offset(const Expression& call, const Expression& operand,
                                        std::string_view what) {
    AffineInteger value = affine(operand);
    if (value.cycle == 0) {
        value = plain(operand);
        const std::uint64_t place = natural(call, value.constant, what);
        periods().at_least(value.in_periods(), 0);
        return {place, place, value};
    }
    const Cycle& places = cycle(value);
    const auto [least, most] = std::minmax_element(places.begin(), places.end());
    if (*least < 0) {
        fail(call.span(),
             fmt::format("{}: the {} is negative in some calls: {}", op_of(call), what, *least));
    }
    return {static_cast<std::uint64_t>(*least), static_cast<std::uint64_t>(*most), value};
}

Range Specialiser::elements(const Expression& call, std::uint16_t buffer, std::int32_t rank,
                            const Offset& offset, std::uint64_t count) {
    const Buffer& memory = plan_.buffers[buffer];
    if (memory.kind == BufferKind::signal) {
        fail(call.span(),
             fmt::format("{}: '{}' holds signals, not data", op_of(call), memory.name));
    }
    const std::uint64_t size = bytes_of(memory.element);
    const std::uint64_t total = memory.bytes / size;
    if (offset.most > total || count > total - offset.most) {
        fail(call.span(), fmt::format("{}: elements {}..{} leave '{}', which has {}", op_of(call),
                                      offset.most, offset.most + count, memory.name, total));
    }
    periods().at_most(offset.value.in_periods(), static_cast<std::int64_t>(total - count));
    return {buffer, rank, offset.least * size, count * size, shift_of(call, buffer, offset)};
}

// Until the plan is written down, a shift has an entry for each generation of its own cycle.
std::uint16_t Specialiser::shift_of(const Expression& call, std::uint16_t buffer,
                                    const Offset& offset) {
    if (offset.value.cycle == 0) return 0;
    Turns& turns = plan_.turns;
    const std::uint16_t signal = offset.value.signal;
    if (!turns.shifts.empty() && turns.signal != signal) {
        fail(call.span(), fmt::format("{}: the place goes by generation({}), another by "
                                      "generation({}): a kernel's places go by one",
                                      op_of(call), signal_name(signal), signal_name(turns.signal)));
    }
    turns.signal = signal;
    Shift shift{buffer, {}};
    for (const std::int64_t place : cycle(offset.value)) {
        const std::uint64_t further = static_cast<std::uint64_t>(place) - offset.least;
        shift.by.push_back(further * bytes_of(plan_.buffers[buffer].element));
    }
    const auto found = std::find(turns.shifts.begin(), turns.shifts.end(), shift);
    const auto number = static_cast<std::size_t>(found - turns.shifts.begin()) + 1;
    if (number > std::numeric_limits<std::uint16_t>::max()) {
        fail(call.span(), fmt::format("{}: too many places move with the generation", op_of(call)));
    }
    if (found == turns.shifts.end()) turns.shifts.push_back(std::move(shift));
    return static_cast<std::uint16_t>(number);
}

// All shifts get an entry for each turn of the plan; a turn is as long as nothing moves.
void Specialiser::settle_turns() {
    Turns& turns = plan_.turns;
    if (turns.shifts.empty()) return;
    std::size_t length = 1;
    for (const Shift& shift : turns.shifts) length = std::lcm(length, shift.by.size());
    if (length > kMaxTurns) {
        throw Error(Fault::program,
                    fmt::format("{}: its memory is where it was after {} generations, at most {} "
                                "are followed",
                                who(), length, kMaxTurns));
    }
    const auto stays = [&](std::size_t every) {
        return std::all_of(turns.shifts.begin(), turns.shifts.end(), [&](const Shift& shift) {
            const std::size_t own = shift.by.size();
            for (std::size_t g = 0; g < length; ++g) {
                if (shift.by[g % own] != shift.by[g / every * every % own]) return false;
            }
            return true;
        });
    };
    std::size_t every = length;
    while (length % every != 0 || !stays(every)) --every;
    turns.every = static_cast<std::int64_t>(every);
    turns.count = static_cast<std::uint32_t>(length / every);
    for (Shift& shift : turns.shifts) {
        const std::vector<std::uint64_t> by = std::move(shift.by);
        shift.by.clear();
        for (std::size_t g = 0; g < length; g += every) shift.by.push_back(by[g % by.size()]);
    }
}

Cell Specialiser::cell(const Expression& call, std::int32_t rank, const Expression& index) {
    const std::uint16_t signal = buffer(*call.operands[0]);
    const AffineInteger place = plain(index);
    const std::int64_t number = place.constant;
    const std::uint64_t cells = plan_.buffers[signal].cells;
    if (number < 0 || static_cast<std::uint64_t>(number) >= cells) {
        fail(call.span(), fmt::format("{}: there is no cell {} in '{}', which has {}", op_of(call),
                                      number, plan_.buffers[signal].name, cells));
    }
    periods().at_least(place.in_periods(), 0);
    periods().at_most(place.in_periods(), static_cast<std::int64_t>(cells - 1));
    return {signal, rank, static_cast<std::uint64_t>(number)};
}

Value Specialiser::signal_value(const Expression& call, const Expression& operand,
                                std::uint16_t signal) {
    const AffineInteger value = affine(operand);
    const Buffer& cells = plan_.buffers[signal];
    if (value.cycle != 0 || value.divisor != 1) {
        fail(call.span(),
             fmt::format("{}: the value follows from generation({}) by a division: expected an "
                         "integer, or generation({}) plus one",
                         op_of(call), signal_name(value.signal), cells.name));
    }
    if (!value.is_plain() && value.signal != signal) {
        fail(call.span(), fmt::format("{}: a value relative to generation({}) is given to '{}'",
                                      op_of(call), signal_name(value.signal), cells.name));
    }
    for (const std::int64_t part : {value.constant, value.per_generation}) {
        if (!fits(part, cells.element)) {
            fail(call.span(), fmt::format("{}: {} is not a value of '{}', whose cells are {}",
                                          op_of(call), part, cells.name, name(cells.element)));
        }
    }
    // A wider cell holds all numbers that grow.
    if (value.step != 0 && cells.element != Element::i64) periods().end();
    return {value.constant, value.per_generation};
}

// ---------------------------------------------------------------------------- tiles

Range Specialiser::range_of(const TileValue& tile) const {
    return {kTile, plan_.rank, tile.offset, tile.bytes};
}

// Tile memory is virtual here: every tile gets bytes of its own. place_tiles makes it small.
TileValue Specialiser::new_tile(const Expression& call, Element element, std::uint64_t count) {
    constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 62;
    const std::uint64_t size = bytes_of(element);
    if (count > kMaxBytes / size || plan_.tile_bytes > kMaxBytes - count * size) {
        fail(call.span(),
             fmt::format("{}: a tile of {} elements is too large", op_of(call), count));
    }
    const TileValue tile{element, plan_.tile_bytes, count * size};
    plan_.tile_bytes = whole_lines(plan_.tile_bytes + tile.bytes);
    return tile;
}

TileValue Specialiser::load_from(const Expression& call, const Range& source) {
    const Element element = plan_.buffers[source.buffer].element;
    const TileValue tile = new_tile(call, element, source.length / bytes_of(element));
    emit_copy(call, range_of(tile), source);
    return tile;
}

// ---------------------------------------------------------------------------- emitting

void Specialiser::emit(const Expression& call, Action action) {
    if (plan_.instructions.size() + repeated_ >= options_.max_instructions) {
        fail(call.span(),
             fmt::format("the plan has more than {} instructions", options_.max_instructions));
    }
    const Span span = call.span().line != 0 ? call.span() : statement();
    plan_.instructions.push_back({std::move(action), Pipe::none, span.line, false, round_here()});
}

void Specialiser::emit_copy(const Expression& call, const Range& dst, const Range& src) {
    move(call, Transfer::copied, dst, src);
}

void Specialiser::move(const Expression& call, Transfer transfer, const Range& dst,
                       const Range& src) {
    if (dst.length == 0) return;
    // They may come closer to each other from period to period.
    if (!is_tile(dst) && same_memory(dst, src)) periods().end();
    // Onto itself: as a load and a store of the same place.
    if (dst == src && transfer == Transfer::copied) {
        return emit_copy(call, dst, range_of(load_from(call, src)));
    }
    // What moves in different ways is compared when all turns are known.
    if (dst.shift == src.shift && overlaps(dst, src)) {
        fail(call.span(), fmt::format("{}: source and destination overlap in '{}'", op_of(call),
                                      plan_.buffers[dst.buffer].name));
    }
    if (transfer == Transfer::copied) return emit(call, Copy{dst, src});
    emit(call, Accumulate{plan_.buffers[dst.buffer].element, dst, src});
}

// ---------------------------------------------------------------------------- the ops

KernelValue Specialiser::load(const Expression& call) {  // (memory, offset, count)
    const auto& in = call.operands;
    const Offset from = offset(call, *in[1]);
    const std::uint64_t count = natural(call, *in[2], "count");
    return load_from(call, elements(call, buffer(*in[0]), plan_.rank, from, count));
}

KernelValue Specialiser::remote_load(const Expression& call) {  // (window, peer, offset, count)
    const auto& in = call.operands;
    const std::int32_t rank = peer(call, *in[1]);
    const Offset from = offset(call, *in[2]);
    const std::uint64_t count = natural(call, *in[3], "count");
    return load_from(call, elements(call, buffer(*in[0]), rank, from, count));
}

KernelValue Specialiser::store(const Expression& call) {  // (tile, memory, offset)
    const auto& in = call.operands;
    const TileValue value = tile(*in[0]);
    const Offset to = offset(call, *in[2]);
    emit_copy(call, elements(call, buffer(*in[1]), plan_.rank, to, value.count()), range_of(value));
    return {};
}

// (tile, window, peer, offset)
KernelValue Specialiser::remote_store(const Expression& call, Transfer transfer) {
    const auto& in = call.operands;
    const TileValue value = tile(*in[0]);
    const std::int32_t rank = peer(call, *in[2]);
    const Offset to = offset(call, *in[3]);
    move(call, transfer, elements(call, buffer(*in[1]), rank, to, value.count()), range_of(value));
    return {};
}

KernelValue Specialiser::put(const Expression& call, Transfer transfer) {
    const auto& in = call.operands;  // (window, peer, offset, src, src_offset, count)
    const std::uint64_t count = natural(call, *in[5], "count");
    const Range dst =
        elements(call, buffer(*in[0]), peer(call, *in[1]), offset(call, *in[2]), count);
    const Range src =
        elements(call, buffer(*in[3]), plan_.rank, offset(call, *in[4], "source offset"), count);
    move(call, transfer, dst, src);
    return {};
}

KernelValue Specialiser::put_later(const Expression& call) {
    const std::size_t before = plan_.instructions.size();
    put(call, Transfer::copied);
    const std::size_t emitted = plan_.instructions.size() - before;
    if (emitted > 1) fail(call.span(), fmt::format("{}: it puts memory onto itself", op_of(call)));
    if (emitted > 0) plan_.instructions.back().group = kPutGroup;
    return {};
}

KernelValue Specialiser::get(const Expression& call) {
    const auto& in = call.operands;  // (dst, dst_offset, window, peer, offset, count)
    const std::uint64_t count = natural(call, *in[5], "count");
    const Range dst = elements(call, buffer(*in[0]), plan_.rank,
                               offset(call, *in[1], "destination offset"), count);
    const Range src =
        elements(call, buffer(*in[2]), peer(call, *in[3]), offset(call, *in[4]), count);
    emit_copy(call, dst, src);
    return {};
}

KernelValue Specialiser::slice(const Expression& call) {  // (tile, offset, count)
    const auto& in = call.operands;
    const TileValue whole = tile(*in[0]);
    const std::uint64_t offset = natural(call, *in[1], "offset");
    const std::uint64_t count = natural(call, *in[2], "count");
    if (offset > whole.count() || count > whole.count() - offset) {
        fail(call.span(), fmt::format("{}: elements {}..{} leave a tile of {}", op_of(call), offset,
                                      offset + count, whole.count()));
    }
    const std::uint64_t size = bytes_of(whole.element);
    return TileValue{whole.element, whole.offset + offset * size, count * size};
}

KernelValue Specialiser::combine(const Expression& call, ReduceOp op) {  // (tile, tile)
    const TileValue a = tile(*call.operands[0]);
    const TileValue b = tile(*call.operands[1]);
    if (a.element != b.element || a.bytes != b.bytes) {
        fail(call.span(),
             fmt::format("{}: a tile of {} {} does not combine with one of {} {}", op_of(call),
                         a.count(), name(a.element), b.count(), name(b.element)));
    }
    const TileValue result = new_tile(call, a.element, a.count());
    if (result.bytes != 0) {
        emit(call, Reduce{op, a.element, range_of(result), {range_of(a), range_of(b)}});
    }
    return result;
}

KernelValue Specialiser::with_scalar(const Expression& call, MapOp op) {  // (tile, number)
    const TileValue source = tile(*call.operands[0]);
    const double number = scalar(call, *call.operands[1], source.element);
    const TileValue result = new_tile(call, source.element, source.count());
    if (result.bytes != 0) {
        emit(call, Map{op, source.element, number, range_of(result), range_of(source)});
    }
    return result;
}

KernelValue Specialiser::full(const Expression& call) {  // (number, count) element=
    const Element element = call.call().type.element;
    const double number = scalar(call, *call.operands[0], element);
    const TileValue result = new_tile(call, element, natural(call, *call.operands[1], "count"));
    if (result.bytes != 0) emit(call, Map{MapOp::fill, element, number, range_of(result), {}});
    return result;
}

KernelValue Specialiser::notify(const Expression& call) {  // (signal, peer, cell, value) op=
    const auto& in = call.operands;
    const Cell target = cell(call, peer(call, *in[1]), *in[2]);
    emit(call, Notify{call.notify, target, signal_value(call, *in[3], target.buffer)});
    return {};
}

KernelValue Specialiser::wait(const Expression& call) {  // (signal, cell, value) cmp=
    const auto& in = call.operands;
    const Cell own = cell(call, plan_.rank, *in[1]);
    emit(call, Wait{call.compare, own, signal_value(call, *in[2], own.buffer)});
    return {};
}

KernelValue Specialiser::generation(const Expression& call) {  // (signal)
    const std::uint16_t signal = buffer(*call.operands[0]);
    return AffineInteger{plan_.advance[signal], 1, signal};
}

KernelValue Specialiser::advance(const Expression& call) {  // (signal, by)
    const std::uint16_t signal = buffer(*call.operands[0]);
    const auto by = static_cast<std::int64_t>(natural(call, *call.operands[1], "advance"));
    periods().end();
    std::int64_t& total = plan_.advance[signal];
    total = checked(call.span(), ir::BinaryOp::add, total, by);
    return {};
}

KernelValue Specialiser::require(const Expression& call) {  // (left, right) cmp=
    const AffineInteger left = plain(*call.operands[0]);
    const AffineInteger right = plain(*call.operands[1]);
    // Both sides keep their distance.
    if (left.step != right.step) periods().end();
    if (!compares(left.constant, call.compare, right.constant)) {
        const auto& written = call.call().operands;
        const bool is_written = written[1]->kind == ir::ExprKind::int_const;
        const std::string message =
            fmt::format("required: {} {} {}, found {}{}", print(written[0]), symbol(call.compare),
                        print(written[1]), left.constant,
                        is_written ? "" : fmt::format(" and {}", right.constant));
        throw RequirementError({trouble(call.span(), message)}, kernel_.source.get());
    }
    return {};
}

}  // namespace peal::plan
