// SPDX-License-Identifier: Apache-2.0
#include "engine/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include "engine/kernels/kernels.hpp"
#include "engine/place.hpp"
#include "peal/error.hpp"

namespace peal {
namespace {

template <class Integer>
std::atomic_ref<Integer> atomic_at(std::byte* cell) {
    return std::atomic_ref<Integer>(*reinterpret_cast<Integer*>(cell));
}

template <class Integer>
std::string_view type_name() {
    return name(sizeof(Integer) == sizeof(std::int64_t) ? Element::i64 : Element::i32);
}

auto matches(const WaitFlag& wanted) {
    return [&wanted](const SetFlag& set) {
        return set.from == wanted.from && set.to == wanted.to && set.event == wanted.event;
    };
}

}  // namespace

void Core::start(const Plan& plan, std::span<const BoundBuffer> memory, std::byte* tile) {
    plan_ = &plan;
    position_ = 0;
    memory_.assign(memory.begin(), memory.end());
    tile_ = tile;
    flags_.clear();
}

Outcome Core::step() {
    if (is_done()) return Outcome::done;
    const Outcome outcome = std::visit([this](const auto& action) { return carry_out(action); },
                                       plan_->instructions[position_].action);
    if (outcome != Outcome::blocked) ++position_;
    return outcome;
}

bool Core::is_blocked() const {
    if (is_done()) return false;
    const Action& action = plan_->instructions[position_].action;
    if (const auto* wait = std::get_if<Wait>(&action)) return !is_satisfied(*wait);
    if (const auto* flag = std::get_if<WaitFlag>(&action)) return !is_set(*flag);
    return false;
}

bool Core::is_about_to_ring() const {
    return !is_done() && std::holds_alternative<Notify>(plan_->instructions[position_].action);
}

std::byte* Core::address(const Range& range) const {
    if (range.buffer == kTile) return tile_ + range.offset;
    const BoundBuffer& buffer = memory_[range.buffer];
    return buffer.base + static_cast<std::uint64_t>(range.rank) * buffer.rank_stride + range.offset;
}

std::byte* Core::address(const Cell& cell) const {
    const BoundBuffer& buffer = memory_[cell.buffer];
    return buffer.base + static_cast<std::uint64_t>(cell.rank) * buffer.rank_stride +
           cell.index * buffer.cell_stride;
}

// ---------------------------------------------------------------------------- data

Outcome Core::carry_out(const Copy& copy) {
    kernels::copy_bytes(address(copy.dst), address(copy.src), copy.dst.length);
    return Outcome::progressed;
}

Outcome Core::carry_out(const Reduce& reduce) {
    sources_.clear();
    for (const Range& source : reduce.src) sources_.push_back(address(source));
    kernels::reduce(reduce.element, reduce.op, address(reduce.dst), sources_,
                    reduce.dst.length / bytes_of(reduce.element));
    return Outcome::progressed;
}

Outcome Core::carry_out(const Map& map) {
    const void* source = map.op == MapOp::fill ? nullptr : address(map.src);
    kernels::map(map.op, map.element, map.scalar, address(map.dst), source,
                 map.dst.length / bytes_of(map.element));
    return Outcome::progressed;
}

// ---------------------------------------------------------------------------- signals

std::int64_t Core::value_of(const Value& value, const Cell& cell) const {
    std::int64_t moved = 0;
    std::int64_t result = 0;
    if (__builtin_mul_overflow(value.per_generation, memory_[cell.buffer].generation, &moved) ||
        __builtin_add_overflow(value.constant, moved, &result)) {
        throw_overflow("the value does not fit in 64 bits");
    }
    return result;
}

std::int64_t Core::seen(const Cell& cell) const {
    // Acquire: pairs with the release in ring(), of the notify whose value this is.
    std::byte* at = address(cell);
    return memory_[cell.buffer].element == Element::i64
               ? atomic_at<std::int64_t>(at).load(std::memory_order_acquire)
               : atomic_at<std::int32_t>(at).load(std::memory_order_acquire);
}

bool Core::is_satisfied(const Wait& wait) const {
    return compares(seen(wait.cell), wait.compare, value_of(wait.value, wait.cell));
}

Outcome Core::carry_out(const Wait& wait) {
    return is_satisfied(wait) ? Outcome::progressed : Outcome::blocked;
}

Outcome Core::carry_out(const Notify& notify) {
    const std::int64_t value = value_of(notify.value, notify.cell);
    if (memory_[notify.cell.buffer].element == Element::i64) {
        ring<std::int64_t>(notify, value);
    } else {
        ring<std::int32_t>(notify, value);
    }
    return Outcome::rang;
}

// Release: pairs with the acquire in seen(). Whoever sees the new value sees all that this rank did
// before. An add also hands on what the cell's earlier notifiers did, because a read-modify-write
// continues their release sequences.
template <class Integer>
void Core::ring(const Notify& notify, std::int64_t value) {
    std::atomic_ref<Integer> cell = atomic_at<Integer>(address(notify.cell));
    if (!std::in_range<Integer>(value)) {
        throw_overflow(fmt::format("{} does not fit in {}", value, type_name<Integer>()));
    }
    const auto operand = static_cast<Integer>(value);
    if (notify.op == NotifyOp::set) {
        cell.store(operand, std::memory_order_release);
        return;
    }
    const Integer before = cell.fetch_add(operand, std::memory_order_release);
    Integer after = 0;
    if (__builtin_add_overflow(before, operand, &after)) {
        throw_overflow(
            fmt::format("{} + {} does not fit in {}", before, operand, type_name<Integer>()));
    }
}

void Core::throw_overflow(const std::string& what) const {
    const Instruction& instruction = plan_->instructions[position_];
    throw Error(Fault::wrong, fmt::format("signal overflow: rank {}  instruction {}  {}{}\n  {}",
                                          plan_->rank, position_, to_text(instruction, *plan_),
                                          source_note(*plan_, instruction), what));
}

// ---------------------------------------------------------------------------- pipes

// This core carries out instructions in order, whatever pipe they name, so flags and barriers order
// nothing that is not in order already. Only a flag that nobody set is felt.

Outcome Core::carry_out(const SetFlag& flag) {
    flags_.push_back(flag);
    return Outcome::progressed;
}

bool Core::is_set(const WaitFlag& flag) const {
    return std::any_of(flags_.begin(), flags_.end(), matches(flag));
}

Outcome Core::carry_out(const WaitFlag& flag) {
    if (!is_set(flag)) return Outcome::blocked;
    std::erase_if(flags_, matches(flag));
    return Outcome::progressed;
}

Outcome Core::carry_out(const PipeBarrier& /*barrier*/) { return Outcome::progressed; }

}  // namespace peal
