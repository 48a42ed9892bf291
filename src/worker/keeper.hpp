// SPDX-License-Identifier: Apache-2.0
// The keeper: a thread that starts the devices, drives the scheduler whenever one of them rings,
// notices at once when one dies, and ends them. It sleeps whenever there is nothing to do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "peal/worker.hpp"
#include "worker/arena.hpp"
#include "worker/device_crew.hpp"
#include "worker/scheduler.hpp"

namespace peal::worker {

class Keeper {
public:
    // Returns when the devices are there. Throws Error(resource).
    Keeper(std::shared_ptr<const Arena> arena, std::shared_ptr<Scheduler> scheduler,
           const WorkerOptions& options, std::vector<int> numbers);
    // Ends the devices, and does not wait for tasks unless it closes.
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    // The devices end when all tasks are over, or at the deadline; the scheduler is closed then.
    // One caller at a time.
    void close_soon();
    int process_of(int rank) const;

private:
    enum class Order : std::uint8_t { keep, close, end };

    void run(std::promise<void> started);
    void start_devices();
    void await_devices();
    void watch(shm::Clock::time_point deadline);
    bool is_time_to_end() const;
    void end_devices();
    void ring_self() const;

    const std::shared_ptr<const Arena> arena_;
    const std::shared_ptr<Scheduler> scheduler_;
    const WorkerOptions& options_;
    const std::vector<int> numbers_;
    const int bell_;  // eventfd

    std::unique_ptr<DeviceCrew> crew_;
    std::vector<int> processes_;
    std::atomic<Order> order_ = Order::keep;
    std::atomic<shm::Clock::time_point> close_at_ = shm::kNoDeadline;
    std::thread thread_;
};

}  // namespace peal::worker
