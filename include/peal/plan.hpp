// SPDX-License-Identifier: Apache-2.0
// The plan: the flat instruction list of one rank, or several such lists that run beside each
// other, its lanes. It is the waist of Peal: everything above produces plans, everything below
// consumes them, and nothing in a plan says who made it.
//
// Rank, rank count, sizes and types are known, so there is no control flow. Two things stay open
// until a plan runs: where its buffers are, and the generation of each signal buffer, which also
// says which call's turn it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "peal/element.hpp"
#include "peal/limits.hpp"
#include "peal/source.hpp"
#include "peal/words.hpp"

namespace peal {

// ---------------------------------------------------------------------------- buffers and ranges

enum class BufferKind : std::uint8_t {
    argument,  // private to the rank: an input or output tensor
    window,    // symmetric: every rank has one of the same size, and peers address it
    signal,    // symmetric: a window of signal cells
};

// One parameter of the kernel that refers to memory. Plans of all ranks list the same buffers in
// the same order; windows and signals also have the same size everywhere.
struct Buffer {
    std::string name;
    BufferKind kind = BufferKind::argument;
    Direction direction = Direction::unknown;
    Element element = Element::f32;
    std::uint64_t bytes = 0;  // argument, window

    // Signals only. Cell i is at byte i * cell_stride. A stride of one cache line gives each writer
    // a line of its own; kernels of other origin may pack their cells tighter.
    std::uint64_t cells = 0;
    std::uint64_t cell_stride = kCacheLineBytes;

    // Of an argument or window.
    std::uint64_t elements() const { return bytes / bytes_of(element); }

    bool operator==(const Buffer&) const = default;
};

inline constexpr std::uint16_t kTile = 0xffff;  // Range::buffer of tile memory

// Bytes [offset, offset + length) of one buffer. `rank` says whose window; for arguments and tiles
// it is the plan's own rank. Each lane has tile memory of its own.
struct Range {
    constexpr Range() = default;
    constexpr Range(std::uint16_t buffer, std::int32_t rank, std::uint64_t offset,
                    std::uint64_t length, std::uint16_t shift = 0)
        : buffer(buffer), shift(shift), rank(rank), offset(offset), length(length) {}

    std::uint16_t buffer = kTile;
    std::uint16_t shift = 0;  // 0: none; otherwise it moves by Turns::shifts[shift - 1]
    std::int32_t rank = 0;
    std::uint64_t offset = 0;
    std::uint64_t length = 0;

    bool operator==(const Range&) const = default;
};

// A signal cell in the signal buffer of `rank`.
struct Cell {
    std::uint16_t buffer = 0;
    std::int32_t rank = 0;
    std::uint64_t index = 0;

    bool operator==(const Cell&) const = default;
};

// constant + per_generation * generation, where the generation belongs to the cell's signal buffer.
// It starts at 0 in a zeroed window and moves on by Plan::advance at the end of each call, by the
// same amount on every rank; so a signal never needs a reset.
struct Value {
    std::int64_t constant = 0;
    std::int64_t per_generation = 0;

    bool operator==(const Value&) const = default;
};

// ---------------------------------------------------------------------------- instructions

enum class MapOp : std::uint8_t {
    fill,        // dst[i] = scalar
    add_scalar,  // dst[i] = src[i] + scalar
    mul_scalar,  // dst[i] = src[i] * scalar
    convert,     // dst[i] = src[i], which has type `from`
    row_sum,     // dst[0] = src[0] + src[1] + ... in order; dst is one element
    clobber,     // dst holds anything afterwards
};

// The units of a tile processor that run beside each other. `none` is a plain in-order core: the
// instruction is done before the next one starts. The cube units are known for their flags only.
enum class Pipe : std::uint8_t {
    none,
    scalar,
    load,
    vector,
    store,
    cube,
    cube_load,
    cube_store,
    all,
};

// Bytes from one range to another of the same length. The ranges do not overlap.
struct Copy {
    Range dst, src;
    bool operator==(const Copy&) const = default;
};

// dst[i] = src0[i] op src1[i] op ... in the order listed, one pass over memory. dst may equal a
// source; it does not overlap one in part.
struct Reduce {
    ReduceOp op = ReduceOp::sum;
    Element element = Element::f32;
    Range dst;
    std::vector<Range> src;
    bool operator==(const Reduce&) const = default;
};

// dst[i] += src[i], each element atomically, in tile memory or not. Several ranks may add to the
// same bytes at once: the order of a sum that is gathered like this is open. Bytes of a window that
// nobody wrote count as zero. dst and src do not overlap; dst is aligned to its elements.
struct Accumulate {
    Element element = Element::f32;
    Range dst, src;
    bool operator==(const Accumulate&) const = default;
};

// Work on the elements of one source. `src` is unused by fill and clobber, `scalar` by convert,
// row_sum and clobber. Ranges have the same length but for convert (the same number of elements)
// and row_sum.
struct Map {
    MapOp op = MapOp::fill;
    Element element = Element::f32;  // of dst
    double scalar = 0;
    Range dst, src;
    Element from = Element::f32;  // of src; convert only
    bool operator==(const Map&) const = default;
};

// Writes a peer's (or the own) cell after everything earlier in this lane is visible to whoever
// sees the new value. (With pipes: after everything that was drained.)
struct Notify {
    NotifyOp op = NotifyOp::set;
    Cell cell;
    Value value;
    bool operator==(const Notify&) const = default;
};

// Blocks until the own cell compares: cell <compare> value. What the notifier did before it
// notified is visible afterwards.
struct Wait {
    Compare compare = Compare::ge;
    Cell cell;
    Value value;
    bool operator==(const Wait&) const = default;
};

// One-bit events between pipes; only in plans of tile processors. Kernels have events 0 to 7.
struct SetFlag {
    Pipe from = Pipe::none, to = Pipe::none;
    std::uint8_t event = 0;
    bool operator==(const SetFlag&) const = default;
};
struct WaitFlag {
    Pipe from = Pipe::none, to = Pipe::none;
    std::uint8_t event = 0;
    bool operator==(const WaitFlag&) const = default;
};
struct PipeBarrier {
    Pipe pipe = Pipe::all;
    bool operator==(const PipeBarrier&) const = default;
};

// Goes on when the instructions of the group that were issued before it are complete. Group 0 is
// everything else: what this rank's pipes are known to have stored is visible to the others. (Under
// the order `drained` it was before; see peal/check.hpp.)
struct Fence {
    std::uint16_t group = 0;
    bool operator==(const Fence&) const = default;
};

// The scalar unit's cache gives these bytes up: what it wrote there is in memory by the next fence
// of group 0, and what it reads there next comes from memory.
struct Evict {
    Range range;
    bool operator==(const Evict&) const = default;
};

using Action = std::variant<Copy, Reduce, Accumulate, Map, Notify, Wait, SetFlag, WaitFlag,
                            PipeBarrier, Fence, Evict>;

inline constexpr std::uint16_t kCached = 0xffff;  // Instruction::group of what the cache serves

struct Instruction {
    Action action;
    Pipe pipe = Pipe::none;   // where it runs
    std::uint32_t line = 0;   // line in Plan::source; 0 = unknown
    bool joined = false;      // one operation of the kernel with the instruction before it: rows
    std::uint32_t round = 0;  // of the loops around it, in Plan::notes; 0 = none
    // Of work on data. 0: done in its turn. kCached: the scalar unit does it in its turn, through
    // its cache. Any other: it is issued in its turn and *deferred*: it happens at any time between
    // that and the next fence of its group, or the end of the call.
    std::uint16_t group = 0;
    // Of several that were fused: where each range is from, in Plan::notes; 0: all are from `line`.
    std::uint32_t origins = 0;

    // Equality is about what it does and where it is from: `round` and `origins`, which refer to
    // notes, are not part of it.
    bool operator==(const Instruction& other) const {
        return action == other.action && pipe == other.pipe && line == other.line &&
               joined == other.joined && group == other.group;
    }
};

// ---------------------------------------------------------------------------- the plan

// By how many bytes ranges of one buffer are moved on in each turn; the least is 0.
struct Shift {
    std::uint16_t buffer = 0;
    std::vector<std::uint64_t> by;  // Turns::count of them
    bool operator==(const Shift&) const = default;
};

// Calls that take turns: a plan may use one half of a window in every other call and the other half
// in between. A call of generation g is in turn g / every % count. One that does the same in all
// calls has one turn.
struct Turns {
    std::uint16_t signal = 0;  // whose generation
    std::int64_t every = 1;
    std::uint32_t count = 1;
    std::vector<Shift> shifts;
    bool operator==(const Turns&) const = default;
};

namespace plan {
struct PlanNotes;
}  // namespace plan

struct Plan {
    std::string kernel;
    std::int32_t rank = 0;
    std::int32_t nranks = 1;
    std::vector<Buffer> buffers;
    std::uint64_t tile_bytes = 0;  // tile memory that a lane uses
    std::vector<Instruction> instructions;
    // Where each lane after the first begins in `instructions`; empty: there is one. A lane is
    // carried out in order, and beside the others: a thread block of a processor, one of several
    // cores, a task of its own. The lanes of a rank share its arguments, windows, cells and
    // generations, each has tile memory and pipes of its own, and they meet by notifies to cells of
    // their own rank and waits on them, and by nothing else. A call begins before all its lanes and
    // ends after all of them. Ranks need not have the same number.
    std::vector<std::uint32_t> lanes;
    // By how much each signal buffer's generation moves on at the end of a call; one entry per
    // buffer, 0 for those that are not signals. The same on every rank.
    std::vector<std::int64_t> advance;
    Turns turns;
    SourcePtr source;  // what `line` refers to; may be null
    // Declared shapes and rounds of loops, for messages; may be null. Files of plans do not have
    // it.
    std::shared_ptr<const plan::PlanNotes> notes;

    std::size_t lane_count() const { return lanes.size() + 1; }
    // The lane's instructions are [lane_begin, lane_end).
    std::size_t lane_begin(std::size_t lane) const { return lane == 0 ? 0 : lanes[lane - 1]; }
    std::size_t lane_end(std::size_t lane) const {
        return lane == lanes.size() ? instructions.size() : lanes[lane];
    }
    // The lane that an instruction is of.
    std::size_t lane_of(std::size_t instruction) const;

    // Equality is about what the plan does: `source` and `notes` are not part of it.
    bool operator==(const Plan& other) const;
};

// 128 bits, as 32 hexadecimal digits, of everything in the plan but `source`, `line`, `notes`,
// `round` and `origins`, which only messages use. Plans that run or prove differently have
// different digests; the same plan has the same one on every machine.
std::string digest(const Plan& plan);

// Bytes that a plan reads and writes, and the syncs it performs.
struct Traffic {
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    std::uint64_t remote_bytes_read = 0;
    std::uint64_t remote_bytes_written = 0;
    std::uint64_t notifies = 0;
    std::uint64_t waits = 0;
};
Traffic traffic(const Plan& plan);

// Limits of a tile processor that carries out a plan. Zero and false mean: no such limit.
struct DeviceRules {
    std::uint64_t tile_bytes = 0;
    std::uint64_t tile_alignment = 0;
    // A load's flag is awaited before the next load is issued, or there is a warning: kernels that
    // do not wait run on such devices, and some have hung there.
    bool one_outstanding_load = false;

    bool operator==(const DeviceRules&) const = default;

    static DeviceRules a2a3() { return {192 << 10, 32, true}; }
    static DeviceRules a5() { return {256 << 10, 32, false}; }
};

// Throws Error(program) when lanes are not in order or not there; and that names the first
// instruction whose ranges leave their buffers, whose
// cells do not exist or are unaligned, whose sizes differ, whose values do not fit, or that writes
// over an `in` argument. A plan that was validated can be run without further checks.
void validate(const Plan& plan);

// As validate, for each; and the plans of all ranks agree on kernel, nranks, buffers and advance,
// and plans[r].rank == r.
void validate(const std::vector<Plan>& plans);

// One line, as in the listings of `peal show --plan`: "copy out[0..1024) <- data@2[0..1024)".
std::string to_text(const Instruction& instruction, const Plan& plan);
std::string to_text(const Plan& plan);

// JSON, and back. from_json throws Error(program) that says where and what was expected, in the
// document of this title, which may be the name of its file.
std::string to_json(const Plan& plan);
std::string to_json(const std::vector<Plan>& plans);
std::vector<Plan> plans_from_json(const std::string& text, std::string_view title = {});

std::string_view name(BufferKind kind);
std::string_view name(Pipe pipe);
std::string_view name(MapOp op);

}  // namespace peal
