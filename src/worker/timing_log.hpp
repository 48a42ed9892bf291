// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "peal/worker_task.hpp"

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

}  // namespace peal::worker
