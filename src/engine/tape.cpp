// SPDX-License-Identifier: Apache-2.0
#include "engine/tape.hpp"

#include <algorithm>
#include <cassert>
#include <fstream>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "plan/access.hpp"
#include "plan/turns.hpp"

namespace peal::engine {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kUsualCache = 32 * kKiB * kKiB;
constexpr std::uint64_t kUsualNearestCache = 32 * kKiB;

// "512K"; 0 if there is no such cache. (What sysconf() says is a whole package's on some machines.)
std::uint64_t cache_size(int index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                       "/size");
    std::uint64_t kibibytes = 0;
    char unit = '\0';
    return file >> kibibytes >> unit && unit == 'K' ? kibibytes * kKiB : 0;
}

std::uint64_t largest_cache() {
    std::uint64_t largest = 0;
    for (int index = 0; index < 8; ++index) largest = std::max(largest, cache_size(index));
    return largest == 0 ? kUsualCache : largest;
}

// Of the largest cache that a core has a share in, as the system tells it.
std::uint64_t largest_cache_bytes() {
    static const std::uint64_t kBytes = largest_cache();
    return kBytes;
}

// Of a core's first cache of data.
std::uint64_t nearest_cache_bytes() {
    static const std::uint64_t kBytes = [] {
        const std::uint64_t first = cache_size(0);
        return first == 0 ? kUsualNearestCache : first;
    }();
    return kBytes;
}

constexpr std::uint64_t kSmallestStream = 4 << 10;

bool is_of_peer(const Plan& plan, const Range& range) {
    return range.buffer != kTile && plan.buffers[range.buffer].kind == BufferKind::window &&
           range.rank != plan.rank;
}

// Of one rank. What all have together and exceeds the caches does not stay there until its owner
// reads it, so reading the lines of a result in order to write them would be wasted.
std::uint64_t private_bytes(const Plan& plan, Tape::Windows windows) {
    std::uint64_t bytes = 0;
    for (const Buffer& buffer : plan.buffers) {
        const bool is_reached =
            windows == Tape::Windows::reached && buffer.kind == BufferKind::window;
        if (is_reached || buffer.kind == BufferKind::argument) bytes += buffer.bytes;
    }
    return bytes;
}

class Decoder {
public:
    Decoder(const Plan& plan, Tape& tape, Tape::Windows windows, Tape::Cells cells,
            const plan::Far& far)
        : plan_(plan),
          tape_(tape),
          far_(far),
          reaches_(windows == Tape::Windows::reached),
          grows_(cells == Tape::Cells::grow),
          exceeds_nearest_(private_bytes(plan, windows) > nearest_cache_bytes()),
          exceeds_caches_(private_bytes(plan, windows) * static_cast<std::uint64_t>(plan.nranks) >
                          largest_cache_bytes()) {}

    void enter_lane(std::size_t lane) { lane_ = static_cast<std::int32_t>(lane); }

    Op operator()(const Copy& copy) const {
        Op op = data(Opcode::copy, copy.dst);
        op.src = place(copy.src);
        if (reaches_ && is_of_peer(plan_, copy.src)) op.code = Opcode::fetch;
        if (reaches_ && is_of_peer(plan_, copy.dst)) op.code = Opcode::put;
        return op;
    }
    // Of one source, the result is that source, bit for bit (a conversion may change what is no
    // number); in place, that is nothing to do.
    Op operator()(const Reduce& reduce) const {
        if (reduce.src.size() == 1) {
            Copy copy{reduce.dst, reduce.src[0]};
            if (copy.dst == copy.src) copy.dst.length = copy.src.length = 0;
            return (*this)(copy);
        }
        Op op = data(Opcode::reduce, reduce.dst);
        op.element = reduce.element;
        op.count = op.bytes / bytes_of(reduce.element);
        op.reduce = reduce.op;
        op.fold = kernels::fold_for(reduce.element, reduce.op, op.bytes, op.stores);
        op.first_source = static_cast<std::uint32_t>(tape_.sources.size());
        op.source_count = static_cast<std::uint32_t>(reduce.src.size());
        for (const Range& source : reduce.src) tape_.sources.push_back(place(source));
        return op;
    }
    // Nobody else adds to memory that is this lane's own, so an ordinary sum does.
    Op operator()(const Accumulate& accumulate) const {
        const auto& [element, dst, src] = accumulate;
        const bool has_others = dst.buffer != kTile &&
                                plan::is_shared(plan_.buffers[dst.buffer], plan::sharing_of(plan_));
        if (!has_others) return (*this)(Reduce{ReduceOp::sum, element, dst, {dst, src}});
        if (is_far(dst)) refuse_accumulate(dst);
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
        const Opcode set = grows_ ? Opcode::notify_set : Opcode::notify_exchange;
        Op op = signal(sets ? set : Opcode::notify_add, notify.cell, notify.value);
        op.is_plain = op.code == Opcode::notify_set && op.element == Element::i64;
        return op;
    }
    Op operator()(const Wait& wait) const {
        Op op = signal(Opcode::wait, wait.cell, wait.value);
        op.compare = wait.compare;
        op.is_plain = op.compare == Compare::ge && op.element == Element::i64;
        return op;
    }
    Op operator()(const SetFlag& flag) const { return pipe(Opcode::set_flag, flag); }
    Op operator()(const WaitFlag& flag) const {
        return pipe(Opcode::wait_flag, {flag.from, flag.to, flag.event});
    }
    // Everything is done in its turn, which is one of the moments that deferred work may take.
    Op operator()(const PipeBarrier& /*barrier*/) const { return pipe(Opcode::nothing, {}); }
    Op operator()(const Fence& /*fence*/) const { return pipe(Opcode::nothing, {}); }
    Op operator()(const Evict& /*evict*/) const { return pipe(Opcode::nothing, {}); }

private:
    Address place(const Range& range) const {
        const bool in_tile = range.buffer == kTile;
        const auto tile = static_cast<std::uint16_t>(plan_.buffers.size());
        if (range.shift != 0) {
            return {static_cast<std::uint16_t>(tile + range.shift), is_far(range), range.rank,
                    range.offset};
        }
        return {in_tile ? tile : range.buffer, is_far(range), in_tile ? lane_ : range.rank,
                range.offset};
    }
    bool is_far(int rank) const { return !far_.empty() && far_[static_cast<std::size_t>(rank)]; }
    bool is_far(const Range& range) const { return is_of_peer(plan_, range) && is_far(range.rank); }
    // No network adds to elements of every type, and reading, adding and writing back would lose
    // what others add meanwhile.
    [[noreturn]] void refuse_accumulate(const Range& dst) const {
        throw Error(Fault::usage,
                    fmt::format("{}: it accumulates in '{}' of rank {}, which is on another host; "
                                "there, let each rank put its part into a place of its own and "
                                "reduce them",
                                plan_.kernel, plan_.buffers[dst.buffer].name, dst.rank));
    }
    static Opcode opcode_of(MapOp op) {
        switch (op) {
            case MapOp::convert: return Opcode::convert;
            case MapOp::row_sum: return Opcode::row_sum;
            case MapOp::clobber: return Opcode::clobber;
            case MapOp::fill:
            case MapOp::add_scalar:
            case MapOp::mul_scalar: break;
        }
        return Opcode::map;
    }
    Op data(Opcode code, const Range& dst) const {
        Op op;
        op.code = code;
        op.dst = place(dst);
        op.bytes = dst.length;
        op.stores = stores_to(dst);
        return op;
    }
    kernels::Stores stores_to(const Range& dst) const {
        if (dst.buffer == kTile) return kernels::Stores::cached;
        const bool bypasses = exceeds_caches_ && is_private(dst) && dst.length >= kSmallestStream;
        if (bypasses) return kernels::Stores::bypass;
        const bool is_distant = exceeds_nearest_ || !is_private(dst);
        return is_distant ? kernels::Stores::distant : kernels::Stores::cached;
    }
    bool is_private(const Range& range) const {
        return reaches_ || plan_.buffers[range.buffer].kind == BufferKind::argument;
    }
    Op signal(Opcode code, const Cell& cell, const Value& value) const {
        const Buffer& buffer = plan_.buffers[cell.buffer];
        Op op;
        op.code = code;
        op.element = buffer.element;
        op.dst = {cell.buffer, is_far(cell.rank), cell.rank, cell.index * buffer.cell_stride};
        op.value = value;
        if (op.dst.is_far && is_notify(code)) {
            op.work = code;
            op.code = Opcode::far_notify;
        }
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
    const plan::Far& far_;
    bool reaches_;
    bool grows_;
    bool exceeds_nearest_;
    bool exceeds_caches_;
    std::int32_t lane_ = 0;
};

bool is_work(Opcode code) {
    switch (code) {
        case Opcode::copy:
        case Opcode::reduce:
        case Opcode::accumulate:
        case Opcode::map:
        case Opcode::convert:
        case Opcode::row_sum:
        case Opcode::clobber: return true;
        default: return false;
    }
}

// Where some ranks are far, all work on data asks first whether it is in the way of what is under
// way there.
Op with_far(Op op, const Instruction& instruction) {
    op.group = instruction.group;
    if (std::holds_alternative<Fence>(instruction.action)) {
        op.code = Opcode::far_fence;
        op.group = std::get<Fence>(instruction.action).group;
    }
    if (!is_work(op.code)) return op;
    assert(!op.dst.is_far || op.group != 0 || op.bytes == 0);  // see plan::between_hosts
    op.work = op.code;
    op.code = Opcode::far;
    return op;
}

}  // namespace

bool reachable(const Plan& plan) {
    if (plan::takes_turns(plan)) return false;
    for (const Instruction& instruction : plan.instructions) {
        int of_peers = 0;
        plan::for_each_range(instruction.action, [&](const Range& range) {
            of_peers += is_of_peer(plan, range) ? 1 : 0;
        });
        const bool is_copy = std::holds_alternative<Copy>(instruction.action);
        if (of_peers > (is_copy ? 1 : 0)) return false;
    }
    return true;
}

void Tape::read(const Plan& from, Windows windows, Cells cells, const plan::Far& far) {
    const bool has_far = std::find(far.begin(), far.end(), true) != far.end();
    assert(!has_far || windows == Windows::shared);
    plan = &from;
    has_lanes = !from.lanes.empty();
    ops.clear();
    ops.reserve(from.instructions.size());
    sources.clear();
    Decoder decode(from, *this, windows, cells, far);
    for (std::size_t lane = 0; lane < from.lane_count(); ++lane) {
        decode.enter_lane(lane);
        for (std::size_t i = from.lane_begin(lane); i < from.lane_end(lane); ++i) {
            const Op op = std::visit(decode, from.instructions[i].action);
            ops.push_back(has_far ? with_far(op, from.instructions[i]) : op);
        }
    }
}

}  // namespace peal::engine
