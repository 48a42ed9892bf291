// SPDX-License-Identifier: Apache-2.0
#include "engine/core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <string_view>
#include <utility>

#include "engine/kernels/kernels.hpp"
#include "engine/standing.hpp"
#include "peal/error.hpp"
#include "plan/turns.hpp"

namespace peal::engine {
namespace {

// What a clobber leaves: a NaN of every floating type, and no integer that anybody relies on.
constexpr int kAnything = 0xff;

template <class Integer>
std::string_view type_name() {
    return name(sizeof(Integer) == sizeof(std::int64_t) ? Element::i64 : Element::i32);
}

}  // namespace

void add_unnamed_memory(const Plan& plan, std::byte* tiles, std::vector<BoundBuffer>& memory) {
    memory.push_back({.base = tiles, .rank_stride = tile_stride(plan)});
    if (!plan::takes_turns(plan)) return;
    const std::uint32_t turn = plan::turn_in(plan.turns, memory[plan.turns.signal].generation);
    for (const Shift& shift : plan.turns.shifts) {
        BoundBuffer moved = memory[shift.buffer];
        moved.base += shift.by[turn];
        memory.push_back(moved);
    }
}

void Core::copy_more(const Op& op) {
    has_streamed_ |= op.stores == kernels::Stores::bypass;
    kernels::copy_bytes(address(op.dst), address(op.src), op.bytes, op.stores);
}

void Core::carry_out(const Op& op) {
    switch (op.code) {
        case Opcode::copy: copy(op); break;
        case Opcode::reduce: reduce(op); break;
        case Opcode::accumulate:
            kernels::accumulate(op.element, address(op.dst), address(op.src), op.count);
            break;
        case Opcode::convert:
            kernels::convert(op.element, op.from, address(op.dst), address(op.src), op.count);
            break;
        case Opcode::row_sum:
            kernels::row_sum(op.element, address(op.dst), address(op.src), op.count);
            break;
        case Opcode::clobber:
            if (op.bytes > 0) std::memset(address(op.dst), kAnything, op.bytes);
            break;
        case Opcode::map: {
            const void* source = op.map == MapOp::fill ? nullptr : address(op.src);
            kernels::map(op.map, op.element, op.scalar, address(op.dst), source, op.count);
            break;
        }
        // This core carries out instructions in order, whatever pipe they name, so flags and
        // barriers order nothing that is not in order already. Only a flag that nobody set is felt.
        case Opcode::set_flag:
            has_more_ = true;
            flags_.push_back(op.flag);
            break;
        case Opcode::wait_flag: std::erase(flags_, op.flag); break;
        case Opcode::nothing: break;
        default: assert(false);  // drive() does these
    }
}

bool Core::is_about_to_ring() const { return !is_done() && is_notify(op().code); }

void Core::reduce_otherwise(const Op& op) {
    const void* few[8];
    const void** sources = few;
    if (op.source_count > std::size(few)) {
        sources_.resize(op.source_count);
        sources = sources_.data();
    }
    const Address* const places = tape_->sources.data() + op.first_source;
    for (std::uint32_t i = 0; i < op.source_count; ++i) sources[i] = address(places[i]);
    kernels::reduce(op.element, op.reduce, address(op.dst), {sources, op.source_count}, op.count,
                    op.stores);
    has_streamed_ |= op.stores == kernels::Stores::bypass;
}

std::uint64_t source_bytes(const Op& op) {
    if (op.work == Opcode::convert) return op.count * bytes_of(op.from);
    if (op.work == Opcode::row_sum) return op.count * bytes_of(op.element);
    return op.bytes;
}

std::span<const Address> Core::sources(const Op& op) const {
    if (op.work == Opcode::reduce) {
        return {tape_->sources.data() + op.first_source, op.source_count};
    }
    const bool has_none =
        op.work == Opcode::clobber || (op.work == Opcode::map && op.map == MapOp::fill);
    return {&op.src, has_none ? 0U : 1U};
}

// ---------------------------------------------------------------------------- signals

// An add also hands on what the cell's earlier notifiers did, because a read-modify-write continues
// their release sequences.
template <class Integer>
void Core::add(std::byte* cell, Integer value) {
    expect_sum_of(detail::atomic_at<Integer>(cell).fetch_add(value, std::memory_order_seq_cst),
                  value);
}

template <class Integer>
void Core::expect_sum_of(Integer before, Integer value) const {
    Integer after = 0;
    if (__builtin_add_overflow(before, value, &after)) {
        throw_overflow(
            fmt::format("{} + {} does not fit in {}", before, value, type_name<Integer>()));
    }
}

void Core::expect_sum(const Op& op, std::int64_t before, std::int64_t value) const {
    if (op.element == Element::i64) return expect_sum_of(before, value);
    expect_sum_of(static_cast<std::int32_t>(before), static_cast<std::int32_t>(value));
}

void Core::expect_fit(const Op& op, std::int64_t value) const {
    if (op.element != Element::i64 && !std::in_range<std::int32_t>(value)) {
        throw_overflow(fmt::format("{} does not fit in {}", value, type_name<std::int32_t>()));
    }
}

template <class Integer>
void Core::set(const Op& op, std::byte* cell, Integer value) {
    const bool grows = op.code == Opcode::notify_set;
    detail::atomic_at<Integer>(cell).store(
        value, grows ? std::memory_order_release : std::memory_order_seq_cst);
}

void Core::ring_otherwise(const Op& op, std::byte* cell, std::int64_t value) {
    const bool adds = op.code == Opcode::notify_add;
    if (op.element == Element::i64) return adds ? add(cell, value) : set(op, cell, value);
    expect_fit(op, value);
    const auto narrow = static_cast<std::int32_t>(value);
    adds ? add(cell, narrow) : set(op, cell, narrow);
}

// Stores that bypass the caches are not ordered by a release; this makes them so.
void Core::fence_streams() {
    kernels::fence_streams();
    has_streamed_ = false;
}

void Core::throw_value_overflow() const { throw_overflow("the value does not fit in 64 bits"); }

void Core::throw_overflow(const std::string& what) const {
    const Instruction& instruction = plan().instructions[position()];
    throw Error(Fault::wrong,
                fmt::format("signal overflow: rank {}  {}instruction {}  {}{}\n  {}", plan().rank,
                            lane_note(plan(), lane_), position(), to_text(instruction, plan()),
                            source_note(plan(), instruction), what));
}

// ---------------------------------------------------------------------------- pipes and lanes

bool Core::is_among(const std::vector<SetFlag>& flags, const Op& op) {
    return std::find(flags.begin(), flags.end(), op.flag) != flags.end();
}

void Core::start(const Tape& tape, std::span<const BoundBuffer> memory, std::size_t lane) {
    tape_ = &tape;
    memory_ = memory.data();
    next_ = tape.ops.data() + tape.plan->lane_begin(lane);
    end_ = tape.ops.data() + tape.plan->lane_end(lane);
    has_more_ = true;
    flags_.clear();
    lane_ = lane;
    aside_.clear();
}

// The last plan may have ended, or been left, in another lane, with others aside and flags set.
// Lanes without instructions are done.
void Core::start_lanes() {
    const Plan& plan = *tape_->plan;
    has_more_ = tape_->has_lanes;
    flags_.clear();
    lane_ = 0;
    aside_.clear();
    if (!has_more_) return;
    for (std::size_t lane = plan.lane_count(); lane-- > 1;) {
        const Op* const begin = tape_->ops.data() + plan.lane_begin(lane);
        const Op* const end = tape_->ops.data() + plan.lane_end(lane);
        if (begin != end) aside_.push_back({lane, begin, end, {}});
    }
    end_ = tape_->ops.data() + plan.lane_end(0);
}

void Core::swap_with(Lane& lane) {
    std::swap(lane_, lane.number);
    std::swap(next_, lane.next);
    std::swap(end_, lane.end);
    std::swap(flags_, lane.flags);
}

bool Core::take_last() {
    swap_with(aside_.back());
    aside_.pop_back();
    return true;
}

bool Core::can_go_on(const Lane& lane) const {
    return lane.next->code == Opcode::wait_flag ? is_among(lane.flags, *lane.next)
                                                : can_pass(*lane.next);
}

// The one that has waited longest comes first.
bool Core::turn() {
    for (std::size_t i = aside_.size(); i-- > 0;) {
        if (!can_go_on(aside_[i])) continue;
        swap_with(aside_[i]);
        std::rotate(aside_.begin(), aside_.begin() + static_cast<std::ptrdiff_t>(i),
                    aside_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        return true;
    }
    return false;
}

bool Core::is_blocked_aside() const {
    return std::none_of(aside_.begin(), aside_.end(),
                        [this](const Lane& lane) { return can_go_on(lane); });
}

}  // namespace peal::engine
