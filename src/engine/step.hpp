// SPDX-License-Identifier: Apache-2.0
// The interpreter: one rank's plan, its memory and its program counter. Because a plan has no
// control flow, a rank that has to wait is nothing but a number to come back to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "peal/plan.hpp"

namespace peal {

// Where a buffer of the plan is, as seen by one rank.
struct BoundBuffer {
    std::byte* base = nullptr;       // of the own argument, or of rank 0's part
    std::uint64_t rank_stride = 0;   // from one rank's part to the next; 0 if the memory is private
    std::uint64_t cell_stride = 0;   // signals only
    std::int64_t generation = 0;     // signals only
    Element element = Element::f32;  // of a signal: what a cell is
};

enum class Outcome : std::uint8_t {
    progressed,  // an instruction was carried out
    rang,        // a notify was carried out: another rank may be able to go on
    blocked,     // the instruction has to wait; nothing was done
    done,        // the plan has been carried out
};

// Aligned, so that threads that carry different ranks do not share a line.
class alignas(kCacheLineBytes) Core {
public:
    // Begins a valid plan. `memory` has one entry per buffer. The plan must outlive the run.
    void start(const Plan& plan, std::span<const BoundBuffer> memory, std::byte* tile);

    // Carries out the next instruction. Throws Error(wrong) when a signal overflows.
    Outcome step();

    // Whether step() would return blocked.
    bool is_blocked() const;
    // Whether the next instruction is a notify.
    bool is_about_to_ring() const;
    bool is_done() const { return position_ == plan_->instructions.size(); }

    const Plan& plan() const { return *plan_; }
    std::size_t position() const { return position_; }  // of the next instruction

    // What a cell holds now, and what a value is in this run.
    std::int64_t seen(const Cell& cell) const;
    std::int64_t value_of(const Value& value, const Cell& cell) const;

private:
    Outcome carry_out(const Copy& copy);
    Outcome carry_out(const Reduce& reduce);
    Outcome carry_out(const Map& map);
    Outcome carry_out(const Notify& notify);
    Outcome carry_out(const Wait& wait);
    Outcome carry_out(const SetFlag& flag);
    Outcome carry_out(const WaitFlag& flag);
    Outcome carry_out(const PipeBarrier& barrier);

    bool is_satisfied(const Wait& wait) const;
    bool is_set(const WaitFlag& flag) const;
    template <class Integer>
    void ring(const Notify& notify, std::int64_t value);

    std::byte* address(const Range& range) const;
    std::byte* address(const Cell& cell) const;
    [[noreturn]] void throw_overflow(const std::string& what) const;

    const Plan* plan_ = nullptr;
    std::size_t position_ = 0;
    std::vector<BoundBuffer> memory_;
    std::byte* tile_ = nullptr;
    std::vector<SetFlag> flags_;        // that are set
    std::vector<const void*> sources_;  // of the reduce at hand
};

}  // namespace peal
