// SPDX-License-Identifier: Apache-2.0
// The scheduler: which task may run, and who waits for whom.
//
// There is one lock. Nobody holds it while a device works or a host task runs. Whoever has time
// drives things on: a thread that waits for a task collects what devices have completed and hands
// out what became ready, for as long as it is likely to be soon; after that it sleeps, and the
// keeper (keeper.hpp) drives whenever a device rings the bell. A thread that waits has disarmed the
// bell, so that devices do not wake the keeper for what is seen anyway.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "peal/worker.hpp"
#include "peal/worker_task.hpp"
#include "shm/backoff.hpp"
#include "worker/dependencies.hpp"
#include "worker/dispatcher.hpp"
#include "worker/task_node.hpp"

namespace peal::worker {

// The latest timings.
class TimingLog {
public:
    explicit TimingLog(std::size_t capacity) : capacity_(capacity) {}

    void add(TaskTiming timing) {
        if (capacity_ == 0) return;
        if (timings_.size() == capacity_) timings_.pop_front();
        timings_.push_back(std::move(timing));
    }
    std::vector<TaskTiming> all() const { return {timings_.begin(), timings_.end()}; }

private:
    std::size_t capacity_;
    std::deque<TaskTiming> timings_;
};

// Whether the windows of a task's domains are as a kernel expects them. Throws Error(wrong) if a
// task ended in the middle of using them, Error(usage) if a group finds its ranks at different
// generations.
void expect_fit_domains(const TaskNode& task);

using shm::Clock;

// So many more while it exists.
class Counted {
public:
    explicit Counted(int& number, int more = 1) : number_(number), more_(more) { number_ += more; }
    ~Counted() { number_ -= more_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

private:
    int& number_;
    int more_;
};

class Scheduler : public std::enable_shared_from_this<Scheduler> {
public:
    Scheduler(std::shared_ptr<const Arena> arena, std::size_t max_pending, std::size_t max_timings);
    ~Scheduler();

    // ---- for everybody

    WorkerState state() const { return state_.load(std::memory_order_acquire); }
    // Throws Error(usage) if it is closed, or the failure.
    void require_ready() const;

    void submit(const TaskPtr& task, const std::vector<Task>& after);
    void wait(const TaskPtr& task);
    bool wait_for(const TaskPtr& task, std::chrono::nanoseconds limit);
    bool wait_all(std::chrono::nanoseconds limit);
    bool is_host_thread() const;
    // Newly allocated memory, which somebody else may have used before.
    void is_new(const std::byte* begin, std::uint64_t bytes);
    std::vector<TaskTiming> timings() const;

    // ---- for the keeper

    void set_state(WorkerState state, const std::string& why = {});
    // True if there was something to do, and the program is awake to do what comes next.
    bool drive_on();
    // Looks for a deadlock, and leaves the bell armed unless somebody spins.
    void rest();
    // A device is gone. `story`: "rank 2 was killed by signal 9 (Killed)".
    void device_died(int device, const std::string& story);
    // From now on `wake` is called when the last pending task is over, under the lock.
    void call_when_quiet(std::function<void()> wake);
    bool is_quiet() const;  // no task is pending
    // Everything that no host task has begun and that is not over fails; what follows the host task
    // at hand does so when that is over.
    void abandon(const std::string& why);
    // There are no devices any more, and their tasks have been abandoned.
    void forget_devices();
    // Waits for the host task at hand, until the deadline; no further one is run. One that has not
    // returned then is left to itself, on a thread that keeps the scheduler until it does.
    void end_host_thread(Clock::time_point deadline);
    // "task 5 (load)": the host task that was left to itself and has not returned; or nothing.
    std::string left_behind() const;
    // Lets go of the shared memory; nothing can be submitted any more.
    void close();

    // For whoever closes: returns when it is closed.
    void await_closed();

private:
    using Lock = std::unique_lock<std::mutex>;

    // scheduler.cpp: the graph
    void require_ready_locked() const;
    void link(const TaskPtr& task, const std::vector<Task>& after);
    void depend(const TaskPtr& task, const TaskPtr& earlier, bool carries_data);
    void make_ready(const TaskPtr& task);
    void run_copy(const TaskPtr& task);
    void dispatch_from(int device);
    bool is_next_everywhere(const TaskNode& task) const;
    void hand_over(const TaskPtr& task);
    bool drive();  // false if there was nothing to do
    TaskTiming::Part part_of(const TaskMember& member, const Command& command) const;
    void member_ended(const Dispatcher::InFlight& done, const Command& command);
    void complete(const TaskPtr& task);
    void propagate();
    void prune_when_grown();
    std::int64_t since_start() const;

    // outcomes.cpp: how tasks end
    void finish(const TaskPtr& task) { settle(task, TaskState::done); }
    void fail(const TaskPtr& task, std::exception_ptr error, Fault fault, std::string text);
    void fail(const TaskPtr& task, const Error& error);
    void fail_doomed(const TaskPtr& task);
    TaskPtr fail_running(const std::function<std::string(const TaskNode&)>& why);
    void doom_unstarted(const std::string& why, const TaskPtr& cause);
    void settle(const TaskPtr& task, TaskState state);
    void cancel_members(const TaskNode& task) const;

    // scheduler_wait.cpp: waiting
    using Over = std::function<bool()>;  // called with the lock held
    bool drive_until(Lock& lock, const Over& over, Clock::time_point deadline);
    void sleep_until(Lock& lock, const Over& over, Clock::time_point deadline);
    void spin(Lock& lock, const Over& over, Clock::time_point deadline);
    void stop_spinning();
    void look_for_deadlock();
    bool host_is_stuck() const;
    std::vector<TaskPtr> unstarted() const;
    [[noreturn]] void rethrow(const TaskPtr& task);

    // host_tasks.cpp
    void post_host_task(const TaskPtr& task);
    void run_host_tasks();
    void expect_no_host_task_before(const TaskPtr& task);

    mutable std::mutex mutex_;
    std::condition_variable changed_;  // a task is over, or the state has changed
    std::atomic<WorkerState> state_ = WorkerState::fresh;
    std::string failure_;  // why it is failed

    std::shared_ptr<Dispatcher> dispatcher_;  // null once closed
    Dependencies dependencies_;
    std::size_t prune_at_ = 1024;  // segments
    std::uint64_t last_id_ = 0;
    std::list<TaskPtr> pending_;  // not over, in the order of their submission
    const std::size_t max_pending_;
    const std::size_t resume_below_;  // once the bound is reached; so that not every task wakes one
    // Tasks of devices that wait for room, by device, in the order in which they became ready. A
    // group is in the queue of each of its devices; it goes when it is first in all of them.
    std::vector<std::deque<TaskPtr>> ready_;
    std::deque<TaskPtr> settled_;  // over; their dependants are being told
    std::vector<int> freed_;       // devices that may take another task
    std::vector<TaskPtr> untold_;  // failures that began with themselves

    int waiters_ = 0;   // threads that wait for tasks
    int spinners_ = 0;  // of these, those that drive
    int sleepers_ = 0;  // and those that sleep

    std::thread host_thread_;
    std::atomic<std::thread::id> host_id_{};
    std::condition_variable host_work_;
    std::deque<TaskPtr> host_queue_;
    TaskPtr host_task_;   // that runs
    int host_waits_ = 0;  // whether it is in a wait
    bool host_ends_ = false;
    bool host_is_over_ = false;              // its thread does nothing more
    std::shared_ptr<Scheduler> host_keeps_;  // this, while a host task is left to itself

    std::function<void()> when_quiet_;

    const Clock::time_point start_ = Clock::now();
    TimingLog timings_;
};

}  // namespace peal::worker
