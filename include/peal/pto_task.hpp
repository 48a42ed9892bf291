// SPDX-License-Identifier: Apache-2.0
// Chip tasks: an orchestration shim that launches PTO kernels, traced as a whole.
//
//   const pto::ChipProgram program{"ring", pto::Shim::compile("ring_orch.cpp"), "ring_entry",
//                                  "ring_config", {{0, pto::Kernel::compile("ring.cpp")}}};
//   const pto::TracedTask traced = pto::trace(program, {task_of_rank_0, task_of_rank_1});
//
// The shim runs once for each rank, and each kernel that it launches runs behind the one before:
// what they ask of the device is one plan. docs/pto.md, "Chip tasks".
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "peal/element.hpp"
#include "peal/plan.hpp"
#include "peal/pto.hpp"
#include "peal/words.hpp"

namespace peal::pto {

// A shim's source, compiled against Peal's headers (pto_orchestration_api.h) and kept like kernels.
class Shim {
public:
    // Throws as Kernel::compile.
    static Shim compile(const std::string& path, const KernelOptions& options = {});

    const std::string& path() const { return path_; }
    const std::string& library() const { return library_; }

private:
    Shim(std::string path, std::string library)
        : path_(std::move(path)), library_(std::move(library)) {}
    std::string path_, library_;
};

struct ChipProgram {
    std::string name;
    Shim shim;
    std::string entry, config;  // functions of the shim; there need not be a config
    std::vector<std::pair<int, Kernel>> kernels;  // by the number that the shim knows them by
};

// Memory that a task is given.
struct TaskMemory {
    Direction direction = Direction::inout;  // private memory
    Element element = Element::f32;          // private memory
    std::uint64_t bytes = 0;
    // A window: the ranks of the plans that reach each other's, by their ranks in the domain.
    // Empty: private memory.
    std::vector<int> ranks = {};

    bool operator==(const TaskMemory&) const = default;
};

struct TaskTensor {
    std::size_t memory = 0;    // in ChipTask::memories
    std::uint64_t base = 0;    // bytes, to what its descriptor calls its buffer
    std::uint64_t offset = 0;  // bytes, from there to its first element
    Element element = Element::f32;
    std::vector<std::uint64_t> shape = {};
    std::vector<std::uint64_t> strides = {};  // elements; empty: row-major

    bool operator==(const TaskTensor&) const = default;
};

struct TaskScalar {
    enum class Kind : std::uint8_t {
        number,   // `value`
        context,  // CommContext* of the window `memory`
        address,  // of byte `value` of the window `memory`
    };
    Kind kind = Kind::number;
    std::uint64_t value = 0;
    std::size_t memory = 0;

    bool operator==(const TaskScalar&) const = default;
};

// What one rank's task is given.
struct ChipTask {
    std::vector<TaskMemory> memories;
    std::vector<TaskTensor> tensors;
    std::vector<TaskScalar> scalars;

    bool operator==(const ChipTask&) const = default;
};

struct TracedTask {
    std::vector<Plan> plans;  // of all ranks
    // Which memory each of their buffers is. The signals of a window are its words: cell i is at
    // byte 4 i of it.
    std::vector<std::size_t> memory_of;
    // Bytes of the memories that the shim creates, by rank. They come behind those of the task.
    std::vector<std::vector<std::uint64_t>> created;
};

// By rank; who has no task does nothing. Those who have one are given the same memories, but for
// the sizes of what is private. Throws Error(usage) if they are not, or a tensor leaves its memory,
// and Error(program) as trace() of a kernel does.
TracedTask trace(const ChipProgram& program, const std::vector<std::optional<ChipTask>>& tasks,
                 const TraceOptions& options = {});

}  // namespace peal::pto
