// SPDX-License-Identifier: Apache-2.0
// Plans written by hand, and memory to run them on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "peal/engine.hpp"
#include "peal/error.hpp"
#include "peal/plan.hpp"

namespace peal::testing_plans {

inline Buffer argument(std::string name, Direction direction, Element element,
                       std::uint64_t bytes) {
    Buffer buffer;
    buffer.name = std::move(name);
    buffer.kind = BufferKind::argument;
    buffer.direction = direction;
    buffer.element = element;
    buffer.bytes = bytes;
    return buffer;
}

inline Buffer window(std::string name, Element element, std::uint64_t bytes) {
    Buffer buffer = argument(std::move(name), Direction::inout, element, bytes);
    buffer.kind = BufferKind::window;
    return buffer;
}

inline Buffer signal(std::string name, std::uint64_t cells, Element element = Element::i32,
                     std::uint64_t cell_stride = kCacheLineBytes) {
    Buffer buffer;
    buffer.name = std::move(name);
    buffer.kind = BufferKind::signal;
    buffer.direction = Direction::inout;
    buffer.element = element;
    buffer.cells = cells;
    buffer.cell_stride = cell_stride;
    return buffer;
}

// Writes one rank's plan, an instruction at a time.
class PlanWriter {
public:
    PlanWriter(int rank, int nranks, std::vector<Buffer> buffers) {
        plan_.kernel = "hand_made";
        plan_.rank = rank;
        plan_.nranks = nranks;
        plan_.advance.assign(buffers.size(), 0);
        plan_.buffers = std::move(buffers);
    }

    // Every instruction from here on is from that line.
    PlanWriter& line(std::uint32_t number) {
        line_ = number;
        return *this;
    }
    PlanWriter& emit(Action action) {
        Instruction& instruction = plan_.instructions.emplace_back();
        instruction.action = std::move(action);
        instruction.line = line_;
        return *this;
    }
    // What comes now is another lane.
    PlanWriter& lane() {
        plan_.lanes.push_back(static_cast<std::uint32_t>(plan_.instructions.size()));
        return *this;
    }
    PlanWriter& notify(int rank, std::uint64_t cell, Value value, NotifyOp op = NotifyOp::set,
                       std::uint16_t buffer = kSignal) {
        return emit(Notify{op, {buffer, rank, cell}, value});
    }
    PlanWriter& wait(std::uint64_t cell, Value value, Compare compare = Compare::ge,
                     std::uint16_t buffer = kSignal) {
        return emit(Wait{compare, {buffer, plan_.rank, cell}, value});
    }
    Plan finish(std::int64_t advance = 0, SourcePtr source = nullptr) {
        for (std::size_t b = 0; b < plan_.buffers.size(); ++b) {
            if (plan_.buffers[b].kind == BufferKind::signal) plan_.advance[b] = advance;
        }
        plan_.source = std::move(source);
        return std::move(plan_);
    }

    // The order in which the plans of these tests list their buffers.
    static constexpr std::uint16_t kInput = 0, kOutput = 1, kWindow = 2, kSignal = 3;

private:
    Plan plan_;
    std::uint32_t line_ = 0;
};

inline std::vector<Buffer> standard_buffers(Element element, std::uint64_t bytes,
                                            std::uint64_t window_bytes, std::uint64_t cells) {
    return {argument("inp", Direction::in, element, bytes),
            argument("out", Direction::out, element, bytes), window("data", element, window_bytes),
            signal("sig", cells)};
}

inline std::vector<Plan> for_all_ranks(int nranks, const std::function<Plan(int)>& plan_of) {
    std::vector<Plan> plans;
    for (int rank = 0; rank < nranks; ++rank) plans.push_back(plan_of(rank));
    return plans;
}

// Stage, meet, add up in rank order, meet again.
inline std::vector<Plan> mesh_allreduce(int nranks, std::uint64_t count,
                                        Element element = Element::i32) {
    const std::uint64_t bytes = count * bytes_of(element);
    return for_all_ranks(nranks, [&](int rank) {
        PlanWriter w(rank, nranks,
                     standard_buffers(element, bytes, bytes, static_cast<std::uint64_t>(nranks)));
        const auto meet = [&](Value value) {
            for (int peer = 0; peer < nranks; ++peer) {
                if (peer != rank) w.notify(peer, static_cast<std::uint64_t>(rank), value);
            }
            for (int peer = 0; peer < nranks; ++peer) {
                if (peer != rank) w.wait(static_cast<std::uint64_t>(peer), value);
            }
        };
        w.emit(Copy{{w.kWindow, rank, 0, bytes}, {w.kInput, rank, 0, bytes}});
        meet({1, 1});
        Reduce reduce{ReduceOp::sum, element, {w.kOutput, rank, 0, bytes}, {}};
        for (int peer = 0; peer < nranks; ++peer) reduce.src.push_back({w.kWindow, peer, 0, bytes});
        w.emit(reduce);
        meet({2, 1});
        return w.finish(2);
    });
}

// Memory for valid plans: arguments zeroed, symmetric memory of the plan's sizes.
class World {
public:
    explicit World(const std::vector<Plan>& plans) {
        validate(plans);
        const int nranks = static_cast<int>(plans.size());
        bindings_.resize(plans.size());
        for (const Buffer& buffer : plans[0].buffers) {
            symmetric_.push_back(make_symmetric(buffer, nranks));
        }
        for (std::size_t rank = 0; rank < plans.size(); ++rank) {
            for (std::size_t b = 0; b < plans[rank].buffers.size(); ++b) {
                Binding binding;
                if (symmetric_[b]) {
                    binding.symmetric = symmetric_[b].get();
                } else {
                    arguments_.push_back(std::vector<std::byte>(plans[rank].buffers[b].bytes));
                    binding.argument = arguments_.back();
                }
                bindings_[rank].push_back(binding);
            }
        }
    }

    std::vector<std::vector<Binding>>& bindings() { return bindings_; }
    SymmetricMemory& symmetric(std::size_t buffer) { return *symmetric_[buffer]; }

    // A rank's part of a buffer, as numbers.
    template <class T>
    T get(int rank, std::size_t buffer, std::size_t index) const {
        T value;
        std::memcpy(&value, part(rank, buffer) + index * sizeof(T), sizeof(T));
        return value;
    }
    template <class T>
    void set(int rank, std::size_t buffer, std::size_t index, T value) {
        std::memcpy(part(rank, buffer) + index * sizeof(T), &value, sizeof(T));
    }

private:
    static std::unique_ptr<SymmetricMemory> make_symmetric(const Buffer& buffer, int nranks) {
        switch (buffer.kind) {
            case BufferKind::argument: return nullptr;
            case BufferKind::window:
                return std::make_unique<SymmetricMemory>(
                    SymmetricMemory::window(nranks, buffer.bytes));
            case BufferKind::signal:
                return std::make_unique<SymmetricMemory>(
                    SymmetricMemory::signal(nranks, buffer.cells, buffer.cell_stride));
        }
        return nullptr;
    }

    std::byte* part(int rank, std::size_t buffer) const {
        const Binding& binding = bindings_[static_cast<std::size_t>(rank)][buffer];
        return binding.symmetric != nullptr ? binding.symmetric->on(rank) : binding.argument.data();
    }

    std::vector<std::unique_ptr<SymmetricMemory>> symmetric_;  // null for arguments
    std::vector<std::vector<std::byte>> arguments_;
    std::vector<std::vector<Binding>> bindings_;
};

// The message of the Error that work must throw; checks its fault.
inline std::string message_of(Fault fault, const std::function<void()>& work) {
    try {
        work();
    } catch (const Error& error) {
        return error.fault() == fault ? error.what()
                                      : std::string("another fault: ") + error.what();
    }
    return "no error";
}

}  // namespace peal::testing_plans
