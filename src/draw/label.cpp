// SPDX-License-Identifier: Apache-2.0
#include "draw/label.hpp"

#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "plan/access.hpp"

namespace peal::draw {
namespace {

class Writer {
public:
    Writer(const Plan& plan, std::int64_t generation) : plan_(plan), generation_(generation) {}

    std::string operator()(const Copy& copy) const {
        return fmt::format("copy {} <- {}", range(copy.dst), range(copy.src));
    }
    std::string operator()(const Reduce& reduce) const {
        return fmt::format("{} {} <- {}", name(reduce.op), range(reduce.dst), sources(reduce.src));
    }
    std::string operator()(const Accumulate& accumulate) const {
        return fmt::format("accumulate {} <- {}", range(accumulate.dst), range(accumulate.src));
    }
    std::string operator()(const Map& map) const {
        return fmt::format("{} {} <- {}", name(map.op), range(map.dst), operand(map));
    }
    std::string operator()(const Notify& notify) const {
        return fmt::format("notify {} {} {}", cell(notify.cell),
                           notify.op == NotifyOp::set ? "=" : "+=", value(notify.value));
    }
    std::string operator()(const Wait& wait) const {
        return fmt::format("wait {} {} {}", cell(wait.cell), symbol(wait.compare),
                           value(wait.value));
    }
    std::string operator()(const SetFlag& flag) const { return flag_text("set_flag", flag); }
    std::string operator()(const WaitFlag& flag) const { return flag_text("wait_flag", flag); }
    std::string operator()(const PipeBarrier& barrier) const {
        return fmt::format("pipe_barrier {}", name(barrier.pipe));
    }

private:
    std::string operand(const Map& map) const {
        switch (map.op) {
            case MapOp::fill: return fmt::format("{}", map.scalar);
            case MapOp::convert:
            case MapOp::row_sum: return range(map.src);
            case MapOp::clobber: return "anything";
            case MapOp::add_scalar:
            case MapOp::mul_scalar: break;
        }
        return fmt::format("{}, {}", range(map.src), map.scalar);
    }

    template <class Flag>
    static std::string flag_text(std::string_view verb, const Flag& flag) {
        return fmt::format("{} {} -> {} #{}", verb, name(flag.from), name(flag.to), flag.event);
    }

    std::string buffer(std::uint16_t index) const {
        if (index == kTile) return "tile";
        if (index < plan_.buffers.size()) return plan_.buffers[index].name;
        return fmt::format("buffer#{}", index);
    }
    std::string whose(std::int32_t rank) const {
        return rank == plan_.rank ? "" : fmt::format("@{}", rank);
    }
    std::int64_t value(const Value& value) const {
        return value.constant + value.per_generation * generation_;
    }
    std::string cell(const Cell& cell) const {
        return fmt::format("{}[{}]{}", buffer(cell.buffer), cell.index, whose(cell.rank));
    }

    bool is_whole(const Range& range) const {
        if (range.buffer != kTile && range.buffer >= plan_.buffers.size()) return false;
        const std::uint64_t bytes =
            is_tile(range) ? plan_.tile_bytes : plan_.buffers[range.buffer].bytes;
        return range.offset == 0 && range.length == bytes;
    }
    std::string bytes(const Range& range) const {
        return is_whole(range) ? "" : fmt::format("[{}..{})", range.offset, end_of(range));
    }
    std::string range(const Range& range) const {
        return buffer(range.buffer) + whose(range.rank) + bytes(range);
    }

    // The same bytes of consecutive ranks are one source: "data@0..3".
    std::string sources(const std::vector<Range>& list) const {
        std::string text;
        for (std::size_t first = 0; first < list.size();) {
            std::size_t last = first;
            while (last + 1 < list.size() && follows(list[last + 1], list[last])) ++last;
            if (first > 0) text += ", ";
            text += last == first
                        ? range(list[first])
                        : fmt::format("{}@{}..{}{}", buffer(list[first].buffer), list[first].rank,
                                      list[last].rank, bytes(list[first]));
            first = last + 1;
        }
        return text;
    }
    static bool follows(Range next, const Range& before) {
        --next.rank;
        return next == before;
    }

    const Plan& plan_;
    std::int64_t generation_;
};

}  // namespace

std::string short_label(const Instruction& instruction, const Plan& plan, std::int64_t generation) {
    std::string label = std::visit(Writer(plan, generation), instruction.action);
    if (instruction.pipe != Pipe::none) label += fmt::format(" on {}", name(instruction.pipe));
    return label;
}

}  // namespace peal::draw
