// SPDX-License-Identifier: Apache-2.0
#include "foreign/writer.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "plan/notes.hpp"

namespace peal::foreign {

std::optional<CollectiveKind> collective_called(std::string_view name) {
    std::string plain;
    for (const char c : name) {
        if (c != '_') plain += c;
    }
    if (plain == "allreduce") return CollectiveKind::allreduce;
    if (plain == "allgather") return CollectiveKind::allgather;
    if (plain == "reducescatter") return CollectiveKind::reduce_scatter;
    if (plain == "alltoall") return CollectiveKind::all_to_all;
    if (plain == "broadcast") return CollectiveKind::broadcast;
    return std::nullopt;
}

std::uint64_t chunk_elements(const Sides& sides, const ReadOptions& options,
                             std::uint64_t otherwise) {
    if (!options.count) return otherwise;
    const std::uint64_t chunks =
        sides.counted > 0 ? sides.counted : std::max(sides.input, sides.output);
    constexpr std::uint64_t kMost = std::uint64_t{1} << 40;
    const bool fits = *options.count > 0 && *options.count <= kMost;
    if (chunks > 0 && fits && *options.count % chunks == 0) {
        return *options.count / chunks;
    }
    throw Error(Fault::usage, fmt::format("--count: expected a multiple of {}, which is how many "
                                          "chunks a rank has, found {}",
                                          chunks, *options.count));
}

Writer::Writer(std::string name, int nranks, SourcePtr source, const ReadOptions& options,
               std::uint64_t chunk_elements)
    : plans_(static_cast<std::size_t>(nranks)),
      begins_(plans_.size(), false),
      element_(options.element),
      op_(options.op),
      chunk_elements_(chunk_elements),
      chunk_bytes_(chunk_elements * bytes_of(options.element)) {
    for (int rank = 0; rank < nranks; ++rank) {
        Plan& plan = plans_[static_cast<std::size_t>(rank)];
        plan.kernel = name;
        plan.rank = rank;
        plan.nranks = nranks;
        plan.source = source;
    }
}

std::uint16_t Writer::add_memory(const std::string& name, BufferKind kind, Direction direction,
                                 std::uint64_t chunks) {
    Buffer buffer;
    buffer.name = name;
    buffer.kind = kind;
    buffer.direction = direction;
    buffer.element = element_;
    buffer.bytes = chunks * chunk_bytes_;
    for (Plan& plan : plans_) plan.buffers.push_back(buffer);
    shapes_.push_back({chunks, chunk_elements_});
    return static_cast<std::uint16_t>(shapes_.size() - 1);
}

std::uint16_t Writer::add_signal(const std::string& name) {
    Buffer buffer;
    buffer.name = name;
    buffer.kind = BufferKind::signal;
    buffer.direction = Direction::inout;
    buffer.element = Element::i64;
    for (Plan& plan : plans_) plan.buffers.push_back(buffer);
    shapes_.emplace_back();
    return static_cast<std::uint16_t>(shapes_.size() - 1);
}

void Writer::write(int rank, std::uint32_t line, Action action) {
    const auto r = static_cast<std::size_t>(rank);
    Plan& plan = plans_[r];
    if (begins_[r] && !plan.instructions.empty()) {
        plan.lanes.push_back(static_cast<std::uint32_t>(plan.instructions.size()));
    }
    begins_[r] = false;
    Instruction instruction;
    instruction.action = std::move(action);
    instruction.line = line;
    plan.instructions.push_back(std::move(instruction));
}

void Writer::copy(int rank, std::uint32_t line, const Range& dst, const Range& src) {
    if (dst != src) write(rank, line, Copy{dst, src});
}

void Writer::reduce(int rank, std::uint32_t line, const Range& dst, std::vector<Range> src) {
    write(rank, line, Reduce{op_, element_, dst, std::move(src)});
}

void Writer::notify(int rank, std::uint32_t line, const Cell& cell, std::int64_t value,
                    std::int64_t per_call) {
    write(rank, line, Notify{NotifyOp::set, cell, {value, per_call}});
}

void Writer::wait(int rank, std::uint32_t line, const Cell& cell, std::int64_t value,
                  std::int64_t per_call) {
    write(rank, line, Wait{Compare::ge, cell, {value, per_call}});
}

std::vector<Plan> Writer::finish() && {
    std::map<std::uint16_t, std::uint64_t> cells;
    for (const auto& [place, made] : cells_) {
        cells[place.first] = std::max<std::uint64_t>(cells[place.first], made.size());
    }
    plan::PlanNotes notes;
    notes.shapes = shapes_;
    const auto shared = std::make_shared<const plan::PlanNotes>(std::move(notes));
    for (Plan& plan : plans_) {
        plan.notes = shared;
        for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
            const bool is_signal = plan.buffers[b].kind == BufferKind::signal;
            if (is_signal) plan.buffers[b].cells = cells[static_cast<std::uint16_t>(b)];
            plan.advance.push_back(is_signal ? 1 : 0);
        }
    }
    return std::move(plans_);
}

SideBuffers add_sides(Writer& writer, const Sides& sides, bool writes_input, bool are_windows) {
    const BufferKind kind = are_windows ? BufferKind::window : BufferKind::argument;
    if (sides.in_place) {
        const std::uint16_t data =
            writer.add_memory("data", kind, Direction::inout, std::max(sides.input, sides.output));
        return {data, data};
    }
    // The output first: so it is what others take for it, also where the input is written.
    const std::uint16_t output = writer.add_memory(
        "output", kind, are_windows ? Direction::inout : Direction::out, sides.output);
    const bool is_inout = are_windows || writes_input;
    const std::uint16_t input =
        writer.add_memory("input", kind, is_inout ? Direction::inout : Direction::in, sides.input);
    return {input, output};
}

ForeignPlans finish(Writer writer, const Sides& sides, const SideBuffers& buffers,
                    const ReadOptions& options, std::uint64_t chunk_elements) {
    ForeignPlans result;
    result.plans = std::move(writer).finish();
    result.ports = {buffers.input, buffers.output};
    result.count = chunk_elements * sides.counted;
    if (!sides.kind) return result;
    Collective collective;
    collective.kind = *sides.kind;
    collective.element = options.element;
    collective.op = options.op;
    collective.count = result.count;
    collective.root = options.root;
    const bool is_window = result.plans.front().buffers[buffers.input].kind == BufferKind::window;
    if (sides.in_place) {
        collective.placement = is_window ? Placement::window : Placement::in_place;
    }
    validate(collective, static_cast<int>(result.plans.size()));
    result.collective = collective;
    return result;
}

}  // namespace peal::foreign
