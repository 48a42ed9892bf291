// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "plan/access.hpp"
#include "plan/arithmetic.hpp"
#include "plan/faults.hpp"
#include "plan/names.hpp"
#include "plan/titles.hpp"

namespace peal::plan {
namespace {

using Kind = PlanFault::Kind;

std::string memory_text(const Plan& plan, const Range& range) {
    const std::string bytes = fmt::format("[{}..{})", range.offset, end_of(range));
    if (is_tile(range)) return "tile" + bytes;
    return fmt::format("{}@{}{}", plan.buffers[range.buffer].name, range.rank, bytes);
}

// Each check returns whether all is well, and notes the fault if it is not.
class InstructionCheck {
public:
    InstructionCheck(const Plan& plan, std::size_t index) : plan_(plan), index_(index) {}

    std::optional<PlanFault> run() {
        std::visit([&](const auto& action) { check(action) && group(action); },
                   plan_.instructions[index_].action);
        return std::move(fault_);
    }

    std::optional<PlanFault> run_shifts() {
        const Action& action = plan_.instructions[index_].action;
        const auto look = [&](const Range& range) { fault_ || shift(range); };
        for_each_range(action, look);
        if (const auto* evict = std::get_if<Evict>(&action)) look(evict->range);
        return std::move(fault_);
    }

private:
    // ------------------------------------------------------------------------ actions

    bool check(const Copy& copy) {
        return data_pipe() && written(copy.dst) && range(copy.src, "the source") &&
               same_length(copy.dst, copy.src) && disjoint(copy.dst, copy.src);
    }
    bool check(const Reduce& reduce) {
        if (!data_pipe()) return false;
        if (reduce.src.empty()) return fail("a reduction needs at least one source");
        if (!written(reduce.dst) || !whole_elements(reduce.dst, reduce.element)) return false;
        for (const Range& source : reduce.src) {
            if (!element_wise(reduce.dst, source)) return false;
        }
        return true;
    }
    bool check(const Accumulate& accumulate) {
        const auto& [element, dst, src] = accumulate;
        return data_pipe() && written(dst) && range(src, "the source") && same_length(dst, src) &&
               whole_elements(dst, element) && disjoint(dst, src) && aligned(dst, element);
    }
    bool check(const Map& map) {
        return data_pipe() && written(map.dst) && whole_elements(map.dst, map.element) &&
               mapped(map) && scalar(map);
    }
    bool check(const Notify& notify) {
        return sync_pipe() && cell(notify.cell) && value(notify.value, notify.cell);
    }
    bool check(const Wait& wait) {
        if (!sync_pipe() || !cell(wait.cell)) return false;
        if (wait.cell.rank != plan_.rank) return fail("a rank can wait on its own cells only");
        return value(wait.value, wait.cell);
    }
    bool check(const SetFlag& flag) { return flag_pipes(flag.from, flag.to); }
    bool check(const WaitFlag& flag) { return flag_pipes(flag.from, flag.to); }
    bool check(const PipeBarrier& barrier) {
        return barrier.pipe != Pipe::none || fail("a barrier needs a pipe to drain");
    }
    bool check(const Fence& fence) {
        if (!issuing_pipe("a fence runs on the scalar pipe")) return false;
        return fence.group != kCached ||
               fail("what is cached is no group: it is complete by a fence of group 0");
    }
    bool check(const Evict& evict) {
        if (!issuing_pipe("the cache is that of the scalar pipe")) return false;
        if (is_tile(evict.range)) return fail("tile memory is not cached");
        return range(evict.range, "what is evicted");
    }

    // ------------------------------------------------------------------------ completion

    template <class Any>
    bool group(const Any& /*sync*/) {
        return group() == 0 || fail("only work on data is deferred or cached");
    }
    bool group(const Copy& /*copy*/) { return data_group(); }
    bool group(const Reduce& /*reduce*/) { return data_group(); }
    bool group(const Accumulate& /*accumulate*/) { return data_group(); }
    bool group(const Map& /*map*/) { return data_group(); }

    std::uint16_t group() const { return plan_.instructions[index_].group; }
    bool data_group() {
        return group() == 0 ||
               issuing_pipe("work that is deferred or cached is issued by the scalar pipe");
    }
    bool issuing_pipe(std::string_view rule) {
        return pipe() == Pipe::none || pipe() == Pipe::scalar || fail("{}", rule);
    }

    // ------------------------------------------------------------------------ faults

    template <class... Args>
    bool fail_as(Kind kind, std::string memory, fmt::format_string<Args...> format,
                 Args&&... args) {
        PlanFault& fault = fault_.emplace();
        fault.kind = kind;
        fault.instruction = index_;
        fault.memory = std::move(memory);
        fault.where = fmt::format("{}, {}", plan_title(plan_), instruction_title(plan_, index_));
        fault.message = fmt::format(format, std::forward<Args>(args)...);
        return false;
    }
    template <class... Args>
    bool fail(fmt::format_string<Args...> format, Args&&... args) {
        return fail_as(Kind::instruction, "", format, std::forward<Args>(args)...);
    }

    // ------------------------------------------------------------------------ ranges

    bool rank(std::int32_t rank, const std::string& memory) {
        if (rank >= 0 && rank < plan_.nranks) return true;
        return fail_as(Kind::out_of_range, memory, "there is no rank {}, expected 0..{}", rank,
                       plan_.nranks - 1);
    }

    bool shift(const Range& range) {
        const std::vector<Shift>& shifts = plan_.turns.shifts;
        if (range.shift == 0) return true;
        if (range.shift > shifts.size()) {
            return fail("a range moves by shift {}, the plan has {}", range.shift, shifts.size());
        }
        return range.buffer == shifts[range.shift - 1U].buffer ||
               fail("a range moves by shift {}, which is of another buffer", range.shift);
    }

    bool range(const Range& range, std::string_view what) {
        if (!shift(range)) return false;
        if (is_tile(range)) {
            return own(range, what, "tile memory") &&
                   inside(range, what, "tile memory", plan_.tile_bytes);
        }
        if (range.buffer >= plan_.buffers.size()) {
            return fail("{} is in buffer {}, but there are {}", what, range.buffer,
                        plan_.buffers.size());
        }
        const Buffer& buffer = plan_.buffers[range.buffer];
        if (buffer.kind == BufferKind::signal) {
            return fail("{} is in signal '{}', which only notify and wait may touch", what,
                        buffer.name);
        }
        const bool reached = buffer.kind == BufferKind::window ? rank(range.rank, buffer.name)
                                                               : own(range, what, buffer.name);
        return reached && inside(range, what, buffer.name, buffer.bytes);
    }
    bool own(const Range& range, std::string_view what, std::string_view place) {
        if (range.rank == plan_.rank) return true;
        return fail("{} is in {} of rank {}, but only windows have peers", what, place, range.rank);
    }
    bool inside(const Range& range, std::string_view what, std::string_view place,
                std::uint64_t bytes) {
        if (range.offset <= bytes && range.length <= bytes - range.offset) return true;
        return fail_as(Kind::out_of_range, memory_text(plan_, range),
                       "{} leaves {}, which has {} bytes", what, place, bytes);
    }

    // What the caller says is only read holds the same afterwards.
    bool written(const Range& dst) {
        if (!range(dst, "the destination")) return false;
        if (is_tile(dst) || dst.length == 0) return true;
        const Buffer& buffer = plan_.buffers[dst.buffer];
        if (buffer.kind != BufferKind::argument || buffer.direction != Direction::in) return true;
        return fail_as(Kind::input_write, memory_text(plan_, dst),
                       "the destination is in '{}', which is an input: only out and inout "
                       "arguments are written",
                       buffer.name);
    }

    // ------------------------------------------------------------------------ sizes

    bool same_length(const Range& dst, const Range& src) {
        return dst.length == src.length ||
               fail("the destination has {} bytes, a source has {}", dst.length, src.length);
    }
    bool whole_elements(const Range& dst, Element element) {
        return dst.length % bytes_of(element) == 0 ||
               fail("{} bytes are no whole number of {} elements", dst.length, name(element));
    }
    bool aligned(const Range& dst, Element element) {
        return dst.offset % bytes_of(element) == 0 ||
               fail(
                   "the destination starts at byte {}, which is no multiple of {}: {} is added to "
                   "atomically",
                   dst.offset, bytes_of(element), name(element));
    }
    bool element_wise(const Range& dst, const Range& src) {
        return range(src, "a source") && same_length(dst, src) && apart(dst, src);
    }
    bool mapped(const Map& map) {
        if (map.op == MapOp::convert) return converted(map);
        if (map.op == MapOp::row_sum) return summed(map);
        return !has_source(map.op) || element_wise(map.dst, map.src);
    }
    bool converted(const Map& map) {
        if (!range(map.src, "the source") || !whole_elements(map.src, map.from)) return false;
        const std::uint64_t wanted = map.src.length / bytes_of(map.from);
        const std::uint64_t found = map.dst.length / bytes_of(map.element);
        if (wanted != found) {
            return fail("the destination has {} elements, the source has {}", found, wanted);
        }
        return apart(map.dst, map.src);
    }
    bool summed(const Map& map) {
        if (!range(map.src, "the source") || !whole_elements(map.src, map.element)) return false;
        if (map.dst.length != bytes_of(map.element) || map.src.length == 0) {
            return fail("a row of one element or more is summed up in one element");
        }
        return apart(map.dst, map.src);
    }
    bool scalar(const Map& map) {
        return fits(map.scalar, map.element) ||
               fail("the scalar {} is not a value of {}", map.scalar, name(map.element));
    }

    bool disjoint(const Range& dst, const Range& src) {
        return !overlaps(dst, src) || fail_overlap(src, "the destination overlaps the source");
    }
    bool apart(const Range& dst, const Range& src) {
        return equal_or_disjoint(dst, src) ||
               fail_overlap(src, "the destination overlaps a source in part");
    }
    bool fail_overlap(const Range& src, std::string_view message) {
        return fail_as(is_tile(src) ? Kind::tile_overlap : Kind::instruction,
                       memory_text(plan_, src), "{}", message);
    }

    // ------------------------------------------------------------------------ cells

    bool cell(const Cell& cell) {
        if (cell.buffer >= plan_.buffers.size() ||
            plan_.buffers[cell.buffer].kind != BufferKind::signal) {
            return fail("buffer {} is not a signal", cell.buffer);
        }
        const Buffer& buffer = plan_.buffers[cell.buffer];
        if (!rank(cell.rank, buffer.name)) return false;
        if (cell.index < buffer.cells) return true;
        return fail_as(
            Kind::out_of_range, fmt::format("{}[{}]@{}", buffer.name, cell.index, cell.rank),
            "there is no cell {} in '{}', which has {}", cell.index, buffer.name, buffer.cells);
    }
    bool value(const Value& value, const Cell& cell) {
        const Element element = plan_.buffers[cell.buffer].element;
        for (const std::int64_t part : {value.constant, value.per_generation}) {
            if (!fits(part, element)) return fail("{} is not a value of {}", part, name(element));
        }
        return true;
    }

    // ------------------------------------------------------------------------ pipes

    Pipe pipe() const { return plan_.instructions[index_].pipe; }
    bool data_pipe() { return pipe() != Pipe::all || fail("data instructions run on one pipe"); }
    bool sync_pipe() { return issuing_pipe("notify and wait run on the scalar pipe"); }
    bool flag_pipes(Pipe from, Pipe to) {
        const auto is_one = [](Pipe pipe) { return pipe != Pipe::none && pipe != Pipe::all; };
        return (is_one(from) && is_one(to) && from != to) ||
               fail("a flag goes from one pipe to another");
    }

    const Plan& plan_;
    std::size_t index_;
    std::optional<PlanFault> fault_;
};

}  // namespace

std::optional<PlanFault> fault_of_instruction(const Plan& plan, std::size_t index) {
    return InstructionCheck(plan, index).run();
}

std::optional<PlanFault> fault_of_shifts(const Plan& plan, std::size_t index) {
    return InstructionCheck(plan, index).run_shifts();
}

}  // namespace peal::plan
