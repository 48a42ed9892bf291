// SPDX-License-Identifier: Apache-2.0
// Tasks that are functions of the host program. They have one thread, started with the first of
// them.
#include <exception>
#include <set>

#include <fmt/format.h>

#include "base/thread.hpp"
#include "worker/scheduler.hpp"

namespace peal::worker {
namespace {

std::string text_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& exception) {
        return exception.what();
    } catch (...) {
        return "an exception of an unknown type";
    }
}

Fault fault_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const Error& exception) {
        return exception.fault();
    } catch (...) {
        return Fault::wrong;
    }
}

// What the function threw; null if it returned.
std::exception_ptr outcome_of(const std::function<void()>& function) {
    try {
        function();
    } catch (...) {
        return std::current_exception();
    }
    return nullptr;
}

}  // namespace

bool Scheduler::is_host_thread() const {
    return host_id_.load(std::memory_order_relaxed) == std::this_thread::get_id();
}

void Scheduler::post_host_task(const TaskPtr& task) {
    if (host_ends_) {
        task->timing.not_run = "the worker is closed";
        return fail(task, Error(Fault::wrong, fmt::format("{} was not run: the worker is closed",
                                                          task->title())));
    }
    try {
        if (!host_thread_.joinable()) {
            host_thread_ =
                base::start_thread("the thread of host tasks", [this] { run_host_tasks(); });
        }
    } catch (const Error& error) {
        return fail(task, Error(error.fault(), fmt::format("{}: {}", task->title(), error.what())));
    }
    host_queue_.push_back(task);
    host_work_.notify_one();
}

void Scheduler::run_host_tasks() {
    host_id_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    Lock lock(mutex_);
    for (;;) {
        host_work_.wait(lock, [&] { return host_ends_ || !host_queue_.empty(); });
        if (host_ends_) break;
        const TaskPtr task = host_task_ = std::move(host_queue_.front());
        host_queue_.pop_front();
        task->state.store(TaskState::running, std::memory_order_relaxed);
        TaskTiming::Part part{-1, since_start(), 0};
        task->timing.dispatched = part.started;
        const std::function<void()> function = std::move(task->function);
        lock.unlock();
        const std::exception_ptr error = outcome_of(function);
        lock.lock();
        part.ended = since_start();
        task->timing.parts = {part};
        host_task_ = nullptr;
        if (error) {
            fail(task, error, fault_of(error), text_of(error));
        } else {
            finish(task);
        }
        propagate();
        look_for_deadlock();
    }
    host_is_over_ = true;
    changed_.notify_all();
    const std::shared_ptr<Scheduler> last = std::move(host_keeps_);  // goes after the lock
    lock.unlock();
}

void Scheduler::end_host_thread(Clock::time_point deadline) {
    Lock lock(mutex_);
    host_ends_ = true;
    host_work_.notify_one();
    if (!host_thread_.joinable()) return;
    const auto is_over = [&] { return host_is_over_; };
    if (deadline == shm::kNoDeadline) {
        changed_.wait(lock, is_over);
    } else if (!changed_.wait_until(lock, deadline, is_over)) {
        host_keeps_ = shared_from_this();
        host_thread_.detach();
        return;
    }
    lock.unlock();
    host_thread_.join();
}

std::string Scheduler::left_behind() const {
    const std::lock_guard lock(mutex_);
    return host_keeps_ && host_task_ ? host_task_->title() : "";
}

// A host task that waits keeps the others from running, so it must not wait for any of them.
void Scheduler::expect_no_host_task_before(const TaskPtr& task) {
    std::set<const TaskNode*> reached;
    std::vector<const TaskNode*> frontier;
    for (const TaskPtr& other : pending_) {
        if (other->kind == TaskNode::Kind::host) frontier.push_back(other.get());
    }
    while (!frontier.empty()) {
        const TaskNode* next = frontier.back();
        frontier.pop_back();
        if (!reached.insert(next).second) continue;
        for (const Edge& edge : next->edges) frontier.push_back(edge.dependant.get());
    }
    if (reached.contains(task.get())) {
        throw Error(Fault::usage,
                    fmt::format("a host task cannot wait for {}, which comes after a host task or "
                                "is one: they share one thread",
                                task->title()));
    }
}

}  // namespace peal::worker
