// SPDX-License-Identifier: Apache-2.0
// The interpreter: one rank's tape, its memory and its position. Because a plan has no control
// flow, a rank that has to wait is nothing but a number to come back to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/reach.hpp"
#include "engine/tape.hpp"
#include "peal/plan.hpp"

namespace peal {

namespace detail {

template <class Integer>
std::atomic_ref<Integer> atomic_at(std::byte* cell) {
    return std::atomic_ref<Integer>(*reinterpret_cast<Integer*>(cell));
}

inline std::atomic_ref<std::uint64_t> stamp_at(std::byte* cell) {
    return atomic_at<std::uint64_t>(cell - sizeof(std::uint64_t));
}

}  // namespace detail

// Where a buffer of the plan is, as seen by one rank.
struct BoundBuffer {
    std::byte* base = nullptr;      // of the own argument, or of rank 0's part
    std::uint64_t rank_stride = 0;  // from one rank's part to the next; 0 if the memory is private
    std::int64_t generation = 0;    // signals only
    // Signals only. If not 0, every notify leaves this word in the 8 bytes before the cell, and a
    // wait passes only on a ring that carries the same: ranks that are in different calls notice.
    std::uint64_t stamp = 0;
};

enum class Outcome : std::uint8_t {
    progressed,  // an instruction was carried out
    rang,        // a notify was carried out: another rank may be able to go on
    blocked,     // the instruction has to wait; nothing was done
    foreign,     // the wait could pass, but the ring has another stamp; nothing was done
    lost,        // a peer's memory could not be reached; some of it may have been copied
    done,        // the plan has been carried out
};

// Aligned, so that threads that carry different ranks do not share a line.
class alignas(kCacheLineBytes) Core {
public:
    // Begins a plan. `memory` has one entry per buffer and one more for the tile memory. Both must
    // outlive the run. `reach` is for tapes whose windows are reached.
    void start(const Tape& tape, std::span<const BoundBuffer> memory, Reach* reach = nullptr);

    // Carries out the next instruction. Throws Error(wrong) when a signal overflows.
    Outcome step();

    // Passes the wait that came out as foreign.
    void pass() { ++position_; }

    // Whether step() would return blocked.
    bool is_blocked() const {
        if (is_done()) return false;
        if (op().code == Opcode::wait) return wait(op()) == Outcome::blocked;
        return op().code == Opcode::wait_flag && !is_set(op());
    }
    // Whether the next instruction is a notify.
    bool is_about_to_ring() const;
    bool is_done() const { return position_ == tape_->ops.size(); }

    const Plan& plan() const { return *tape_->plan; }
    std::size_t position() const { return position_; }            // of the next instruction
    const Op& op() const { return tape_->ops[position_]; }        // the next
    const Op& last() const { return tape_->ops[position_ - 1]; }  // carried out
    std::byte* address(const Place& place) const {
        const BoundBuffer& buffer = memory_[place.buffer];
        return buffer.base + static_cast<std::uint64_t>(place.rank) * buffer.rank_stride +
               place.offset;
    }

    // What the cell of a wait or notify holds now, and what its value is in this run.
    std::int64_t seen(const Op& op) const;
    std::int64_t value_of(const Op& op) const;

private:
    Outcome reach_out(const Op& op);
    void reduce(const Op& op);
    void notify(const Op& op);
    Outcome wait(const Op& op) const;
    Outcome wait_flag(const Op& op);
    bool is_set(const Op& op) const;
    template <class Integer>
    void ring(const Op& op, std::int64_t value);
    void finish_streams();
    [[noreturn]] void throw_value_overflow() const;
    [[noreturn]] void throw_overflow(const std::string& what) const;

    const Tape* tape_ = nullptr;
    const BoundBuffer* memory_ = nullptr;
    Reach* reach_ = nullptr;
    std::size_t position_ = 0;
    bool has_streamed_ = false;
    std::vector<SetFlag> flags_;        // that are set
    std::vector<const void*> sources_;  // of the reduce at hand
};

// A rank that waits looks here again and again: these are inline.

inline std::int64_t Core::value_of(const Op& op) const {
    std::int64_t moved = 0;
    std::int64_t result = 0;
    if (__builtin_mul_overflow(op.value.per_generation, memory_[op.dst.buffer].generation,
                               &moved) ||
        __builtin_add_overflow(op.value.constant, moved, &result)) [[unlikely]] {
        throw_value_overflow();
    }
    return result;
}

// Acquire: pairs with the release in ring(), of the notify whose value this is.
inline std::int64_t Core::seen(const Op& op) const {
    std::byte* cell = address(op.dst);
    return op.element == Element::i64
               ? detail::atomic_at<std::int64_t>(cell).load(std::memory_order_acquire)
               : detail::atomic_at<std::int32_t>(cell).load(std::memory_order_acquire);
}

// The stamp was written before the cell, so whoever sees the cell sees that stamp or a later one.
inline Outcome Core::wait(const Op& op) const {
    if (!compares(seen(op), op.compare, value_of(op))) return Outcome::blocked;
    const std::uint64_t stamp = memory_[op.dst.buffer].stamp;
    if (stamp == 0) return Outcome::progressed;
    const std::uint64_t found = detail::stamp_at(address(op.dst)).load(std::memory_order_relaxed);
    return found == stamp ? Outcome::progressed : Outcome::foreign;
}

}  // namespace peal
