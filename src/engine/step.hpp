// SPDX-License-Identifier: Apache-2.0
// The interpreter: one rank's tape, its memory and its position. Because a plan has no control
// flow, a rank that has to wait is nothing but a number to come back to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/kernels/kernels.hpp"
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
    void start(const Tape& tape, std::span<const BoundBuffer> memory, Reach* reach = nullptr) {
        tape_ = &tape;
        memory_ = memory.data();
        reach_ = reach;
        next_ = tape.ops.data();
        end_ = std::to_address(tape.ops.end());
        flags_.clear();
    }

    // Carries out the next instruction. Throws Error(wrong) when a signal overflows.
    Outcome step();
    // Carries out instructions until one rings or cannot be carried out, or all are done.
    Outcome run();

    // Passes the wait that came out as foreign.
    void pass() { ++next_; }

    // Whether step() would return blocked.
    bool is_blocked() const {
        if (is_done()) return false;
        if (op().code == Opcode::wait) return wait(op()) == Outcome::blocked;
        return op().code == Opcode::wait_flag && !is_set(op());
    }
    // Looks at the wait at hand until it can pass, at most `times`, with a pause after each look.
    // At 64-bit cells, that is: at anything else once.
    template <class Pause>
    bool look(int times, Pause&& pause) const;
    // Whether a wait on such a cell, from here to the next notify, cannot pass yet.
    template <class IsSuch>
    bool lacks(IsSuch&& is_such) const;
    // Whether the next instruction is a notify.
    bool is_about_to_ring() const;
    bool is_done() const { return next_ == end_; }

    const Plan& plan() const { return *tape_->plan; }
    // Of the next instruction.
    std::size_t position() const { return static_cast<std::size_t>(next_ - tape_->ops.data()); }
    const Op& op() const { return *next_; }       // the next
    const Op& last() const { return next_[-1]; }  // carried out
    std::byte* address(const Place& place) const {
        const BoundBuffer& buffer = memory_[place.buffer];
        return buffer.base + static_cast<std::uint64_t>(place.rank) * buffer.rank_stride +
               place.offset;
    }

    // What the cell of a wait or notify holds now, and what its value is in this run.
    std::int64_t seen(const Op& op) const;
    std::int64_t value_of(const Op& op) const;

private:
    Outcome carry_out(const Op& op);
    Outcome reach_out(const Op& op);
    void reduce(const Op& op);
    void notify(const Op& op);
    Outcome wait(const Op& op) const;
    Outcome wait_flag(const Op& op);
    bool is_set(const Op& op) const;
    void ring_otherwise(const Op& op, std::int64_t value);
    template <class Integer>
    void add(const Op& op, Integer value);
    template <class Integer>
    void set(const Op& op, Integer value);
    void finish_streams() {
        if (has_streamed_) [[unlikely]]
            fence_streams();
    }
    void fence_streams();
    [[noreturn]] void throw_value_overflow() const;
    [[noreturn]] void throw_overflow(const std::string& what) const;

    const Tape* tape_ = nullptr;
    const BoundBuffer* memory_ = nullptr;
    Reach* reach_ = nullptr;
    const Op* next_ = nullptr;
    const Op* end_ = nullptr;
    bool has_streamed_ = false;
    std::vector<SetFlag> flags_;        // that are set
    std::vector<const void*> sources_;  // of the reduce at hand, if they are many
};

// A rank that waits looks here again and again, and a short call is little else: these are inline.

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

// Pairs with the release in notify(), whose value this is. Sequentially consistent for the sake of
// tapes whose notifies are; that costs no more than acquire.
inline std::int64_t Core::seen(const Op& op) const {
    std::byte* cell = address(op.dst);
    return op.element == Element::i64
               ? detail::atomic_at<std::int64_t>(cell).load(std::memory_order_seq_cst)
               : detail::atomic_at<std::int32_t>(cell).load(std::memory_order_seq_cst);
}

// The stamp was written before the cell, so whoever sees the cell sees that stamp or a later one.
inline Outcome Core::wait(const Op& op) const {
    if (!compares(seen(op), op.compare, value_of(op))) return Outcome::blocked;
    const std::uint64_t stamp = memory_[op.dst.buffer].stamp;
    if (stamp == 0) return Outcome::progressed;
    const std::uint64_t found = detail::stamp_at(address(op.dst)).load(std::memory_order_relaxed);
    return found == stamp ? Outcome::progressed : Outcome::foreign;
}

// Release: pairs with the acquire in seen(). Whoever sees the new value sees all that this rank did
// before.
inline void Core::notify(const Op& op) {
    finish_streams();
    const std::uint64_t stamp = memory_[op.dst.buffer].stamp;
    std::byte* const cell = address(op.dst);
    if (stamp != 0) detail::stamp_at(cell).store(stamp, std::memory_order_relaxed);
    const std::int64_t value = value_of(op);
    if (op.code == Opcode::notify_set && op.element == Element::i64) [[likely]] {
        detail::atomic_at<std::int64_t>(cell).store(value, std::memory_order_release);
    } else {
        ring_otherwise(op, value);
    }
}

template <class Pause>
bool Core::look(int times, Pause&& pause) const {
    if (op().code != Opcode::wait || op().element != Element::i64) return !is_blocked();
    const auto cell = detail::atomic_at<std::int64_t>(address(op().dst));
    const Compare compare = op().compare;
    const std::int64_t value = value_of(op());
    for (int i = 0; i < times; ++i) {
        if (compares(cell.load(std::memory_order_seq_cst), compare, value)) return true;
        pause(i);
    }
    return false;
}

template <class IsSuch>
bool Core::lacks(IsSuch&& is_such) const {
    for (const Op* op = next_; op != end_; ++op) {
        if (is_notify(op->code)) return false;
        if (op->code != Opcode::wait || !is_such(op->dst)) continue;
        if (wait(*op) == Outcome::blocked) return true;
    }
    return false;
}

inline Outcome Core::run() {
    while (next_ != end_) {
        const Op& op = *next_;
        Outcome outcome = Outcome::progressed;
        switch (op.code) {
            case Opcode::wait: outcome = wait(op); break;
            case Opcode::notify_set:
                notify(op);
                outcome = Outcome::rang;
                break;
            case Opcode::copy:
                if (op.bytes <= kernels::kFewBytes) {
                    kernels::copy_few(address(op.dst), address(op.src), op.bytes);
                    break;
                }
                outcome = carry_out(op);
                break;
            case Opcode::reduce: reduce(op); break;
            default: outcome = carry_out(op);
        }
        if (outcome == Outcome::progressed || outcome == Outcome::rang) ++next_;
        if (outcome != Outcome::progressed) return outcome;
    }
    finish_streams();
    return Outcome::done;
}

}  // namespace peal
