// SPDX-License-Identifier: Apache-2.0
#include "plan/validate.hpp"

#include <cstdint>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peal/error.hpp"
#include "plan/access.hpp"
#include "plan/limits.hpp"
#include "plan/names.hpp"
#include "plan/titles.hpp"

namespace peal {
namespace {

template <class... Args>
[[noreturn]] void reject(const std::string& where, fmt::format_string<Args...> format,
                         Args&&... args) {
    throw Error(Fault::program, where + ": " + fmt::format(format, std::forward<Args>(args)...));
}

std::string buffer_title(const Plan& plan, const Buffer& buffer) {
    return fmt::format("{}, buffer '{}'", plan_title(plan), buffer.name);
}

// ---------------------------------------------------------------------------- buffers

void validate_signal(const Plan& plan, const Buffer& buffer) {
    if (buffer.element != Element::i32 && buffer.element != Element::i64) {
        reject(buffer_title(plan, buffer), "signals are i32 or i64, found {}",
               name(buffer.element));
    }
    const std::uint64_t size = bytes_of(buffer.element);
    if (buffer.cell_stride < size || buffer.cell_stride % size != 0) {
        reject(buffer_title(plan, buffer),
               "cells of {} bytes cannot be {} bytes apart: expected a multiple of {}", size,
               buffer.cell_stride, size);
    }
    if (buffer.cells > UINT64_MAX / buffer.cell_stride) {
        reject(buffer_title(plan, buffer), "{} cells, {} bytes apart, do not fit in memory",
               buffer.cells, buffer.cell_stride);
    }
}

void validate_buffers(const Plan& plan) {
    if (plan.buffers.size() >= kTile) {
        reject(plan_title(plan), "{} buffers, at most {} are possible", plan.buffers.size(),
               kTile - 1);
    }
    if (plan.advance.size() != plan.buffers.size()) {
        reject(plan_title(plan), "'advance' has {} entries for {} buffers", plan.advance.size(),
               plan.buffers.size());
    }
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer& buffer = plan.buffers[i];
        const std::int64_t advance = plan.advance[i];
        if (buffer.kind == BufferKind::signal) {
            validate_signal(plan, buffer);
            if (advance < 0 || !fits(advance, buffer.element)) {
                reject(buffer_title(plan, buffer), "a generation of {} cannot advance by {}",
                       name(buffer.element), advance);
            }
        } else if (advance != 0) {
            reject(buffer_title(plan, buffer),
                   "only signals have a generation, but it advances by {}", advance);
        } else if (buffer.bytes % bytes_of(buffer.element) != 0) {
            reject(buffer_title(plan, buffer), "{} bytes are no whole number of {} elements",
                   buffer.bytes, name(buffer.element));
        }
    }
}

// ---------------------------------------------------------------------------- instructions

// Checks one instruction of a plan whose buffers are valid.
class InstructionCheck {
public:
    InstructionCheck(const Plan& plan, std::size_t index) : plan_(plan), index_(index) {}

    void operator()(const Copy& copy) const {
        data_pipe();
        range(copy.dst, "the destination");
        range(copy.src, "the source");
        same_length(copy.dst, copy.src);
        if (overlaps(copy.dst, copy.src)) fail("the destination overlaps the source");
    }
    void operator()(const Reduce& reduce) const {
        data_pipe();
        if (reduce.src.empty()) fail("a reduction needs at least one source");
        range(reduce.dst, "the destination");
        whole_elements(reduce.dst, reduce.element);
        for (const Range& source : reduce.src) element_wise(reduce.dst, source);
    }
    void operator()(const Accumulate& accumulate) const {
        data_pipe();
        range(accumulate.dst, "the destination");
        range(accumulate.src, "the source");
        same_length(accumulate.dst, accumulate.src);
        whole_elements(accumulate.dst, accumulate.element);
        if (overlaps(accumulate.dst, accumulate.src)) fail("the destination overlaps the source");
        if (accumulate.dst.offset % bytes_of(accumulate.element) != 0) {
            fail(
                "the destination starts at byte {}, which is no multiple of {}: {} is added to "
                "atomically",
                accumulate.dst.offset, bytes_of(accumulate.element), name(accumulate.element));
        }
    }
    void operator()(const Map& map) const {
        data_pipe();
        range(map.dst, "the destination");
        whole_elements(map.dst, map.element);
        if (map.op == MapOp::convert) {
            converted(map);
        } else if (map.op == MapOp::row_sum) {
            summed(map);
        } else if (has_source(map.op)) {
            element_wise(map.dst, map.src);
        }
        if (!fits(map.scalar, map.element)) {
            fail("the scalar {} is not a value of {}", map.scalar, name(map.element));
        }
    }
    void operator()(const Notify& notify) const {
        sync_pipe();
        value(notify.value, cell(notify.cell));
    }
    void operator()(const Wait& wait) const {
        sync_pipe();
        const Buffer& buffer = cell(wait.cell);
        if (wait.cell.rank != plan_.rank) fail("a rank can wait on its own cells only");
        value(wait.value, buffer);
    }
    void operator()(const SetFlag& flag) const { flag_pipes(flag.from, flag.to); }
    void operator()(const WaitFlag& flag) const { flag_pipes(flag.from, flag.to); }
    void operator()(const PipeBarrier& barrier) const {
        if (barrier.pipe == Pipe::none) fail("a barrier needs a pipe to drain");
    }

private:
    template <class... Args>
    [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
        reject(fmt::format("{}, {}", plan_title(plan_), instruction_title(plan_, index_)), format,
               std::forward<Args>(args)...);
    }

    void rank(std::int32_t rank) const {
        if (rank < 0 || rank >= plan_.nranks) {
            fail("there is no rank {}, expected 0..{}", rank, plan_.nranks - 1);
        }
    }

    void range(const Range& range, std::string_view what) const {
        if (range.buffer == kTile) return inside(range, what, "tile memory", plan_.tile_bytes);
        if (range.buffer >= plan_.buffers.size()) {
            fail("{} is in buffer {}, but there are {}", what, range.buffer, plan_.buffers.size());
        }
        const Buffer& buffer = plan_.buffers[range.buffer];
        if (buffer.kind == BufferKind::signal) {
            fail("{} is in signal '{}', which only notify and wait may touch", what, buffer.name);
        }
        if (buffer.kind == BufferKind::window) rank(range.rank);
        inside(range, what, buffer.name, buffer.bytes);
    }

    void inside(const Range& range, std::string_view what, std::string_view place,
                std::uint64_t bytes) const {
        const bool own_memory =
            is_tile(range) || plan_.buffers[range.buffer].kind == BufferKind::argument;
        if (own_memory && range.rank != plan_.rank) {
            fail("{} is in {} of rank {}, but only windows have peers", what, place, range.rank);
        }
        if (range.offset > bytes || range.length > bytes - range.offset) {
            fail("{} leaves {}, which has {} bytes", what, place, bytes);
        }
    }

    void same_length(const Range& dst, const Range& src) const {
        if (dst.length != src.length) {
            fail("the destination has {} bytes, a source has {}", dst.length, src.length);
        }
    }
    void whole_elements(const Range& dst, Element element) const {
        if (dst.length % bytes_of(element) != 0) {
            fail("{} bytes are no whole number of {} elements", dst.length, name(element));
        }
    }
    void element_wise(const Range& dst, const Range& src) const {
        range(src, "a source");
        same_length(dst, src);
        apart(dst, src);
    }
    void converted(const Map& map) const {
        range(map.src, "the source");
        whole_elements(map.src, map.from);
        const std::uint64_t wanted = map.src.length / bytes_of(map.from);
        const std::uint64_t found = map.dst.length / bytes_of(map.element);
        if (wanted != found) {
            fail("the destination has {} elements, the source has {}", found, wanted);
        }
        apart(map.dst, map.src);
    }
    void summed(const Map& map) const {
        range(map.src, "the source");
        whole_elements(map.src, map.element);
        if (map.dst.length != bytes_of(map.element) || map.src.length == 0) {
            fail("a row of one element or more is summed up in one element");
        }
        apart(map.dst, map.src);
    }
    void apart(const Range& dst, const Range& src) const {
        if (!equal_or_disjoint(dst, src)) fail("the destination overlaps a source in part");
    }

    const Buffer& cell(const Cell& cell) const {
        if (cell.buffer >= plan_.buffers.size() ||
            plan_.buffers[cell.buffer].kind != BufferKind::signal) {
            fail("buffer {} is not a signal", cell.buffer);
        }
        rank(cell.rank);
        const Buffer& buffer = plan_.buffers[cell.buffer];
        if (cell.index >= buffer.cells) {
            fail("there is no cell {} in '{}', which has {}", cell.index, buffer.name,
                 buffer.cells);
        }
        return buffer;
    }
    void value(const Value& value, const Buffer& buffer) const {
        for (const std::int64_t part : {value.constant, value.per_generation}) {
            if (!fits(part, buffer.element)) {
                fail("{} is not a value of {}", part, name(buffer.element));
            }
        }
    }

    Pipe pipe() const { return plan_.instructions[index_].pipe; }
    void data_pipe() const {
        if (pipe() == Pipe::all) fail("data instructions run on one pipe");
    }
    void sync_pipe() const {
        if (pipe() != Pipe::none && pipe() != Pipe::scalar) {
            fail("notify and wait run on the scalar pipe");
        }
    }
    void flag_pipes(Pipe from, Pipe to) const {
        const auto is_one = [](Pipe pipe) { return pipe != Pipe::none && pipe != Pipe::all; };
        if (!is_one(from) || !is_one(to) || from == to) {
            fail("a flag goes from one pipe to another");
        }
    }

    const Plan& plan_;
    std::size_t index_;
};

// ---------------------------------------------------------------------------- all ranks

// Arguments are private and may differ in size.
bool agree(const Buffer& a, const Buffer& b) {
    if (a.kind != BufferKind::argument) return a == b;
    return a.name == b.name && a.kind == b.kind && a.direction == b.direction &&
           a.element == b.element;
}

void validate_agreement(const Plan& plan, const Plan& first) {
    const std::string title = plan_title(plan);
    if (plan.kernel != first.kernel) {
        reject(title, "rank 0 has a plan of kernel {}", first.kernel);
    }
    if (plan.nranks != first.nranks) reject(title, "rank 0 expects {} ranks", first.nranks);
    if (plan.buffers.size() != first.buffers.size()) {
        reject(title, "{} buffers, but rank 0 has {}", plan.buffers.size(), first.buffers.size());
    }
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer& buffer = plan.buffers[i];
        if (!agree(buffer, first.buffers[i])) {
            reject(buffer_title(plan, buffer), "differs from buffer '{}' of rank 0",
                   first.buffers[i].name);
        }
        if (plan.advance[i] != first.advance[i]) {
            reject(buffer_title(plan, buffer), "advances by {}, on rank 0 by {}", plan.advance[i],
                   first.advance[i]);
        }
    }
}

struct SignalLine {
    std::int32_t rank;
    std::uint16_t buffer;
    std::uint64_t line;
    auto operator<=>(const SignalLine&) const = default;
};

}  // namespace

void validate(const Plan& plan) {
    if (plan.nranks < 1 || plan.rank < 0 || plan.rank >= plan.nranks) {
        reject(plan_title(plan), "expected a rank in 0..nranks-1");
    }
    validate_buffers(plan);
    for (std::size_t i = 0; i < plan.instructions.size(); ++i) {
        std::visit(InstructionCheck(plan, i), plan.instructions[i].action);
    }
}

void validate(const std::vector<Plan>& plans) {
    if (plans.empty()) throw Error(Fault::program, "there are no plans");
    const Plan& first = plans.front();
    if (static_cast<std::int64_t>(plans.size()) != first.nranks) {
        reject(plan_title(first), "expected {} plans, found {}", first.nranks, plans.size());
    }
    for (std::size_t r = 0; r < plans.size(); ++r) {
        const Plan& plan = plans[r];
        validate(plan);
        if (plan.rank != static_cast<std::int32_t>(r)) {
            reject(plan_title(plan), "stands at place {} of the plans", r);
        }
        validate_agreement(plan, first);
    }
}

std::vector<std::string> shared_line_sets(const std::vector<Plan>& plans) {
    std::map<SignalLine, std::set<std::int32_t>> writers;
    for (const Plan& plan : plans) {
        for (const Instruction& instruction : plan.instructions) {
            const auto* notify = std::get_if<Notify>(&instruction.action);
            if (!notify || notify->op != NotifyOp::set) continue;
            const Cell& cell = notify->cell;
            const std::uint64_t stride = plan.buffers[cell.buffer].cell_stride;
            if (stride >= kCacheLineBytes) continue;
            const std::uint64_t line = cell.index * stride / kCacheLineBytes;
            writers[{cell.rank, cell.buffer, line}].insert(plan.rank);
        }
    }
    std::vector<std::string> sentences;
    for (const auto& [line, ranks] : writers) {
        if (ranks.size() < 2) continue;
        sentences.push_back(fmt::format("ranks {} set cells in line {} of {} of rank {}",
                                        fmt::join(ranks, ", "), line.line,
                                        plans.front().buffers[line.buffer].name, line.rank));
    }
    return sentences;
}

}  // namespace peal
