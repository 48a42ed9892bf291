// SPDX-License-Identifier: Apache-2.0
// What is behind the handles that users have, and how such handles are made.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "peal/worker.hpp"

namespace peal::worker {

struct Inside {
    static const std::shared_ptr<KernelSource>& source(const DeviceKernel& kernel) {
        return kernel.source_;
    }
    static const std::vector<Held>& holds(const DeviceKernel& kernel) { return kernel.holds_; }
    static const std::shared_ptr<RunRecord>& run(const DeviceKernel& kernel) { return kernel.run_; }

    static Tensor tensor(std::shared_ptr<const DeviceMemory> owner, std::byte* data, int rank,
                         Element element, Dimensions shape) {
        return {std::move(owner), data, rank, element, std::move(shape)};
    }
    static const std::shared_ptr<const DeviceMemory>& owner(const Tensor& tensor) {
        return tensor.owner_;
    }

    static Domain domain(std::shared_ptr<DomainState> state) { return Domain(std::move(state)); }
    static const std::shared_ptr<DomainState>& domain(const DomainWindow& window) {
        return window.domain_;
    }
    static std::size_t index(const DomainWindow& window) { return window.index_; }
    static bool is_as_signals(const DomainWindow& window) { return window.as_signals_; }

    static Task task(std::shared_ptr<TaskNode> node, std::shared_ptr<Scheduler> scheduler) {
        return {std::move(node), std::move(scheduler)};
    }
    static const std::shared_ptr<TaskNode>& node(const Task& task) { return task.node_; }
    static bool belongs_to(const Task& task, const Scheduler& scheduler) {
        return task.scheduler_.get() == &scheduler;
    }
};

}  // namespace peal::worker
