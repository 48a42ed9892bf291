// SPDX-License-Identifier: Apache-2.0
// Chip tasks: frames from what their ranks are given.
#include "peal/pto_task.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "pto/callees.hpp"

namespace peal::pto {
namespace {

class FrameMaker {
public:
    FrameMaker(const std::string& program, int rank, const ChipTask& task)
        : program_(program), rank_(rank), task_(task) {}

    Frame make() && {
        // No generation: a task finds its windows as they are.
        frame_.layout.signals_move_on = 0;
        for (std::size_t i = 0; i < task_.memories.size(); ++i) add_memory(i);
        frame_.layout.created_at = frame_.layout.placed.size();
        for (std::size_t i = 0; i < task_.tensors.size(); ++i) add_tensor(i);
        for (std::size_t i = 0; i < task_.scalars.size(); ++i) add_scalar(i);
        return std::move(frame_);
    }

private:
    template <class... Args>
    [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
        throw Error(Fault::usage, fmt::format("{}, rank {}: {}", program_, rank_,
                                              fmt::format(format, std::forward<Args>(args)...)));
    }

    void add_memory(std::size_t i) {
        const TaskMemory& memory = task_.memories[i];
        const std::string called = fmt::format("memory {}", i);
        if (memory.ranks.empty()) {
            domains_.push_back(kPrivate);
            frame_.layout.add_private(memory.direction, memory.element, memory.bytes, called);
            return;
        }
        WindowDomain domain;
        domain.ranks.assign(memory.ranks.begin(), memory.ranks.end());
        domains_.push_back(frame_.layout.domains.size());
        frame_.layout.domains.push_back(std::move(domain));
        frame_.layout.add_window(domains_.back(), Element::u8, memory.bytes, 0, called);
        frame_.layout.domains.back().bytes = memory.bytes;
    }

    void add_tensor(std::size_t i) {
        const TaskTensor& tensor = task_.tensors[i];
        FrameArgument argument;
        expect_memory(tensor.memory, i);
        const std::uint64_t size = bytes_of(tensor.element);
        if (tensor.shape.empty() || tensor.shape.size() > std::size_t{MAX_TENSOR_DIMS}) {
            fail("tensor {} has {} dimensions, expected 1 to {}", i, tensor.shape.size(),
                 MAX_TENSOR_DIMS);
        }
        argument.kind = kind_of(tensor.memory);
        argument.place = tensor.memory;
        argument.base = tensor.base;
        argument.start = tensor.offset / size;
        argument.type = type_of(tensor.element);
        argument.shape = tensor.shape;
        argument.strides = tensor.strides.empty() ? row_major(tensor.shape) : tensor.strides;
        if (tensor.offset % size != 0) fail("tensor {} begins within an element", i);
        if (argument.strides.size() != argument.shape.size()) {
            fail("tensor {} has {} dimensions and {} strides", i, argument.shape.size(),
                 argument.strides.size());
        }
        std::uint64_t last = 0;
        for (std::size_t d = 0; d < argument.shape.size(); ++d) {
            if (argument.shape[d] > 0) last += (argument.shape[d] - 1) * argument.strides[d];
        }
        const std::uint64_t end = tensor.base + tensor.offset + (last + 1) * size;
        const std::uint64_t room = task_.memories[tensor.memory].bytes;
        if (end > room) fail("tensor {} ends at byte {} of a memory of {}", i, end, room);
        frame_.arguments.push_back(std::move(argument));
    }

    void add_scalar(std::size_t i) {
        const TaskScalar& scalar = task_.scalars[i];
        FrameArgument argument;
        argument.value = static_cast<std::int64_t>(scalar.value);
        if (scalar.kind != TaskScalar::Kind::number) {
            argument.kind = scalar.kind == TaskScalar::Kind::context ? Parameter::Kind::context
                                                                     : Parameter::Kind::address;
            expect_memory(scalar.memory, i);
            argument.domain = domains_[scalar.memory];
            if (argument.domain == kPrivate) fail("scalar {} speaks of memory that is private", i);
            if (frame_.layout.domains[argument.domain].rank_of(rank_) < 0) {
                fail("scalar {} speaks of a domain that the rank is not in", i);
            }
        }
        frame_.arguments.push_back(std::move(argument));
    }

    void expect_memory(std::size_t memory, std::size_t i) const {
        if (memory < task_.memories.size()) return;
        fail("argument {} lies in memory {}, expected one of {}", i, memory, task_.memories.size());
    }

    Parameter::Kind kind_of(std::size_t memory) const {
        if (!task_.memories[memory].ranks.empty()) return Parameter::Kind::window;
        switch (task_.memories[memory].direction) {
            case Direction::in: return Parameter::Kind::in;
            case Direction::out: return Parameter::Kind::out;
            default: return Parameter::Kind::inout;
        }
    }

    const std::string& program_;
    int rank_;
    const ChipTask& task_;
    Frame frame_;
    std::vector<std::size_t> domains_;  // by memory
};

bool is_same_memory(const TaskMemory& a, const TaskMemory& b) {
    return a.ranks == b.ranks && a.direction == b.direction && a.element == b.element &&
           (a.ranks.empty() || a.bytes == b.bytes);
}

void expect_same(const ChipProgram& program, const ChipTask& a, const ChipTask& b) {
    if (std::equal(a.memories.begin(), a.memories.end(), b.memories.begin(), b.memories.end(),
                   is_same_memory)) {
        return;
    }
    throw Error(Fault::usage,
                fmt::format("{}: its ranks are given different memories: expected the same number, "
                            "directions, types and windows",
                            program.name));
}

Callee callee_of(const ChipProgram& program) {
    Callee callee;
    callee.path =
        program.kernels.size() == 1 ? program.kernels[0].second.path() : program.shim.path();
    callee.shim = program.shim.library();
    callee.entry = program.entry;
    callee.config = program.config;
    for (const auto& [function, kernel] : program.kernels) {
        callee.kernels.push_back({function, kernel.path(), kernel.library()});
    }
    return callee;
}

// The signals of each window follow the memories, in the order of the windows.
std::vector<std::size_t> memories_of(const std::vector<Buffer>& buffers, std::size_t memories,
                                     const std::vector<std::size_t>& with_signals) {
    std::vector<std::size_t> list;
    for (std::size_t b = 0; b < buffers.size(); ++b) {
        list.push_back(b < memories ? b : with_signals[b - memories]);
    }
    return list;
}

}  // namespace

TracedTask trace(const ChipProgram& program, const std::vector<std::optional<ChipTask>>& tasks,
                 const TraceOptions& options) {
    const auto first =
        std::find_if(tasks.begin(), tasks.end(), [](const auto& task) { return task.has_value(); });
    if (first == tasks.end()) {
        throw Error(Fault::usage, fmt::format("{}: no rank has a task", program.name));
    }
    std::vector<RankFrame> ranks;
    for (std::size_t rank = 0; rank < tasks.size(); ++rank) {
        const bool is_idle = !tasks[rank].has_value();
        if (!is_idle) expect_same(program, **first, *tasks[rank]);
        const auto whose = is_idle ? static_cast<std::size_t>(first - tasks.begin()) : rank;
        ranks.push_back(
            {FrameMaker(program.name, static_cast<int>(whose), *tasks[whose]).make(), is_idle});
    }
    TraceRequest request;
    request.name = program.name;
    request.callee = callee_of(program);
    request.source =
        program.kernels.empty() ? program.shim.path() : program.kernels[0].second.path();
    request.options = options;
    TracedRanks traced = trace_ranks(request, std::move(ranks));
    TracedTask result;
    result.created = std::move(traced.created);
    const std::size_t memories = (*first)->memories.size() + result.created[0].size();
    result.memory_of = memories_of(traced.plans[0].buffers, memories, traced.with_signals);
    result.plans = std::move(traced.plans);
    return result;
}

}  // namespace peal::pto
