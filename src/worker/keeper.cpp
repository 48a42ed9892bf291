// SPDX-License-Identifier: Apache-2.0
#include "worker/keeper.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/thread.hpp"
#include "peal/error.hpp"
#include "shm/deadline.hpp"

namespace peal::worker {
namespace {

// How long devices that were told to leave may take.
constexpr std::chrono::milliseconds kGrace{1000};
// While a program submits, it drives on as well. The bell then stays disarmed for so long, so that
// devices do not wake the keeper for every task that ends.
constexpr std::chrono::microseconds kBreak{100};

int new_bell() {
    const int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) {
        throw Error(Fault::resource,
                    fmt::format("cannot make a bell for the devices: {}", std::strerror(errno)));
    }
    return descriptor;
}

timespec time_until(shm::Clock::time_point deadline) {
    constexpr std::int64_t kPerSecond = 1'000'000'000;
    const auto left =
        std::max<std::int64_t>(0, (deadline - shm::Clock::now()) / std::chrono::nanoseconds(1));
    timespec time = {};
    time.tv_sec = static_cast<time_t>(left / kPerSecond);
    time.tv_nsec = static_cast<long>(left % kPerSecond);
    return time;
}

}  // namespace

Keeper::Keeper(std::shared_ptr<const Arena> arena, std::shared_ptr<Scheduler> scheduler,
               const WorkerOptions& options, std::vector<int> numbers)
    : arena_(std::move(arena)),
      scheduler_(std::move(scheduler)),
      options_(options),
      numbers_(std::move(numbers)),
      bell_(new_bell()) {
    std::promise<void> started;
    std::future<void> answer = started.get_future();
    try {
        thread_ = base::start_thread(
            "the thread that keeps the devices",
            [this, promise = std::move(started)]() mutable { run(std::move(promise)); });
        answer.get();
    } catch (...) {
        if (thread_.joinable()) thread_.join();
        close(bell_);
        throw;
    }
}

Keeper::~Keeper() {
    Order before = Order::keep;
    order_.compare_exchange_strong(before, Order::end);  // or it closes already
    ring_self();
    thread_.join();
    close(bell_);
}

int Keeper::process_of(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }

void Keeper::close_soon() {
    if (order_.load() != Order::keep) return;
    close_at_.store(shm::from_now(options_.close_deadline));
    scheduler_->call_when_quiet([this] { ring_self(); });
    order_.store(Order::close);
    ring_self();
}

void Keeper::ring_self() const {
    const std::uint64_t once = 1;
    [[maybe_unused]] const ssize_t written = write(bell_, &once, sizeof once);
}

// ---------------------------------------------------------------------------- the thread

void Keeper::run(std::promise<void> started) {
    try {
        start_devices();
        await_devices();
    } catch (...) {
        crew_ = nullptr;
        started.set_exception(std::current_exception());
        return;
    }
    started.set_value();
    while (!is_time_to_end()) {
        if (scheduler_->drive_on()) {
            watch(shm::Clock::now() + kBreak);
        } else {
            scheduler_->rest();
            watch(close_at_.load());
        }
    }
    end_devices();
}

void Keeper::start_devices() {
    crew_ = options_.engine == DeviceEngine::processes ? start_processes(*arena_, numbers_, bell_)
                                                       : start_threads(*arena_, bell_);
    for (int rank = 0; rank < arena_->devices(); ++rank) {
        processes_.push_back(crew_->process_of(rank));
    }
}

void Keeper::await_devices() {
    const shm::Clock::time_point deadline = shm::from_now(options_.start_deadline);
    for (int rank = 0; rank < arena_->devices(); ++rank) {
        for (;;) {
            arena_->bell().arm();
            if (arena_->device(rank).is_here.load(std::memory_order_acquire) != 0) break;
            if (shm::Clock::now() >= deadline) {
                throw Error(Fault::resource,
                            fmt::format("device {} of {} has not come within {} ms", rank,
                                        arena_->devices(), options_.start_deadline.count()));
            }
            watch(deadline);
            if (scheduler_->state() == WorkerState::failed) scheduler_->require_ready();
        }
    }
    scheduler_->set_state(WorkerState::ready);
}

// Sleeps until a device rings or dies, the keeper is called, or the deadline comes.
void Keeper::watch(shm::Clock::time_point deadline) {
    std::vector<pollfd> watched = {{bell_, POLLIN, 0}};
    // poll() skips the descriptor -1 of a device that is gone.
    for (const int descriptor : crew_->descriptors()) watched.push_back({descriptor, POLLIN, 0});
    const timespec limit = time_until(deadline);
    const timespec* const limited = deadline == shm::kNoDeadline ? nullptr : &limit;
    if (ppoll(watched.data(), watched.size(), limited, nullptr) <= 0) return;
    std::uint64_t rings = 0;
    [[maybe_unused]] const ssize_t got = read(bell_, &rings, sizeof rings);
    for (std::size_t i = 1; i < watched.size(); ++i) {
        if (watched[i].revents == 0) continue;
        const auto rank = static_cast<int>(i) - 1;
        scheduler_->device_died(rank, crew_->how_it_ended(rank));
    }
}

bool Keeper::is_time_to_end() const {
    switch (order_.load()) {
        case Order::keep: return false;
        case Order::end: return true;
        case Order::close: return scheduler_->is_quiet() || shm::Clock::now() >= close_at_.load();
    }
    return true;
}

void Keeper::end_devices() {
    const bool closes = order_.load() == Order::close;
    scheduler_->abandon(closes ? "the worker was closed" : "the worker was restarted");
    for (int rank = 0; rank < arena_->devices(); ++rank) {
        arena_->device(rank).leave.store(1, std::memory_order_relaxed);
        arena_->world().wake(rank);
    }
    crew_->end(shm::Clock::now() + kGrace);
    crew_ = nullptr;
    scheduler_->forget_devices();
    scheduler_->call_when_quiet({});
    if (!closes) return;
    scheduler_->end_host_thread(close_at_.load());
    scheduler_->close();
}

}  // namespace peal::worker
