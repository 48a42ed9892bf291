// SPDX-License-Identifier: Apache-2.0
#include "engine/tape.hpp"

#include <variant>

namespace peal {
namespace {

// From this size on a private result does not stay in the caches until its owner reads it, so
// reading its lines in order to write them would be wasted.
constexpr std::uint64_t kStreamedBytes = 4 << 20;
constexpr std::uint64_t kSmallestStream = 4 << 10;

class Decoder {
public:
    Decoder(const Plan& plan, Tape& tape) : plan_(plan), tape_(tape) {}

    Op operator()(const Copy& copy) const {
        Op op = data(Opcode::copy, copy.dst);
        op.src = place(copy.src);
        return op;
    }
    Op operator()(const Reduce& reduce) const {
        Op op = data(Opcode::reduce, reduce.dst);
        op.element = reduce.element;
        op.count = op.bytes / bytes_of(reduce.element);
        op.reduce = reduce.op;
        op.first_source = static_cast<std::uint32_t>(tape_.sources.size());
        op.source_count = static_cast<std::uint32_t>(reduce.src.size());
        for (const Range& source : reduce.src) tape_.sources.push_back(place(source));
        return op;
    }
    // Nobody else adds to private memory, so an ordinary sum does.
    Op operator()(const Accumulate& accumulate) const {
        const auto& [element, dst, src] = accumulate;
        const bool is_shared =
            dst.buffer != kTile && plan_.buffers[dst.buffer].kind == BufferKind::window;
        if (!is_shared) return (*this)(Reduce{ReduceOp::sum, element, dst, {dst, src}});
        Op op = data(Opcode::accumulate, dst);
        op.element = element;
        op.count = op.bytes / bytes_of(element);
        op.src = place(src);
        return op;
    }
    Op operator()(const Map& map) const {
        Op op = data(opcode_of(map.op), map.dst);
        op.element = map.element;
        op.from = map.from;
        op.count = (map.op == MapOp::row_sum ? map.src.length : op.bytes) / bytes_of(map.element);
        op.map = map.op;
        op.scalar = map.scalar;
        op.src = place(map.src);
        return op;
    }
    Op operator()(const Notify& notify) const {
        const bool sets = notify.op == NotifyOp::set;
        return signal(sets ? Opcode::notify_set : Opcode::notify_add, notify.cell, notify.value);
    }
    Op operator()(const Wait& wait) const {
        Op op = signal(Opcode::wait, wait.cell, wait.value);
        op.compare = wait.compare;
        return op;
    }
    Op operator()(const SetFlag& flag) const { return pipe(Opcode::set_flag, flag); }
    Op operator()(const WaitFlag& flag) const {
        return pipe(Opcode::wait_flag, {flag.from, flag.to, flag.event});
    }
    Op operator()(const PipeBarrier& /*barrier*/) const { return pipe(Opcode::pipe_barrier, {}); }

private:
    Place place(const Range& range) const {
        const bool in_tile = range.buffer == kTile;
        const auto tile = static_cast<std::uint16_t>(plan_.buffers.size());
        return {in_tile ? tile : range.buffer, in_tile ? 0 : range.rank, range.offset};
    }
    static Opcode opcode_of(MapOp op) {
        if (op == MapOp::convert) return Opcode::convert;
        return op == MapOp::row_sum ? Opcode::row_sum : Opcode::map;
    }
    Op data(Opcode code, const Range& dst) const {
        Op op;
        op.code = code;
        op.dst = place(dst);
        op.bytes = dst.length;
        op.streams = dst.length >= kSmallestStream && dst.buffer != kTile &&
                     plan_.buffers[dst.buffer].kind == BufferKind::argument &&
                     plan_.buffers[dst.buffer].bytes >= kStreamedBytes;
        return op;
    }
    Op signal(Opcode code, const Cell& cell, const Value& value) const {
        const Buffer& buffer = plan_.buffers[cell.buffer];
        Op op;
        op.code = code;
        op.element = buffer.element;
        op.dst = {cell.buffer, cell.rank, cell.index * buffer.cell_stride};
        op.value = value;
        return op;
    }
    static Op pipe(Opcode code, const SetFlag& flag) {
        Op op;
        op.code = code;
        op.flag = flag;
        return op;
    }

    const Plan& plan_;
    Tape& tape_;
};

}  // namespace

void Tape::read(const Plan& from) {
    plan = &from;
    ops.clear();
    sources.clear();
    const Decoder decode(from, *this);
    for (const Instruction& instruction : from.instructions) {
        ops.push_back(std::visit(decode, instruction.action));
    }
}

}  // namespace peal
