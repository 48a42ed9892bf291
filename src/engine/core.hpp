// SPDX-License-Identifier: Apache-2.0
// One rank of a plan that is being carried out: its tape, its memory and its position. Because a
// plan has no control flow, a rank that has to wait is nothing but a number to come back to. What
// it does when, and who it tells, is the business of drive() (engine/contract.hpp).
//
// With several lanes it is one lane, or all of them: then one is at hand, and the others are set
// aside and come up when that one has to wait or is done.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/kernels/kernels.hpp"
#include "engine/tape.hpp"
#include "peal/plan.hpp"
#include "plan/signal_value.hpp"

namespace peal::engine {

namespace detail {

template <class Integer>
std::atomic_ref<Integer> atomic_at(std::byte* cell) {
    return std::atomic_ref<Integer>(*reinterpret_cast<Integer*>(cell));
}

}  // namespace detail

// Where a buffer of the plan is, as seen by one rank.
struct BoundBuffer {
    std::byte* base = nullptr;      // of the own argument, or of rank 0's part
    std::uint64_t rank_stride = 0;  // from one rank's part to the next; 0 if the memory is private
    std::int64_t generation = 0;    // signals only
};

// `memory` has where the plan's buffers are in this call. Adds what else a Core needs: tile memory,
// and where shifts move their buffers to in this call's turn.
void add_unnamed_memory(const Plan& plan, std::byte* tiles, std::vector<BoundBuffer>& memory);

// Of each source of a `far` op.
std::uint64_t source_bytes(const Op& op);

// Aligned, so that threads that carry different ranks do not share a line.
class alignas(kCacheLineBytes) Core {
public:
    // Begins a plan, with all its lanes. `memory` has one entry per buffer, one more for the
    // tile memory, whose stride is from lane to lane, and one for each shift. Both must outlive the
    // run.
    void start(const Tape& tape, std::span<const BoundBuffer> memory) {
        tape_ = &tape;
        memory_ = memory.data();
        next_ = tape.ops.data();
        end_ = std::to_address(tape.ops.end());
        if (has_more_ || tape.has_lanes) [[unlikely]]
            start_lanes();
    }
    // Begins one lane of it.
    void start(const Tape& tape, std::span<const BoundBuffer> memory, std::size_t lane);

    // ---- for drive(): the parts of an instruction

    // The lane at hand has been carried out; or, with others aside, one of those can be.
    bool is_at_end() const { return next_ == end_; }
    // The lane at hand is done: another comes up. False: there is none.
    bool take_lane() { return !aside_.empty() && take_last(); }
    // The lane at hand has to wait: another comes up that does not. False: there is none.
    bool turn_to_lane() { return !aside_.empty() && turn(); }
    // Whether the next instruction is a wait that cannot pass now, in all lanes.
    bool is_blocked() const {
        if (is_done() || (!is_at_end() && can_pass(op()))) return false;
        return aside_.empty() || is_blocked_aside();
    }
    bool can_pass(const Op& op) const {
        if (op.code == Opcode::wait) return can_pass(op, address(op.dst));
        return op.code != Opcode::wait_flag || is_set(op);
    }
    // The same for a wait whose cell is known.
    bool can_pass(const Op& wait, std::byte* cell) const;
    // Changes the cell to, or by, the value. Throws Error(wrong) when it overflows.
    void notify(const Op& op, std::byte* cell, std::int64_t value);
    // For who changes it otherwise: throws Error(wrong) when the value, or what an add of it left,
    // does not fit in the cell.
    void expect_fit(const Op& op, std::int64_t value) const;
    void expect_sum(const Op& op, std::int64_t before, std::int64_t value) const;
    // Anything but waits for signals, notifies and copies to and from peers out of reach.
    void carry_out(const Op& op);
    // Two of these, for who knows that it is one.
    [[gnu::always_inline]] void copy(const Op& op) {
        if (op.bytes <= kernels::kFewBytes) {
            kernels::copy_few(address(op.dst), address(op.src), op.bytes);
        } else {
            copy_more(op);
        }
    }
    void reduce(const Op& op);
    // `done` was the next one. (Who has its place need not read it back.)
    void go_on(const Op& done) { next_ = &done + 1; }
    // Whether something was stored that no store of this thread is ordered after.
    bool is_streaming() const { return has_streamed_; }
    // All that was stored is on its way to where others see it.
    void finish_streams() {
        if (has_streamed_) [[unlikely]]
            fence_streams();
    }

    // ---- for who waits

    // Looks at the wait at hand until it can pass, at most `times`, with a pause after each look.
    // At a plain wait, that is: at anything else, and at several lanes, once.
    template <class Pause>
    bool look(int times, Pause&& pause) const;
    // Whether a wait on such a cell, from here to the next notify, cannot pass yet.
    template <class IsSuch>
    bool lacks(IsSuch&& is_such) const;
    // Whether the next instruction is a notify.
    bool is_about_to_ring() const;
    bool is_done() const { return next_ == end_ && aside_.empty(); }

    const Plan& plan() const { return *tape_->plan; }
    // One entry per buffer of the plan.
    std::span<const BoundBuffer> memory() const { return {memory_, plan().buffers.size()}; }
    // Of the next instruction, in the plan.
    std::size_t position() const { return position_of(next_); }
    std::size_t lane() const { return lane_; }
    // Calls each(lane, position) for the lanes that are not done.
    template <class Each>
    void for_each_lane(Each&& each) const {
        if (!is_at_end()) each(lane_, position());
        for (const Lane& other : aside_) each(other.number, position_of(other.next));
    }
    const Op& op() const { return *next_; }       // the next
    const Op& last() const { return next_[-1]; }  // carried out
    std::byte* address(const Address& place) const {
        const BoundBuffer& buffer = memory_[place.buffer];
        return buffer.base + static_cast<std::uint64_t>(place.rank) * buffer.rank_stride +
               place.offset;
    }

    // What work on data reads: of each as many bytes as source_bytes().
    std::span<const Address> sources(const Op& op) const;

    // What the cell of a wait or notify holds now, and what its value is in this run.
    std::int64_t seen(const Op& op) const;
    std::int64_t value_of(const Op& op) const;

private:
    static std::int64_t seen_at(std::byte* cell, Element element);
    // A lane that is set aside, and not done.
    struct Lane {
        std::size_t number = 0;
        const Op* next = nullptr;
        const Op* end = nullptr;
        std::vector<SetFlag> flags;
    };

    void start_lanes();
    bool take_last();
    bool turn();
    bool is_blocked_aside() const;
    bool can_go_on(const Lane& lane) const;
    void swap_with(Lane& lane);
    std::size_t position_of(const Op* op) const {
        return static_cast<std::size_t>(op - tape_->ops.data());
    }
    void copy_more(const Op& op);
    void reduce_otherwise(const Op& op);
    bool is_set(const Op& op) const { return is_among(flags_, op); }
    static bool is_among(const std::vector<SetFlag>& flags, const Op& op);
    void ring_otherwise(const Op& op, std::byte* cell, std::int64_t value);
    template <class Integer>
    void add(std::byte* cell, Integer value);
    template <class Integer>
    void set(const Op& op, std::byte* cell, Integer value);
    template <class Integer>
    void expect_sum_of(Integer before, Integer value) const;
    void fence_streams();
    [[noreturn]] void throw_value_overflow() const;
    [[noreturn]] void throw_overflow(const std::string& what) const;

    const Tape* tape_ = nullptr;
    const BoundBuffer* memory_ = nullptr;
    const Op* next_ = nullptr;
    const Op* end_ = nullptr;
    bool has_streamed_ = false;
    bool has_more_ = false;       // than one lane without flags: what follows here may be in use
    std::vector<SetFlag> flags_;  // that are set
    std::vector<const void*> sources_;  // of the reduce at hand, if they are many
    std::size_t lane_ = 0;
    std::vector<Lane> aside_;
};

// A rank that waits looks here again and again, and a short call is little else: these are inline.

[[gnu::always_inline]] inline std::int64_t Core::value_of(const Op& op) const {
    std::int64_t value = 0;
    if (!plan::find_value(op.value, memory_[op.dst.buffer].generation, value)) [[unlikely]]
        throw_value_overflow();
    return value;
}

// Pairs with the release in notify(), whose value this is. Sequentially consistent for the sake of
// tapes whose notifies are; that costs no more than acquire.
[[gnu::always_inline]] inline std::int64_t Core::seen_at(std::byte* cell, Element element) {
    return element == Element::i64
               ? detail::atomic_at<std::int64_t>(cell).load(std::memory_order_seq_cst)
               : detail::atomic_at<std::int32_t>(cell).load(std::memory_order_seq_cst);
}
inline std::int64_t Core::seen(const Op& op) const { return seen_at(address(op.dst), op.element); }

[[gnu::always_inline]] inline bool Core::can_pass(const Op& wait, std::byte* cell) const {
    const std::int64_t value = value_of(wait);
    if (wait.is_plain) [[likely]]
        return seen_at(cell, Element::i64) >= value;
    return compares(seen_at(cell, wait.element), wait.compare, value);
}

// Release: pairs with the acquire in seen(). Whoever sees the new value sees all that this rank did
// before.
[[gnu::always_inline]] inline void Core::notify(const Op& op, std::byte* cell, std::int64_t value) {
    finish_streams();
    if (op.is_plain) [[likely]] {
        detail::atomic_at<std::int64_t>(cell).store(value, std::memory_order_release);
    } else {
        ring_otherwise(op, cell, value);
    }
}

// Of two sources are those of two ranks.
[[gnu::always_inline]] inline void Core::reduce(const Op& op) {
    if (op.fold == nullptr || op.source_count != 2) [[unlikely]]
        return reduce_otherwise(op);
    const Address* const places = tape_->sources.data() + op.first_source;
    const void* const sources[] = {address(places[0]), address(places[1])};
    op.fold(address(op.dst), sources, std::size(sources), op.bytes);
}

template <class Pause>
bool Core::look(int times, Pause&& pause) const {
    const bool is_plain = op().code == Opcode::wait && op().is_plain;
    if (!is_plain || !aside_.empty()) return !is_blocked();
    const auto cell = detail::atomic_at<std::int64_t>(address(op().dst));
    const std::int64_t value = value_of(op());
    for (int i = 0; i < times; ++i) {
        if (cell.load(std::memory_order_seq_cst) >= value) return true;
        pause(i);
    }
    return false;
}

template <class IsSuch>
bool Core::lacks(IsSuch&& is_such) const {
    for (const Op* op = next_; op != end_; ++op) {
        if (is_notify(op->code)) return false;
        if (op->code != Opcode::wait || !is_such(op->dst)) continue;
        if (!can_pass(*op)) return true;
    }
    return false;
}

}  // namespace peal::engine
