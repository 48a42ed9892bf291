// SPDX-License-Identifier: Apache-2.0
// Waiting for tasks, and finding out that it is in vain.
#include <sched.h>

#include <algorithm>

#include <fmt/format.h>

#include "peal/watch.hpp"
#include "shm/deadline.hpp"
#include "worker/deadlock.hpp"
#include "worker/scheduler.hpp"

namespace peal::worker {
namespace {

// As long as a short task takes. After that, two switches of context more do not matter.
constexpr std::chrono::microseconds kSpin{200};
constexpr int kSpinsPerYield = 64;

class Unlocked {
public:
    explicit Unlocked(std::unique_lock<std::mutex>& lock) : lock_(lock) { lock_.unlock(); }
    ~Unlocked() { lock_.lock(); }
    Unlocked(const Unlocked&) = delete;
    Unlocked& operator=(const Unlocked&) = delete;

private:
    std::unique_lock<std::mutex>& lock_;
};

}  // namespace

// Returns false if the deadline came first.
bool Scheduler::drive_until(Lock& lock, const Over& over, Clock::time_point deadline) {
    drive();
    if (over()) return true;
    const Counted host_waits(host_waits_, is_host_thread() ? 1 : 0);
    const Counted waits(waiters_);
    spin(lock, over, deadline);
    const Counted sleeps(sleepers_);
    sleep_until(lock, over, deadline);
    return over();
}

// A watch may end it.
void Scheduler::sleep_until(Lock& lock, const Over& over, Clock::time_point deadline) {
    while (!over()) {
        look_for_deadlock();
        if (over()) return;
        if (Watch::is_set()) {
            changed_.wait_until(lock, std::min(deadline, Clock::now() + Watch::kInterval));
            const Unlocked unlocked(lock);  // whoever looks may need what others hold
            Watch::look_up();
        } else if (deadline == shm::kNoDeadline) {
            changed_.wait(lock);
        } else {
            changed_.wait_until(lock, deadline);
        }
        if (Clock::now() >= deadline) return;
    }
}

// Drives on for as long as tasks end, and a little longer.
void Scheduler::spin(Lock& lock, const Over& over, Clock::time_point deadline) {
    const std::shared_ptr<const Dispatcher> dispatcher = dispatcher_;  // it may be closed meanwhile
    if (!dispatcher) return;
    ++spinners_;
    dispatcher->arena().bell().disarm();
    Clock::time_point until = Clock::now() + kSpin;
    while (!over()) {
        lock.unlock();
        for (int i = 0; i < kSpinsPerYield && !dispatcher->has_news(); ++i) shm::relax();
        if (!dispatcher->has_news()) sched_yield();
        lock.lock();
        const bool progress = drive();
        const Clock::time_point now = Clock::now();
        if (progress) until = now + kSpin;
        if (now >= std::min(until, deadline)) break;
    }
    stop_spinning();
}

// The last one that drove leaves it to the keeper: it arms the bell and looks once more.
void Scheduler::stop_spinning() {
    --spinners_;
    if (spinners_ > 0 || !dispatcher_) return;
    dispatcher_->arena().bell().arm();
    drive();
}

bool Scheduler::drive_on() {
    const std::lock_guard lock(mutex_);
    return drive() && sleepers_ == 0;
}

void Scheduler::rest() {
    const std::lock_guard lock(mutex_);
    if (!dispatcher_) return;
    if (spinners_ == 0) dispatcher_->arena().bell().arm();
    drive();
    look_for_deadlock();
}

// ---------------------------------------------------------------------------- for whom

void Scheduler::wait(const TaskPtr& task) { wait_for(task, std::chrono::nanoseconds::max()); }

bool Scheduler::wait_for(const TaskPtr& task, std::chrono::nanoseconds limit) {
    if (!task->is_over()) {
        Lock lock(mutex_);
        if (is_host_thread()) expect_no_host_task_before(task);
        const auto over = [&] { return task->is_over(); };
        ++task->awaited;
        const bool in_time = drive_until(lock, over, shm::from_now(limit));
        --task->awaited;
        if (!in_time) return false;
    }
    if (task->state.load(std::memory_order_acquire) == TaskState::failed) rethrow(task);
    return true;
}

void Scheduler::rethrow(const TaskPtr& task) {
    task->root_cause().told = true;
    std::rethrow_exception(task->error);
}

bool Scheduler::wait_all(std::chrono::nanoseconds limit) {
    Lock lock(mutex_);
    if (is_host_thread()) {
        throw Error(Fault::usage, "a host task cannot wait for all tasks: it is one of them");
    }
    const auto over = [&] { return pending_.empty(); };
    if (!drive_until(lock, over, shm::from_now(limit))) return false;
    std::erase_if(untold_, [](const TaskPtr& task) { return task->told.load(); });
    if (untold_.empty()) return true;
    const TaskPtr first = untold_.front();
    lock.unlock();
    rethrow(first);
}

// ---------------------------------------------------------------------------- in vain

// A host task may yet submit what everybody waits for, unless it is one of those that wait.
bool Scheduler::host_is_stuck() const { return host_task_ ? host_waits_ > 0 : host_queue_.empty(); }

void Scheduler::look_for_deadlock() {
    if (!dispatcher_ || waiters_ == 0 || !host_is_stuck()) return;
    if (state() != WorkerState::ready && state() != WorkerState::failed) return;
    const std::vector<Stuck> stuck = find_deadlock(*dispatcher_);
    if (stuck.empty()) return;
    const std::string why = deadlock_report(*dispatcher_, stuck, unstarted());
    if (state() == WorkerState::ready) {
        failure_ = why;
        state_.store(WorkerState::failed, std::memory_order_release);
    }
    doom_unstarted(why, fail_running([&](const TaskNode&) { return why; }));
    changed_.notify_all();
}

}  // namespace peal::worker
