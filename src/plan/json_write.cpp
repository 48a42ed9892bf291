// SPDX-License-Identifier: Apache-2.0
// Plans as JSON. json_read.cpp reads the same schema:
//
//   document     {"format": "peal-plans", "version": 1, "sources": [source...], "plans": [plan...]}
//   source       {"name": text, "text": text, "included": [part...]}, each once however many plans
//                refer to it
//   part         {"name": text, "first_line": uint}
//   plan         {"kernel": text, "rank": int, "nranks": int, "source": index into sources,
//                 "tile_bytes": uint, "buffers": [buffer...], "advance": [int, one per buffer],
//                 "instructions": [instruction...], "lanes": [uint, where each lane after the
//                 first begins in the instructions], "turns": turns}
//   turns        {"signal": index into buffers, "every": int, "count": uint, "shifts": [shift...]}
//   shift        {"buffer": index into buffers, "by": [uint, one per turn]}
//   buffer       {"name": text, "kind": word, "direction": word, "element": word,
//                 "bytes": uint} or, for signals, {..., "cells": uint, "cell_stride": uint}
//   instruction  {"do": word, <fields of that word>, "pipe": word, "line": uint,
//                 "joined": true, "group": uint or "cache"}
//     copy         dst: range, src: range
//     reduce       op: word, element: word, dst: range, src: [range...]
//     accumulate   element: word, dst: range, src: range
//     map          op: word, element: word, scalar: number, dst: range, src: range, from: word
//     notify       op: word, cell: cell, value: value
//     wait         compare: word, cell: cell, value: value
//     set_flag     from: word, to: word, event: uint; wait_flag likewise
//     pipe_barrier drain: word
//     fence        completes: uint
//     evict        range: range
//   range        {"buffer": index into buffers or "tile", "rank": int, "offset": uint,
//                 "length": uint, "shift": uint, 1 for the first of the plan's shifts}
//   cell         {"buffer": index, "rank": int, "index": uint}
//   value        {"constant": int, "per_generation": int}
//
// A field that has its default is left out: no source, no included parts, one lane, bytes 0, cells
// 0, cell_stride 64, shift 0, one turn, pipe none, line 0, joined false, group 0, from f32,
// per_generation 0. A scalar that is not finite is the text "inf", "-inf" or "nan".
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "peal/plan.hpp"
#include "plan/json_words.hpp"
#include "plan/names.hpp"

namespace peal::plan {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Text that is not UTF-8 must not stop a plan from being written.
std::string line(const OrderedJson& json) {
    return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson json_of(const Range& range) {
    OrderedJson json;
    if (range.buffer == kTile) {
        json["buffer"] = "tile";
    } else {
        json["buffer"] = range.buffer;
    }
    json["rank"] = range.rank;
    json["offset"] = range.offset;
    json["length"] = range.length;
    if (range.shift != 0) json["shift"] = range.shift;
    return json;
}

OrderedJson json_of(const Cell& cell) {
    return {{"buffer", cell.buffer}, {"rank", cell.rank}, {"index", cell.index}};
}

OrderedJson json_of(const Value& value) {
    OrderedJson json = {{"constant", value.constant}};
    if (value.per_generation != 0) json["per_generation"] = value.per_generation;
    return json;
}

OrderedJson json_of(double scalar) {
    if (std::isfinite(scalar)) return scalar;
    return fmt::format("{}", scalar);
}

struct ActionWriter {
    OrderedJson operator()(const Copy& copy) const {
        return {{"do", kCopyWord}, {"dst", json_of(copy.dst)}, {"src", json_of(copy.src)}};
    }
    OrderedJson operator()(const Reduce& reduce) const {
        OrderedJson sources = OrderedJson::array();
        for (const Range& source : reduce.src) sources.push_back(json_of(source));
        return {{"do", kReduceWord},
                {"op", name(reduce.op)},
                {"element", name(reduce.element)},
                {"dst", json_of(reduce.dst)},
                {"src", std::move(sources)}};
    }
    OrderedJson operator()(const Accumulate& accumulate) const {
        return {{"do", kAccumulateWord},
                {"element", name(accumulate.element)},
                {"dst", json_of(accumulate.dst)},
                {"src", json_of(accumulate.src)}};
    }
    OrderedJson operator()(const Map& map) const {
        OrderedJson json = {{"do", kMapWord},
                            {"op", name(map.op)},
                            {"element", name(map.element)},
                            {"scalar", json_of(map.scalar)},
                            {"dst", json_of(map.dst)},
                            {"src", json_of(map.src)}};
        if (map.from != Map{}.from) json["from"] = name(map.from);
        return json;
    }
    OrderedJson operator()(const Notify& notify) const {
        return {{"do", kNotifyWord},
                {"op", name(notify.op)},
                {"cell", json_of(notify.cell)},
                {"value", json_of(notify.value)}};
    }
    OrderedJson operator()(const Wait& wait) const {
        return {{"do", kWaitWord},
                {"compare", name(wait.compare)},
                {"cell", json_of(wait.cell)},
                {"value", json_of(wait.value)}};
    }
    OrderedJson operator()(const SetFlag& flag) const { return flag_json(kSetFlagWord, flag); }
    OrderedJson operator()(const WaitFlag& flag) const { return flag_json(kWaitFlagWord, flag); }
    OrderedJson operator()(const PipeBarrier& barrier) const {
        return {{"do", kPipeBarrierWord}, {"drain", name(barrier.pipe)}};
    }
    OrderedJson operator()(const Fence& fence) const {
        return {{"do", kFenceWord}, {"completes", fence.group}};
    }
    OrderedJson operator()(const Evict& evict) const {
        return {{"do", kEvictWord}, {"range", json_of(evict.range)}};
    }

private:
    template <class Flag>
    static OrderedJson flag_json(std::string_view word, const Flag& flag) {
        return {
            {"do", word}, {"from", name(flag.from)}, {"to", name(flag.to)}, {"event", flag.event}};
    }
};

OrderedJson json_of(const Instruction& instruction) {
    OrderedJson json = std::visit(ActionWriter{}, instruction.action);
    if (instruction.pipe != Pipe::none) json["pipe"] = name(instruction.pipe);
    if (instruction.line != 0) json["line"] = instruction.line;
    if (instruction.joined) json["joined"] = true;
    if (instruction.group == kCached) {
        json["group"] = kCacheGroup;
    } else if (instruction.group != 0) {
        json["group"] = instruction.group;
    }
    return json;
}

OrderedJson json_of(const Buffer& buffer) {
    OrderedJson json = {{"name", buffer.name},
                        {"kind", name(buffer.kind)},
                        {"direction", name(buffer.direction)},
                        {"element", name(buffer.element)}};
    if (buffer.bytes != 0) json["bytes"] = buffer.bytes;
    if (buffer.cells != 0) json["cells"] = buffer.cells;
    if (buffer.cell_stride != kCacheLineBytes) json["cell_stride"] = buffer.cell_stride;
    return json;
}

OrderedJson json_of(const Turns& turns) {
    OrderedJson shifts = OrderedJson::array();
    for (const Shift& shift : turns.shifts) {
        shifts.push_back({{"buffer", shift.buffer}, {"by", shift.by}});
    }
    return {{"signal", turns.signal},
            {"every", turns.every},
            {"count", turns.count},
            {"shifts", std::move(shifts)}};
}

OrderedJson json_of(const Source& source) {
    OrderedJson json = {{"name", source.name()}, {"text", source.text()}};
    for (const Source::Part& part : source.included()) {
        json["included"].push_back({{"name", part.name}, {"first_line", part.first_line}});
    }
    return json;
}

// An array with one item on each line.
template <class Items>
std::string lines(const Items& items, std::string_view indent) {
    std::string text = "[";
    for (std::size_t i = 0; i < items.size(); ++i) {
        text += fmt::format("{}\n{}{}", i == 0 ? "" : ",", indent, line(json_of(items[i])));
    }
    return text + "]";
}

class DocumentWriter {
public:
    std::string write(const Plan* plans, std::size_t count) {
        std::string body;
        for (std::size_t i = 0; i < count; ++i) {
            body += fmt::format("{}\n{}", i == 0 ? "" : ",", plan_text(plans[i]));
        }
        OrderedJson sources = OrderedJson::array();
        for (const SourcePtr& source : sources_) sources.push_back(json_of(*source));
        return fmt::format(
            "{{\"format\": \"{}\", \"version\": {},\n \"sources\": {},\n "
            "\"plans\": [{}]}}\n",
            kJsonFormat, kJsonVersion, line(sources), body);
    }

private:
    std::size_t source_index(const SourcePtr& source) {
        for (std::size_t i = 0; i < sources_.size(); ++i) {
            if (sources_[i] == source) return i;
        }
        sources_.push_back(source);
        return sources_.size() - 1;
    }

    std::string plan_text(const Plan& plan) {
        const std::string source =
            plan.source ? fmt::format(", \"source\": {}", source_index(plan.source)) : "";
        const std::string lanes =
            plan.lanes.empty() ? "" : fmt::format(",\n   \"lanes\": {}", line(plan.lanes));
        const std::string turns =
            plan.turns == Turns{} ? ""
                                  : fmt::format(",\n   \"turns\": {}", line(json_of(plan.turns)));
        return fmt::format(
            "  {{\"kernel\": {}, \"rank\": {}, \"nranks\": {}{}, "
            "\"tile_bytes\": {},\n   \"buffers\": {},\n   \"advance\": {},\n   "
            "\"instructions\": {}{}{}}}",
            line(plan.kernel), plan.rank, plan.nranks, source, plan.tile_bytes,
            lines(plan.buffers, "     "), line(plan.advance), lines(plan.instructions, "     "),
            lanes, turns);
    }

    std::vector<SourcePtr> sources_;
};

}  // namespace

}  // namespace peal::plan

namespace peal {

std::string to_json(const Plan& plan) { return plan::DocumentWriter().write(&plan, 1); }

std::string to_json(const std::vector<Plan>& plans) {
    return plan::DocumentWriter().write(plans.data(), plans.size());
}

}  // namespace peal
