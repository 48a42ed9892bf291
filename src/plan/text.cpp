// SPDX-License-Identifier: Apache-2.0
// Plans as text. As in programs, `data` is the own window and `data@2` the one of rank 2; ranges
// are in bytes. Plans that are not valid print too: their errors quote them.
#include "plan/text.hpp"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "plan/access.hpp"
#include "plan/names.hpp"
#include "plan/notes.hpp"
#include "plan/titles.hpp"
#include "plan/turns.hpp"

namespace peal::plan {
namespace {

std::string plural(std::uint64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string sum_of(const Value& value) {
    const std::int64_t factor = value.per_generation;
    if (factor == 0) return std::to_string(value.constant);
    std::string text = factor == 1 ? "generation" : fmt::format("{}*generation", factor);
    if (value.constant > 0) text += fmt::format(" + {}", value.constant);
    if (value.constant < 0) text += fmt::format(" - {}", std::to_string(value.constant).substr(1));
    return text;
}

// Writes the instructions of one plan.
class Writer {
public:
    Writer(const Plan& plan, const TextOptions& options) : plan_(plan), options_(options) {}

    std::string operator()(const Copy& copy) const {
        return fmt::format("copy {} <- {}", range(copy.dst), range(copy.src));
    }
    std::string operator()(const Reduce& reduce) const {
        return fmt::format("{}{} {}{} <- {}", options_.brief ? "" : "reduce ", name(reduce.op),
                           type(reduce.element), range(reduce.dst), sources(reduce.src));
    }
    std::string operator()(const Accumulate& accumulate) const {
        return fmt::format("accumulate {}{} <- {}", type(accumulate.element), range(accumulate.dst),
                           range(accumulate.src));
    }
    std::string operator()(const Map& map) const {
        return fmt::format("{} {}{} <- {}", name(map.op), type(map.element), range(map.dst),
                           operand(map));
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
    std::string operator()(const Fence& fence) const {
        return fence.group == 0 ? "fence" : fmt::format("fence #{}", fence.group);
    }
    std::string operator()(const Evict& evict) const {
        return fmt::format("evict {}", range(evict.range));
    }

private:
    template <class Flag>
    std::string flag_text(std::string_view verb, const Flag& flag) const {
        return fmt::format("{} {} -> {}{}{}", verb, name(flag.from), name(flag.to),
                           options_.brief ? " #" : ", event ", flag.event);
    }
    std::string operand(const Map& map) const {
        switch (map.op) {
            case MapOp::fill: return fmt::format("{}", map.scalar);
            case MapOp::convert: return type(map.from) + range(map.src);
            case MapOp::row_sum: return range(map.src);
            case MapOp::clobber: return "anything";
            case MapOp::add_scalar:
            case MapOp::mul_scalar: break;
        }
        return fmt::format("{}, {}", range(map.src), map.scalar);
    }
    std::string type(Element element) const {
        return options_.brief ? "" : fmt::format("{} ", name(element));
    }
    std::string buffer(std::uint16_t index) const {
        if (index == kTile) return "tile";
        if (index < plan_.buffers.size()) return plan_.buffers[index].name;
        return fmt::format("buffer#{}", index);
    }
    std::string whose(std::int32_t rank) const {
        return rank == plan_.rank ? "" : fmt::format("@{}", rank);
    }
    std::string value(const Value& value) const {
        if (!options_.generation) return sum_of(value);
        return std::to_string(value.constant + value.per_generation * *options_.generation);
    }
    std::string cell(const Cell& cell) const {
        const std::vector<std::uint64_t>* shape = shape_for(cell.buffer);
        return fmt::format("{}{}{}", buffer(cell.buffer),
                           shape ? index_text(*shape, cell.index) : fmt::format("[{}]", cell.index),
                           whose(cell.rank));
    }

    const std::vector<std::uint64_t>* shape_for(std::uint16_t index) const {
        return options_.elements ? shape_of(plan_, index) : nullptr;
    }
    bool is_whole(const Range& range) const {
        if (range.buffer != kTile && range.buffer >= plan_.buffers.size()) return false;
        const std::uint64_t bytes =
            is_tile(range) ? plan_.tile_bytes : plan_.buffers[range.buffer].bytes;
        return range.offset == 0 && range.length == bytes;
    }
    std::string bytes(const Range& range) const {
        if (options_.brief && is_whole(range)) return "";
        if (const std::vector<std::uint64_t>* shape = shape_for(range.buffer)) {
            const Element element = plan_.buffers[range.buffer].element;
            const auto text = element_text(*shape, element, range.offset, range.length);
            if (text) return *text;
        }
        return fmt::format("[{}..{})", range.offset, end_of(range));
    }
    // "[0..64)", or where it is in each turn: "[0..64)|[64..128)".
    std::string bytes_in_turn(const Range& range) const {
        const std::vector<Shift>& shifts = plan_.turns.shifts;
        const bool is_known = range.shift <= shifts.size() && range.shift != 0;
        if (!is_known) return bytes(range) + (range.shift == 0 ? "" : "|?");
        if (options_.turn) return bytes(in_turn(range, plan_.turns, *options_.turn));
        std::string text;
        for_each_turn(range, plan_.turns, [&](const Range& moved) {
            text += (text.empty() ? "" : "|") + bytes(moved);
        });
        return text;
    }
    std::string range(const Range& range) const {
        return buffer(range.buffer) + whose(range.rank) + bytes_in_turn(range);
    }

    std::string sources(const std::vector<Range>& list) const {
        std::string text;
        for (std::size_t first = 0; first < list.size();) {
            const std::size_t last = options_.brief ? last_of_run(list, first) : first;
            if (first > 0) text += ", ";
            text += last == first
                        ? range(list[first])
                        : fmt::format("{}@{}..{}{}", buffer(list[first].buffer), list[first].rank,
                                      list[last].rank, bytes_in_turn(list[first]));
            first = last + 1;
        }
        return text;
    }
    // Of the same bytes of consecutive ranks.
    static std::size_t last_of_run(const std::vector<Range>& list, std::size_t first) {
        std::size_t last = first;
        while (last + 1 < list.size() && follows(list[last + 1], list[last])) ++last;
        return last;
    }
    static bool follows(Range next, const Range& before) {
        --next.rank;
        return next == before;
    }

    const Plan& plan_;
    const TextOptions& options_;
};

std::string size_text(const Buffer& buffer) {
    if (buffer.kind != BufferKind::signal) return plural(buffer.bytes, "byte");
    return fmt::format("{}, {} apart", plural(buffer.cells, "cell"),
                       plural(buffer.cell_stride, "byte"));
}

std::string buffer_line(const Plan& plan, std::size_t index, std::size_t name_width) {
    const Buffer& buffer = plan.buffers[index];
    std::string line =
        fmt::format("  {:<{}}  {:<8}  {:<7}  {:<4}  {}", buffer.name, name_width, name(buffer.kind),
                    name(buffer.direction), name(buffer.element), size_text(buffer));
    if (index < plan.advance.size() && plan.advance[index] != 0) {
        line += fmt::format(", advance {}", plan.advance[index]);
    }
    if (plan::takes_turns(plan) && index == plan.turns.signal) {
        line += fmt::format(", {} turns", plan.turns.count);
        if (plan.turns.every != 1) line += fmt::format(" of {} generations", plan.turns.every);
    }
    return line + '\n';
}

std::string header_line(const Plan& plan) {
    const bool has_lanes = !plan.lanes.empty();
    std::string line =
        fmt::format("plan {}, rank {} of {}: {}{}, {} of tile memory{}", plan.kernel, plan.rank,
                    plan.nranks, plural(plan.instructions.size(), "instruction"),
                    has_lanes ? fmt::format(" in {} lanes", plan.lane_count()) : "",
                    plural(plan.tile_bytes, "byte"), has_lanes ? " each" : "");
    if (plan.source) line += fmt::format(", from {}", plan.source->name());
    return line + '\n';
}

// "  lane 1" above the instructions of each, and of those that have none; nothing with one lane.
std::string lane_lines(const Plan& plan, std::size_t& lane, std::size_t until) {
    std::string text;
    if (plan.lanes.empty()) return text;
    for (; lane < plan.lane_count() && plan.lane_begin(lane) <= until; ++lane) {
        text += fmt::format("  lane {}\n", lane);
    }
    return text;
}

// The listing's columns: number, instruction, line. One very long reduce does not push the line
// numbers of all others out of sight.
constexpr std::size_t kMaxTextWidth = 72;

std::string instruction_lines(const Plan& plan) {
    std::vector<std::string> texts;
    std::size_t width = 0;
    for (const Instruction& instruction : plan.instructions) {
        texts.push_back(to_text(instruction, plan));
        if (texts.back().size() <= kMaxTextWidth) width = std::max(width, texts.back().size());
    }
    const std::size_t number_width =
        fmt::formatted_size("{}", std::max(texts.size(), std::size_t{1}) - 1);
    std::string listing;
    std::size_t lane = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        listing += lane_lines(plan, lane, i);
        const std::string place = source_place(plan.instructions[i], plan);
        listing += place.empty() ? fmt::format("  {:>{}}  {}\n", i, number_width, texts[i])
                                 : fmt::format("  {:>{}}  {:<{}}  {}\n", i, number_width, texts[i],
                                               width, place);
    }
    return listing + lane_lines(plan, lane, texts.size());
}

}  // namespace

std::string to_text(const Instruction& instruction, const Plan& plan, const TextOptions& options) {
    std::string text = std::visit(Writer(plan, options), instruction.action);
    if (instruction.pipe != Pipe::none) text += fmt::format(" on {}", name(instruction.pipe));
    if (instruction.group == kCached) {
        text += ", cached";
    } else if (instruction.group != 0) {
        text += fmt::format(", deferred #{}", instruction.group);
    }
    return text;
}

}  // namespace peal::plan

namespace peal {

std::string to_text(const Instruction& instruction, const Plan& plan) {
    return to_text(instruction, plan, plan::TextOptions{});
}

std::string to_text(const Plan& plan) {
    std::size_t name_width = 0;
    for (const Buffer& buffer : plan.buffers) name_width = std::max(name_width, buffer.name.size());
    std::string text = plan::header_line(plan);
    for (std::size_t i = 0; i < plan.buffers.size(); ++i)
        text += plan::buffer_line(plan, i, name_width);
    return text + plan::instruction_lines(plan);
}

}  // namespace peal
