// SPDX-License-Identifier: Apache-2.0
// Hands tasks to their devices and takes back what came out. Guarded by the scheduler's lock unless
// said otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "worker/arena.hpp"
#include "worker/task_node.hpp"

namespace peal::worker {

class Dispatcher {
public:
    explicit Dispatcher(std::shared_ptr<const Arena> arena);

    // A command that its device has not completed.
    struct InFlight {
        TaskPtr task;
        std::size_t member = 0;
    };

    int devices() const { return arena_->devices(); }
    bool has_room(int device) const { return rings_[index(device)].in_flight.size() < kSlots; }
    // In the order in which the device carries them out.
    const std::deque<InFlight>& in_flight(int device) const {
        return rings_[index(device)].in_flight;
    }
    bool is_idle() const;

    // Copies host arguments to where devices find them and gives each member its command. Throws
    // Error(resource) if there is no memory for the copies; nothing has happened then.
    void dispatch(const TaskPtr& task);

    // Whether collect() would find anything. Needs no lock.
    bool has_news() const;

    // Calls `ended(in_flight, command)` for each command that was completed since the last time.
    using Ended = std::function<void(const InFlight&, const Command&)>;
    void collect(const Ended& ended);

    // Tells a member's device not to begin the command or to stop at its next wait.
    void cancel(const TaskMember& member) const;
    bool is_cancelled(const TaskMember& member) const {
        const Command& command = record(member.device).command(member.command);
        return command.cancelled.load(std::memory_order_relaxed) != 0;
    }

    // The device is gone: forgets what it was to do and returns it.
    std::deque<InFlight> drop(int device);

    // New devices begin with empty rings. Nothing is in flight.
    void restart();

    // The task is over: copies results back to host memory and gives up all that it held.
    void copy_out(const TaskNode& task) const;
    void release(TaskNode& task);

    DeviceRecord& record(int device) const { return arena_->device(device); }
    const Arena& arena() const { return *arena_; }

private:
    struct Ring {
        std::atomic<std::uint64_t> collected = 0;  // commands; read without the lock
        std::uint64_t submitted = 0;
        std::deque<InFlight> in_flight;
    };
    static std::size_t index(int device) { return static_cast<std::size_t>(device); }

    void stage(TaskNode& task);
    void set_generations(TaskNode& task) const;
    void write_command(const TaskNode& task, const TaskMember& member, Command& command) const;

    std::shared_ptr<const Arena> arena_;
    Stages stages_;
    std::vector<Ring> rings_;
};

}  // namespace peal::worker
