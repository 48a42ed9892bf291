// SPDX-License-Identifier: Apache-2.0
// Which ranges an action reads and writes: the one answer for validation, counting, fusing and
// tile placement.
#pragma once

#include <type_traits>
#include <variant>

#include "peal/plan.hpp"

namespace peal::plan {

inline std::uint64_t end_of(const Range& range) { return range.offset + range.length; }

inline bool is_tile(const Range& range) { return range.buffer == kTile; }

// Who may use a buffer of the plan while one of its lanes is between two notifies or waits.
enum class Sharing : std::uint8_t {
    peers,  // other ranks, and so windows: there is one lane
    lanes,  // and other lanes, and so arguments that are written
};

inline Sharing sharing_of(const Plan& plan) {
    return plan.lanes.empty() ? Sharing::peers : Sharing::lanes;
}

inline bool is_shared(const Buffer& buffer, Sharing sharing) {
    if (buffer.kind != BufferKind::argument) return true;
    return sharing == Sharing::lanes && buffer.direction != Direction::in;
}

inline bool same_memory(const Range& a, const Range& b) {
    return a.buffer == b.buffer && a.rank == b.rank;
}

// Ranges that move differently from turn to turn may meet in one of them.
inline bool overlaps(const Range& a, const Range& b) {
    const bool may_meet = a.shift != b.shift || (a.offset < end_of(b) && b.offset < end_of(a));
    return same_memory(a, b) && may_meet && a.length != 0 && b.length != 0;
}

// What element-wise work asks of a destination and a source: they are the same bytes or have none
// in common.
inline bool equal_or_disjoint(const Range& a, const Range& b) { return a == b || !overlaps(a, b); }

inline bool has_source(MapOp op) { return op != MapOp::fill && op != MapOp::clobber; }

// Calls read(range) for each range that the action reads, in order, then write(range) for the one
// it writes, or accumulate(range) for the one it adds to. Syncs touch no ranges. With a mutable
// action the ranges can be changed.
template <class AnyAction, class Read, class Write, class Accumulates>
void for_each_access(AnyAction& action, Read&& read, Write&& write, Accumulates&& accumulate) {
    std::visit(
        [&](auto& what) {
            using What = std::remove_cvref_t<decltype(what)>;
            if constexpr (std::is_same_v<What, Copy>) {
                read(what.src);
                write(what.dst);
            } else if constexpr (std::is_same_v<What, Reduce>) {
                for (auto& source : what.src) read(source);
                write(what.dst);
            } else if constexpr (std::is_same_v<What, Accumulate>) {
                read(what.src);
                accumulate(what.dst);
            } else if constexpr (std::is_same_v<What, Map>) {
                if (has_source(what.op)) read(what.src);
                write(what.dst);
            }
        },
        action);
}

// What is added to is both read and written.
template <class AnyAction, class Read, class Write>
void for_each_access(AnyAction& action, Read&& read, Write&& write) {
    for_each_access(action, read, write, [&](auto& range) {
        read(range);
        write(range);
    });
}

template <class AnyAction, class Each>
void for_each_range(AnyAction& action, Each&& each) {
    for_each_access(action, each, each, each);
}

inline std::size_t range_count(const Action& action) {
    std::size_t count = 0;
    for_each_range(action, [&](const Range&) { ++count; });
    return count;
}

// What the place of an action's destination must be a multiple of.
inline std::uint64_t alignment_of(const Action& action) {
    const auto* accumulate = std::get_if<Accumulate>(&action);
    return accumulate ? bytes_of(accumulate->element) : 1;
}

inline bool is_sync(const Action& action) {
    return std::holds_alternative<Notify>(action) || std::holds_alternative<Wait>(action);
}

// Says when work is complete; does nothing where it is done in its turn.
inline bool is_completion(const Action& action) {
    return std::holds_alternative<Fence>(action) || std::holds_alternative<Evict>(action);
}

// Orders the pipes of one rank; does nothing where there are none.
inline bool is_pipe_sync(const Action& action) {
    return std::holds_alternative<SetFlag>(action) || std::holds_alternative<WaitFlag>(action) ||
           std::holds_alternative<PipeBarrier>(action);
}

}  // namespace peal::plan
