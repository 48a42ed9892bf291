// SPDX-License-Identifier: Apache-2.0
// A task from inside. What is not const or atomic is guarded by the scheduler's lock once the task
// is submitted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "peal/error.hpp"
#include "peal/worker_task.hpp"
#include "peal/worker_tensor.hpp"
#include "worker/arena.hpp"
#include "worker/compiled_kernel.hpp"
#include "worker/control.hpp"
#include "worker/domain_state.hpp"

namespace peal::worker {

class TaskNode;
using TaskPtr = std::shared_ptr<TaskNode>;

// Bytes that a task touches, by their addresses in the host program. (The memory of devices is
// mapped there too.)
struct Access {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    bool reads = false;
    bool writes = false;
};

// A kernel's plans in the shared memory, where devices find them.
struct LoadedKernel {
    struct Part {
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
    };
    CompiledPtr kernel;
    std::shared_ptr<DeviceMemory> memory;
    std::vector<Part> parts;  // by rank
};
using LoadedPtr = std::shared_ptr<const LoadedKernel>;

// One device's part of a task.
struct TaskMember {
    int device = 0;
    int rank = 0;  // in the plans
    std::vector<BoundRange> memory;
    // Once dispatched:
    std::uint64_t command = 0;
    bool is_outstanding = false;
};

// An argument in host memory, and the block that stands for it on the devices.
struct StagedArgument {
    std::size_t member = 0;
    std::size_t buffer = 0;
    std::byte* host = nullptr;
    std::uint64_t bytes = 0;
    bool copy_in = false;
    bool copy_out = false;
    Stages::Block block = {};
};

// A signal whose generation the task moves on.
struct SignalUse {
    std::size_t member = 0;
    std::size_t buffer = 0;
    DomainState* domain = nullptr;  // one of TaskNode::domains
    std::size_t window = 0;
};

// One edge: `dependant` comes after the task that has it.
struct Edge {
    TaskPtr dependant;
    bool carries_data = false;  // it fails if the task fails
};

class TaskNode {
public:
    enum class Kind : std::uint8_t { device, copy, host };

    TaskNode(Kind what, std::string called) : kind(what), name(std::move(called)) {}

    bool is_over() const {
        // Acquire: who sees that it is over sees the error and the results.
        const TaskState now = state.load(std::memory_order_acquire);
        return now == TaskState::done || now == TaskState::failed;
    }
    const TaskNode& root_cause() const { return cause ? *cause : *this; }
    bool is_doomed() const { return cause != nullptr || !doom.empty(); }
    std::string title() const { return fmt::format("task {} '{}'", id, name); }
    const Plan& plan_of(const TaskMember& member) const {
        return kernel->kernel->plans[static_cast<std::size_t>(member.rank)];
    }

    const Kind kind;
    const std::string name;
    std::uint64_t id = 0;
    std::atomic<TaskState> state = TaskState::waiting;
    std::vector<Access> accesses;

    // ---- what there is to do
    LoadedPtr kernel;
    std::vector<TaskMember> members;
    std::vector<StagedArgument> staged;
    std::vector<SignalUse> signals;
    std::vector<std::shared_ptr<DomainState>> domains;
    bool is_group = false;
    Tensor from, to;                                         // copy
    std::function<void()> function;                          // host
    std::vector<std::shared_ptr<const DeviceMemory>> keeps;  // memory of its arguments

    // ---- the graph
    std::list<TaskPtr>::iterator place;  // among the pending ones
    std::size_t unmet = 0;               // tasks that must come first
    std::vector<Edge> edges;
    std::uint64_t seen_by = 0;    // the last task that was made to depend on this one
    int awaited = 0;              // threads that wait for it
    std::size_t outstanding = 0;  // members on their devices

    // ---- how it ended
    std::exception_ptr error;
    std::string error_text;
    Fault fault = Fault::wrong;
    TaskPtr cause;  // the task whose failure dooms this one; null: its failure is its own
    // Why nothing is run any more; empty while it may run. A doomed task fails once those that it
    // follows are over: until then they use what its owner may free when it is told.
    std::string doom;
    mutable std::atomic<bool> told = false;  // its failure was reported by a wait

    TaskTiming timing;
};

}  // namespace peal::worker
