// SPDX-License-Identifier: Apache-2.0
#include "worker/scheduler.hpp"

#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "worker/inside.hpp"

namespace peal::worker {

Scheduler::Scheduler(std::shared_ptr<const Arena> arena, std::size_t max_pending,
                     std::size_t max_timings)
    : dispatcher_(std::make_shared<Dispatcher>(std::move(arena))),
      max_pending_(max_pending),
      resume_below_(max_pending - max_pending / 4),
      ready_(static_cast<std::size_t>(dispatcher_->devices())),
      timings_(max_timings) {}

Scheduler::~Scheduler() { end_host_thread(shm::kNoDeadline); }

std::int64_t Scheduler::since_start() const {
    return (Clock::now() - start_) / std::chrono::nanoseconds(1);
}

void Scheduler::require_ready() const {
    if (state() == WorkerState::ready) return;
    const std::lock_guard lock(mutex_);
    require_ready_locked();
}

void Scheduler::require_ready_locked() const {
    switch (state()) {
        case WorkerState::failed:
            throw Error(Fault::wrong,
                        fmt::format("the worker has failed and must be restarted: {}", failure_));
        case WorkerState::closed: throw Error(Fault::usage, "the worker is closed");
        case WorkerState::fresh:
        case WorkerState::ready: return;
    }
}

void Scheduler::is_new(const std::byte* begin, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    dependencies_.forget(begin, begin + bytes);
}

std::vector<TaskTiming> Scheduler::timings() const {
    const std::lock_guard lock(mutex_);
    return timings_.all();
}

// ---------------------------------------------------------------------------- coming and going

void Scheduler::set_state(WorkerState state, const std::string& why) {
    const std::lock_guard lock(mutex_);
    failure_ = why;
    state_.store(state, std::memory_order_release);
    changed_.notify_all();
}

void Scheduler::call_when_quiet(std::function<void()> wake) {
    const std::lock_guard lock(mutex_);
    when_quiet_ = std::move(wake);
}

bool Scheduler::is_quiet() const {
    const std::lock_guard lock(mutex_);
    return pending_.empty();
}

void Scheduler::close() {
    const std::lock_guard lock(mutex_);
    dispatcher_ = nullptr;
    dependencies_ = {};
    state_.store(WorkerState::closed, std::memory_order_release);
    changed_.notify_all();
}

void Scheduler::await_closed() {
    Lock lock(mutex_);
    const Counted waits(waiters_);
    sleep_until(
        lock, [&] { return state() == WorkerState::closed; }, shm::kNoDeadline);
}

// ---------------------------------------------------------------------------- a new task

void Scheduler::submit(const TaskPtr& task, const std::vector<Task>& after) {
    task->timing.queued = since_start();
    Lock lock(mutex_);
    require_ready_locked();
    if (pending_.size() >= max_pending_ && !is_host_thread()) {
        drive_until(
            lock, [&] { return pending_.size() < resume_below_; }, shm::kNoDeadline);
        require_ready_locked();
    }
    drive();
    task->id = ++last_id_;
    task->place = pending_.insert(pending_.end(), task);
    link(task, after);
    if (task->unmet == 0) {
        make_ready(task);
        propagate();
    }
    prune_when_grown();
}

void Scheduler::link(const TaskPtr& task, const std::vector<Task>& after) {
    for (const Task& earlier : after) {
        if (Inside::node(earlier)) depend(task, Inside::node(earlier), true);
    }
    for (const Access& access : task->accesses) {
        dependencies_.add(task, access, [&](const TaskPtr& earlier, bool carries_data) {
            depend(task, earlier, carries_data);
        });
    }
}

void Scheduler::depend(const TaskPtr& task, const TaskPtr& earlier, bool carries_data) {
    if (earlier == task) return;  // a host task may name the same bytes twice
    const bool is_known = earlier->seen_by == task->id;
    if (!is_known) task->timing.after.push_back(earlier->id);
    earlier->seen_by = task->id;
    if (earlier->is_over()) {
        const bool failed = earlier->state.load(std::memory_order_relaxed) == TaskState::failed;
        if (failed && carries_data && !earlier->root_cause().told) {
            task->cause = earlier->cause ? earlier->cause : earlier;
        }
        return;
    }
    if (is_known) {  // so its last edge is to this task
        earlier->edges.back().carries_data |= carries_data;
        return;
    }
    earlier->edges.push_back({task, carries_data});
    ++task->unmet;
}

void Scheduler::prune_when_grown() {
    if (dependencies_.segments() < prune_at_) return;
    dependencies_.prune([](const TaskNode& task) {
        const bool failed = task.state.load(std::memory_order_relaxed) == TaskState::failed;
        return !task.is_over() || (failed && !task.root_cause().told);
    });
    prune_at_ = std::max<std::size_t>(1024, 2 * dependencies_.segments());
}

// ---------------------------------------------------------------------------- a task may run

void Scheduler::make_ready(const TaskPtr& task) {
    if (task->is_doomed()) return fail_doomed(task);
    switch (task->kind) {
        case TaskNode::Kind::copy: return run_copy(task);
        case TaskNode::Kind::host: return post_host_task(task);
        case TaskNode::Kind::device: break;
    }
    for (const TaskMember& member : task->members) {
        ready_[static_cast<std::size_t>(member.device)].push_back(task);
    }
    dispatch_from(task->members[0].device);
}

void Scheduler::run_copy(const TaskPtr& task) {
    task->state.store(TaskState::running, std::memory_order_relaxed);
    TaskTiming::Part part{-1, since_start(), 0};
    task->timing.dispatched = part.started;
    std::memcpy(task->to.data(), task->from.data(), task->from.bytes());
    part.ended = since_start();
    task->timing.parts = {part};
    finish(task);
}

bool Scheduler::is_next_everywhere(const TaskNode& task) const {
    for (const TaskMember& member : task.members) {
        const std::deque<TaskPtr>& queue = ready_[static_cast<std::size_t>(member.device)];
        if (queue.front().get() != &task || !dispatcher_->has_room(member.device)) return false;
    }
    return true;
}

// A group that goes may make way for others on each of its devices.
void Scheduler::dispatch_from(int device) {
    freed_ = {device};
    while (!freed_.empty()) {
        const int next = freed_.back();
        const std::deque<TaskPtr>& queue = ready_[static_cast<std::size_t>(next)];
        if (queue.empty() || !is_next_everywhere(*queue.front())) {
            freed_.pop_back();
            continue;
        }
        const TaskPtr task = queue.front();
        for (const TaskMember& member : task->members) {
            ready_[static_cast<std::size_t>(member.device)].pop_front();
            if (member.device != next) freed_.push_back(member.device);
        }
        hand_over(task);
    }
}

void Scheduler::hand_over(const TaskPtr& task) {
    try {
        expect_fit_domains(*task);
        dispatcher_->dispatch(task);
    } catch (const Error& error) {
        return fail(task, Error(error.fault(), fmt::format("{}: {}", task->title(), error.what())));
    }
    task->state.store(TaskState::running, std::memory_order_relaxed);
    task->timing.dispatched = since_start();
}

// ---------------------------------------------------------------------------- driving on

bool Scheduler::drive() {
    if (!dispatcher_ || !dispatcher_->has_news()) return false;
    dispatcher_->collect([this](const Dispatcher::InFlight& done, const Command& command) {
        member_ended(done, command);
    });
    for (int device = 0; device < dispatcher_->devices(); ++device) {
        if (!ready_[static_cast<std::size_t>(device)].empty()) dispatch_from(device);
    }
    propagate();
    return true;
}

TaskTiming::Part Scheduler::part_of(const TaskMember& member, const Command& command) const {
    const std::int64_t start = start_.time_since_epoch() / std::chrono::nanoseconds(1);
    TaskTiming::Part part{member.device, command.started - start, command.ended - start,
                          command.waited};
    const std::uint64_t known = std::min<std::uint64_t>(command.waits, TaskTiming::kMaxWaits);
    for (std::uint64_t i = 0; i < known; ++i) {
        const TaskTiming::Wait& wait = command.first_waits[i];
        part.waits.push_back({wait.from - start, wait.to - start, wait.instruction});
    }
    return part;
}

void Scheduler::member_ended(const Dispatcher::InFlight& done, const Command& command) {
    const TaskPtr& task = done.task;
    const TaskMember& member = task->members[done.member];
    task->timing.parts.push_back(part_of(member, command));
    if (command.ending == Ending::error && !task->is_over() && !task->error) {
        const Error error(
            static_cast<Fault>(command.fault),
            fmt::format("{}, rank {}: {}", task->title(), member.device, command.message.data()));
        task->error = std::make_exception_ptr(error);
        task->error_text = error.what();
        task->fault = error.fault();
        cancel_members(*task);  // those that wait for it would wait for ever
    }
    if (task->outstanding > 0) return;
    if (task->is_over()) {
        dispatcher_->release(*task);
    } else {
        complete(task);
    }
}

void Scheduler::complete(const TaskPtr& task) {
    if (!task->error) {
        dispatcher_->copy_out(*task);
        return finish(task);
    }
    for (const auto& domain : task->domains) domain->broken = task->error_text;
    fail(task, task->error, task->fault, task->error_text);
}

// Tells the dependants of tasks that are over. Those that run at once may be over too.
void Scheduler::propagate() {
    while (!settled_.empty()) {
        const TaskPtr task = std::move(settled_.front());
        settled_.pop_front();
        const bool failed = task->state.load(std::memory_order_relaxed) == TaskState::failed;
        for (const Edge& edge : std::exchange(task->edges, {})) {
            if (edge.dependant->is_over()) continue;
            if (failed && edge.carries_data && !edge.dependant->cause) {
                edge.dependant->cause = task->cause ? task->cause : task;
            }
            if (--edge.dependant->unmet == 0) make_ready(edge.dependant);
        }
    }
}

}  // namespace peal::worker
