// SPDX-License-Identifier: Apache-2.0
// How tasks end.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "worker/deadlock.hpp"
#include "worker/scheduler.hpp"

namespace peal::worker {

void Scheduler::settle(const TaskPtr& task, TaskState state) {
    task->timing.id = task->id;
    task->timing.name = task->name;
    task->timing.state = state;
    task->timing.finished = since_start();
    timings_.add(std::move(task->timing));
    if (task->outstanding == 0 && dispatcher_) dispatcher_->release(*task);
    pending_.erase(task->place);
    settled_.push_back(task);
    // Release: who sees that it is over sees the error and the results.
    task->state.store(state, std::memory_order_release);
    const bool is_awaited = task->awaited > 0 || pending_.empty();
    if (sleepers_ > 0 && (is_awaited || pending_.size() + 1 == resume_below_)) {
        changed_.notify_all();
    }
    if (when_quiet_ && pending_.empty()) when_quiet_();
}

namespace {

bool has_part(const TaskTiming& timing, int device) {
    return std::any_of(timing.parts.begin(), timing.parts.end(),
                       [&](const TaskTiming::Part& part) { return part.rank == device; });
}

// Of the members that have not told, so that a failure is seen where it happened. A task that was
// not run has its places without times.
void add_missing_parts(const TaskNode& task, TaskTiming& timing, std::int64_t now) {
    const bool ran = timing.not_run.empty() && timing.dispatched > 0;
    for (const TaskMember& member : task.members) {
        if (has_part(timing, member.device)) continue;
        timing.parts.push_back({member.device, ran ? timing.dispatched : 0, ran ? now : 0});
    }
    if (task.members.empty() && timing.parts.empty()) timing.parts.push_back({});
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

void Scheduler::fail(const TaskPtr& task, std::exception_ptr error, Fault fault, std::string text) {
    add_missing_parts(*task, task->timing, since_start());
    task->error = std::move(error);
    task->error_text = std::move(text);
    task->fault = fault;
    if (!task->cause) untold_.push_back(task);
    settle(task, TaskState::failed);
}

void Scheduler::fail(const TaskPtr& task, const Error& error) {
    fail(task, std::make_exception_ptr(error), error.fault(), error.what());
}

void Scheduler::fail_doomed(const TaskPtr& task) {
    task->timing.not_run =
        task->cause ? fmt::format("task {} failed", task->cause->id) : first_line(task->doom);
    if (!task->doom.empty()) {
        return fail(task, Error(Fault::wrong,
                                fmt::format("{} was not run: {}", task->title(), task->doom)));
    }
    fail(task, Error(task->cause->fault,
                     fmt::format("{} was not run, because {} failed: {}", task->title(),
                                 task->cause->title(), task->cause->error_text)));
}

void Scheduler::cancel_members(const TaskNode& task) const {
    for (const TaskMember& member : task.members) {
        if (member.is_outstanding) dispatcher_->cancel(member);
    }
}

std::vector<TaskPtr> Scheduler::unstarted() const {
    std::vector<TaskPtr> tasks;
    for (const TaskPtr& task : pending_) {
        if (task->state.load(std::memory_order_relaxed) == TaskState::waiting)
            tasks.push_back(task);
    }
    return tasks;
}

// All that devices have been given. The first one's failure is the cause of the others', and is
// returned.
TaskPtr Scheduler::fail_running(const std::function<std::string(const TaskNode&)>& why) {
    TaskPtr first;
    for (int device = 0; device < dispatcher_->devices(); ++device) {
        for (const Dispatcher::InFlight& running : dispatcher_->in_flight(device)) {
            cancel_members(*running.task);
            if (running.task->is_over()) continue;
            running.task->cause = first;
            if (!first) first = running.task;
            fail(running.task, Error(Fault::wrong, why(*running.task)));
        }
    }
    return first;
}

// All that no device has been given and the host has not begun. What still runs is waited for by
// those that follow it.
void Scheduler::doom_unstarted(const std::string& why, const TaskPtr& cause) {
    for (std::deque<TaskPtr>& queue : ready_) queue.clear();
    host_queue_.clear();
    const std::vector<TaskPtr> doomed = unstarted();
    for (const TaskPtr& task : doomed) {
        if (!task->doom.empty()) continue;
        task->cause = cause;
        task->doom = why;
    }
    for (const TaskPtr& task : doomed) {
        if (task->unmet == 0) fail_doomed(task);
    }
    propagate();
}

void Scheduler::device_died(int device, const std::string& story) {
    const std::lock_guard lock(mutex_);
    if (!dispatcher_) return;
    drive();  // what it completed counts
    const std::string where = where_it_stands(*dispatcher_, device);
    const std::string what = where.empty() ? story : fmt::format("{} in {}", story, where);
    if (state() != WorkerState::failed) {
        failure_ = what;
        state_.store(WorkerState::failed, std::memory_order_release);
    }
    TaskPtr first;
    for (const Dispatcher::InFlight& lost : dispatcher_->drop(device)) {
        if (lost.task->is_over()) {
            if (lost.task->outstanding == 0) dispatcher_->release(*lost.task);
            continue;
        }
        cancel_members(*lost.task);
        lost.task->cause = first;
        if (first) lost.task->timing.not_run = fmt::format("task {} failed", first->id);
        if (!first) first = lost.task;
        fail(lost.task, Error(Fault::wrong, fmt::format("{}: {}", lost.task->title(), what)));
    }
    doom_unstarted(what, first);
    changed_.notify_all();
}

void Scheduler::abandon(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (!dispatcher_) return;
    drive();
    doom_unstarted(why, fail_running([&](const TaskNode& task) {
                       return fmt::format("{} was ended: {}", task.title(), why);
                   }));
    changed_.notify_all();
}

void Scheduler::forget_devices() {
    const std::lock_guard lock(mutex_);
    if (!dispatcher_) return;
    drive();
    for (int device = 0; device < dispatcher_->devices(); ++device) {
        for (const Dispatcher::InFlight& lost : dispatcher_->drop(device)) {
            if (lost.task->outstanding == 0) dispatcher_->release(*lost.task);
        }
    }
    dispatcher_->restart();
}

}  // namespace peal::worker
