// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "peal/error.hpp"
#include "peal/worker_task.hpp"
#include "worker/scheduler.hpp"

namespace peal {

Task::Task(std::shared_ptr<worker::TaskNode> node, std::shared_ptr<worker::Scheduler> scheduler)
    : node_(std::move(node)), scheduler_(std::move(scheduler)) {}

std::uint64_t Task::id() const { return node_ ? node_->id : 0; }
const std::string& Task::name() const {
    static const std::string none;
    return node_ ? node_->name : none;
}
TaskState Task::state() const {
    return node_ ? node_->state.load(std::memory_order_acquire) : TaskState::done;
}
bool Task::is_over() const { return !node_ || node_->is_over(); }
void Task::wait() const {
    if (node_) scheduler_->wait(node_);
}
bool Task::wait_for(std::chrono::nanoseconds limit) const {
    return !node_ || scheduler_->wait_for(node_, limit);
}

}  // namespace peal
