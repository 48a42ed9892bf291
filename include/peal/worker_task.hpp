// SPDX-License-Identifier: Apache-2.0
// Tasks that were submitted, and what became of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace peal {

namespace worker {
class TaskNode;
class Scheduler;
struct Inside;
}  // namespace worker

enum class TaskState : std::uint8_t {
    waiting,  // for tasks that come before it
    running,  // handed to its devices, or to the host thread
    done,
    failed,  // or not run, because a task that it depends on failed
};

// A handle: copies refer to the same task. It may outlive the worker. One that was made without a
// task is over; its number is 0, and it has no name.
class Task {
public:
    Task() = default;

    // Counted from 1, in the order of submission.
    std::uint64_t id() const;
    const std::string& name() const;
    TaskState state() const;
    bool is_over() const;  // done or failed; makes no progress

    // Returns when the task is done; throws what went wrong: what a host task threw, or an Error
    // that names task, rank and instruction, or the task that this one depended on and its error.
    // Any thread may wait. A host task must not wait for a host task: they share one thread.
    void wait() const;
    // As wait(), at most so long: false if it is not over yet.
    bool wait_for(std::chrono::nanoseconds limit) const;

private:
    friend struct worker::Inside;
    Task(std::shared_ptr<worker::TaskNode> node, std::shared_ptr<worker::Scheduler> scheduler);
    std::shared_ptr<worker::TaskNode> node_;
    std::shared_ptr<worker::Scheduler> scheduler_;
};

struct TaskOptions {
    std::string name = {};         // in reports; empty: the kernel's
    std::vector<Task> after = {};  // come first, whatever they read and write
};

// When one task was where. Nanoseconds since the worker was made.
struct TaskTiming {
    // A wait for another rank, at this instruction of the plan.
    struct Wait {
        std::int64_t from = 0;
        std::int64_t to = 0;
        std::uint64_t instruction = 0;
    };
    // Of a device that did not tell any more, because it died or was stopped: from the hand-over to
    // the end of the task.
    struct Part {
        int rank = -1;  // -1: the host
        std::int64_t started = 0;
        std::int64_t ended = 0;
        std::int64_t waited = 0;       // of that, for other ranks
        std::vector<Wait> waits = {};  // the first kMaxWaits of them
    };
    static constexpr std::size_t kMaxWaits = 32;
    std::uint64_t id = 0;
    std::string name = {};
    TaskState state = TaskState::done;
    std::int64_t queued = 0;       // submit was called
    std::int64_t dispatched = 0;   // nothing was before it any more; 0: it was not run
    std::int64_t finished = 0;     // its dependants may start
    std::vector<Part> parts = {};  // one per device, or the host's; without times if it was not run
    std::uint64_t bytes = 0;       // read and written by all parts, if it is run
    std::string not_run = {};  // why, such as "task 5 failed"; empty: it was run, or failed itself
    std::vector<std::uint64_t> after = {};  // the tasks that it came after

    std::int64_t started() const;  // of its first part; 0 if it was not run
    std::int64_t ended() const;    // of its last part
};

// One line per task, times in microseconds.
std::string to_table(const std::vector<TaskTiming>& timings);
// For chrome://tracing and ui.perfetto.dev: a track per device, and one for the host. On it are the
// tasks with the waits inside them, arrows from each to those that came after it, and a mark for
// each that was not run.
std::string to_trace(const std::vector<TaskTiming>& timings);

}  // namespace peal
