// SPDX-License-Identifier: Apache-2.0
// What a plan is, as 128 bits. Each struct is taken apart whole: a field that is added does not
// compile until it is counted here.
#include <bit>
#include <type_traits>

#include "base/digest.hpp"
#include "peal/plan.hpp"

namespace peal {
namespace {

// Raised when a plan that stays the same gets another digest.
constexpr std::uint64_t kForm = 1;

class PlanDigest {
public:
    explicit PlanDigest(const Plan& plan) { put(plan); }
    std::string text() const { return digest_.text(); }

private:
    template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T>
    void put(T value) {
        if constexpr (std::is_floating_point_v<T>) {
            digest_.add(std::bit_cast<std::uint64_t>(double{value}));
        } else {
            digest_.add(static_cast<std::uint64_t>(value));
        }
    }

    template <class First, class Second, class... More>
    void put(const First& first, const Second& second, const More&... more) {
        put(first);
        put(second);
        (put(more), ...);
    }

    template <class T>
    void put(const std::vector<T>& list) {
        digest_.add(std::uint64_t{list.size()});
        for (const T& entry : list) put(entry);
    }

    void put(const std::string& text) { digest_.add(text); }

    void put(const Range& range) {
        const auto& [buffer, shift, rank, offset, length] = range;
        // Most ranges have no shift, and are as they were before there were any.
        put(std::uint64_t{buffer} + (shift != 0 ? std::uint64_t{1} << 16U : 0), rank, offset,
            length);
        if (shift != 0) put(shift);
    }

    void put(const Cell& cell) {
        const auto& [buffer, rank, index] = cell;
        put(buffer, rank, index);
    }

    void put(const Value& value) {
        const auto& [constant, per_generation] = value;
        put(constant, per_generation);
    }

    void put(const Copy& copy) {
        const auto& [dst, src] = copy;
        put(dst, src);
    }

    void put(const Reduce& reduce) {
        const auto& [op, element, dst, src] = reduce;
        put(op, element, dst, src);
    }

    void put(const Accumulate& accumulate) {
        const auto& [element, dst, src] = accumulate;
        put(element, dst, src);
    }

    void put(const Map& map) {
        const auto& [op, element, scalar, dst, src, from] = map;
        put(op, element, scalar, dst, src, from);
    }

    void put(const Notify& notify) {
        const auto& [op, cell, value] = notify;
        put(op, cell, value);
    }

    void put(const Wait& wait) {
        const auto& [compare, cell, value] = wait;
        put(compare, cell, value);
    }

    void put(const SetFlag& set) {
        const auto& [from, to, event] = set;
        put(from, to, event);
    }

    void put(const WaitFlag& wait) {
        const auto& [from, to, event] = wait;
        put(from, to, event);
    }

    void put(const PipeBarrier& barrier) {
        const auto& [pipe] = barrier;
        put(pipe);
    }

    void put(const Fence& fence) {
        const auto& [group] = fence;
        put(group);
    }

    void put(const Evict& evict) {
        const auto& [range] = evict;
        put(range);
    }

    void put(const Instruction& instruction) {
        const auto& [action, pipe, line, joined, round, group, origins] = instruction;
        static_cast<void>(line);
        static_cast<void>(round);
        static_cast<void>(origins);
        digest_.add(std::uint64_t{action.index()});
        std::visit([&](const auto& what) { put(what); }, action);
        // Most instructions have no group, and are as they were before there were any.
        put(pipe, (joined ? 1 : 0) + (group != 0 ? 2 : 0));
        if (group != 0) put(group);
    }

    void put(const Buffer& buffer) {
        const auto& [name, kind, direction, element, bytes, cells, cell_stride] = buffer;
        put(name, kind, direction, element, bytes, cells, cell_stride);
    }

    void put(const Shift& shift) {
        const auto& [buffer, by] = shift;
        put(buffer, by);
    }

    void put(const Turns& turns) {
        const auto& [signal, every, count, shifts] = turns;
        put(signal, every, count, shifts);
    }

    void put(const Plan& plan) {
        const auto& [kernel, rank, nranks, buffers, tile_bytes, instructions, lanes, advance, turns,
                     source, notes] = plan;
        static_cast<void>(source);
        static_cast<void>(notes);
        put(kForm, kernel, rank, nranks, buffers, tile_bytes, instructions, advance);
        if (!lanes.empty()) put(lanes);
        if (turns.count != 1) put(turns);
    }

    base::Digest digest_;
};

}  // namespace

std::string digest(const Plan& plan) { return PlanDigest(plan).text(); }

}  // namespace peal
