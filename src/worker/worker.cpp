// SPDX-License-Identifier: Apache-2.0
// The worker as its users see it.
#include "peal/worker.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "base/file.hpp"
#include "peal/error.hpp"
#include "shm/deadline.hpp"
#include "worker/arena.hpp"
#include "worker/devices.hpp"
#include "worker/domain_state.hpp"
#include "worker/inside.hpp"
#include "worker/keeper.hpp"
#include "worker/kernel_store.hpp"
#include "worker/scheduler.hpp"
#include "worker/task_maker.hpp"

namespace peal {
namespace {

std::vector<int> checked_devices(const WorkerOptions& options) {
    std::vector<int> devices = options.devices;
    if (devices.empty()) {
        for (int rank = 0; rank < options.ranks; ++rank) devices.push_back(rank);
    } else if (options.ranks != 0 && options.ranks != static_cast<int>(devices.size())) {
        throw Error(Fault::usage, fmt::format("worker: expected {} devices, found a list of {}",
                                              options.ranks, devices.size()));
    }
    if (devices.empty() || devices.size() > WorkerOptions::kMaxDevices || options.ranks < 0) {
        throw Error(
            Fault::usage,
            fmt::format("worker: expected 1..{} devices, found {}", WorkerOptions::kMaxDevices,
                        options.ranks < 0 ? options.ranks : static_cast<int>(devices.size())));
    }
    for (const int device : devices) {
        if (device < 0 || std::count(devices.begin(), devices.end(), device) > 1) {
            throw Error(Fault::usage,
                        fmt::format("worker: expected devices that differ and are not negative, "
                                    "found {}{}",
                                    device, device < 0 ? "" : " twice"));
        }
    }
    return devices;
}

WorkerOptions checked(WorkerOptions options) {
    worker::check_platform(options.platform);
    if (options.max_pending == 0) {
        throw Error(Fault::usage, "worker: expected max_pending of at least 1, found 0");
    }
    return options;
}

}  // namespace

std::string_view name(WorkerState state) {
    switch (state) {
        case WorkerState::fresh: return "new";
        case WorkerState::ready: return "ready";
        case WorkerState::failed: return "failed";
        case WorkerState::closed: return "closed";
    }
    return "";
}

struct Worker::Impl {
    explicit Impl(WorkerOptions wanted)
        : options(checked(std::move(wanted))),
          devices(checked_devices(options)),
          arena(std::make_shared<worker::Arena>(static_cast<int>(devices.size()))),
          store(std::make_shared<worker::KernelStore>(arena, options.check, options.platform)),
          scheduler(std::make_shared<worker::Scheduler>(arena, options.max_pending,
                                                        options.max_timings)) {
        start();
    }
    ~Impl() {
        if (has_told) return;  // and is closed
        try {
            close();
        } catch (const Error& error) {
            fmt::print(stderr, "peal: {}\n", error.what());
        }
    }

    void start() {
        keeper = std::make_unique<worker::Keeper>(arena, scheduler, options, devices);
        for (int rank = 0; rank < static_cast<int>(devices.size()); ++rank) {
            processes.push_back(keeper->process_of(rank));
        }
    }

    void close() {
        {
            const std::lock_guard lock(mutex);
            if (keeper) {
                keeper->close_soon();
            } else {
                scheduler->close();  // it has no devices: it is closed, or could not be restarted
            }
        }
        if (scheduler->is_host_thread()) return;
        scheduler->await_closed();
        scheduler->end_host_thread(shm::from_now(options.close_deadline));
        {
            const std::lock_guard lock(mutex);
            keeper = nullptr;
            store = nullptr;
            arena = nullptr;
            domains.clear();
        }
        if (const std::string task = scheduler->left_behind(); !task.empty()) {
            has_told = true;
            throw Error(Fault::wrong,
                        fmt::format("{} is a host task that has not returned within {} ms; the "
                                    "worker is closed without it, and its thread goes on",
                                    task, options.close_deadline.count()));
        }
    }

    void restart() {
        if (scheduler->is_host_thread()) {
            throw Error(Fault::usage, "a host task cannot restart the worker");
        }
        const std::lock_guard lock(mutex);
        if (!arena || scheduler->state() == WorkerState::closed) {
            throw Error(Fault::usage, "the worker is closed");
        }
        keeper = nullptr;
        if (scheduler->state() == WorkerState::closed) {  // by another thread meanwhile
            throw Error(Fault::usage, "the worker is closed");
        }
        scheduler->set_state(WorkerState::fresh);
        for (const std::weak_ptr<worker::DomainState>& known : domains) {
            if (const auto domain = known.lock()) domain->reset();
        }
        processes.clear();
        try {
            start();
        } catch (const Error& error) {
            scheduler->set_state(WorkerState::failed, error.what());
            throw;
        }
    }

    // What tasks and memory are made from, for as long as the caller holds it.
    struct Workshop {
        std::shared_ptr<worker::Arena> arena;
        std::shared_ptr<worker::KernelStore> store;
    };
    Workshop workshop() {
        scheduler->require_ready();
        const std::lock_guard lock(mutex);
        if (!arena) throw Error(Fault::usage, "the worker is closed");
        return {arena, store};
    }

    Task submit(const worker::TaskPtr& task, const TaskOptions& task_options) {
        for (const Task& earlier : task_options.after) {
            if (earlier.is_over() || worker::Inside::belongs_to(earlier, *scheduler)) continue;
            throw Error(Fault::usage, fmt::format("task {} '{}', which must come first, belongs "
                                                  "to another worker",
                                                  earlier.id(), earlier.name()));
        }
        scheduler->submit(task, task_options.after);
        return worker::Inside::task(task, scheduler);
    }

    Domain remember(std::shared_ptr<worker::DomainState> domain) {
        scheduler->is_new(domain->memory->data(), domain->memory->bytes());
        const std::lock_guard lock(mutex);
        std::erase_if(domains, [](const auto& known) { return known.expired(); });
        domains.push_back(domain);
        return worker::Inside::domain(std::move(domain));
    }

    const WorkerOptions options;
    const std::vector<int> devices;
    std::mutex mutex;                      // of what follows; the scheduler has its own lock
    std::shared_ptr<worker::Arena> arena;  // null once closed, with all that needs it
    std::shared_ptr<worker::KernelStore> store;
    const std::shared_ptr<worker::Scheduler> scheduler;
    std::unique_ptr<worker::Keeper> keeper;
    std::vector<int> processes;
    std::vector<std::weak_ptr<worker::DomainState>> domains;
    std::atomic<bool> has_told = false;  // what was left behind, to who closed it
};

Worker::Worker(WorkerOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Worker::~Worker() = default;
Worker::Worker(Worker&&) noexcept = default;
Worker& Worker::operator=(Worker&&) noexcept = default;

int Worker::ranks() const { return static_cast<int>(impl_->devices.size()); }
const std::vector<int>& Worker::devices() const { return impl_->devices; }
WorkerState Worker::state() const { return impl_->scheduler->state(); }
const WorkerOptions& Worker::options() const { return impl_->options; }
int Worker::process_of(int rank) const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->processes.at(static_cast<std::size_t>(rank));
}

// ---------------------------------------------------------------------------- memory

Tensor Worker::alloc(int rank, Element element, Dimensions shape) {
    if (rank < 0 || rank >= ranks()) {
        throw Error(Fault::usage,
                    fmt::format("alloc: expected a rank in 0..{}, found {}", ranks() - 1, rank));
    }
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(count_of(shape), bytes_of(element), &bytes)) {
        throw Error(Fault::usage, fmt::format("alloc: {} has more bytes than can be counted",
                                              to_text(element, shape)));
    }
    const auto memory = impl_->workshop().arena->allocate(bytes);
    impl_->scheduler->is_new(memory->data(), memory->bytes());
    return worker::Inside::tensor(memory, memory->data(), rank, element, std::move(shape));
}

ShardedTensor Worker::alloc_sharded(Element element, Dimensions shape, std::vector<int> on) {
    if (on.empty()) {
        for (int rank = 0; rank < ranks(); ++rank) on.push_back(rank);
    }
    if (shape.empty() || shape[0] % on.size() != 0) {
        throw Error(Fault::usage, fmt::format("alloc: {} cannot be split into {} equal parts",
                                              to_text(element, shape), on.size()));
    }
    Dimensions part = shape;
    part[0] /= on.size();
    std::vector<Tensor> shards;
    for (const int rank : on) shards.push_back(alloc(rank, element, part));
    return {std::move(shape), std::move(shards)};
}

Task Worker::copy(const Tensor& from, const Tensor& to, TaskOptions options) {
    const Impl::Workshop workshop = impl_->workshop();
    return impl_->submit(worker::make_copy_task(*workshop.arena, from, to, options.name), options);
}

Task Worker::upload(const Tensor& from, const Tensor& to, TaskOptions options) {
    if (!from.is_on_host() || to.is_on_host()) {
        throw Error(Fault::usage, "upload: expected host memory first, then memory of a device");
    }
    if (options.name.empty()) options.name = "upload";
    return copy(from, to, std::move(options));
}

Task Worker::download(const Tensor& from, const Tensor& to, TaskOptions options) {
    if (from.is_on_host() || !to.is_on_host()) {
        throw Error(Fault::usage, "download: expected memory of a device first, then host memory");
    }
    if (options.name.empty()) options.name = "download";
    return copy(from, to, std::move(options));
}

std::vector<Task> Worker::upload(const Tensor& from, const ShardedTensor& to) {
    const std::vector<Tensor> parts = from.split(static_cast<int>(to.size()));
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < parts.size(); ++i) tasks.push_back(upload(parts[i], to[i]));
    return tasks;
}

std::vector<Task> Worker::download(const ShardedTensor& from, const Tensor& to) {
    const std::vector<Tensor> parts = to.split(static_cast<int>(from.size()));
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < parts.size(); ++i) tasks.push_back(download(from[i], parts[i]));
    return tasks;
}

Domain Worker::allocate_domain(DomainSpec spec) {
    const Impl::Workshop workshop = impl_->workshop();
    return impl_->remember(std::make_shared<worker::DomainState>(*workshop.arena, std::move(spec)));
}

// ---------------------------------------------------------------------------- tasks

Task Worker::submit(const DeviceKernel& kernel, int rank, Arguments arguments,
                    TaskOptions options) {
    const Impl::Workshop workshop = impl_->workshop();
    worker::KernelCall call{&kernel, {rank}, {}, false, options.name};
    call.arguments.push_back(std::move(arguments));
    return impl_->submit(worker::make_kernel_task(*workshop.arena, *workshop.store, call), options);
}

Task Worker::submit_group(const DeviceKernel& kernel, const std::vector<int>& ranks,
                          std::vector<Arguments> arguments, TaskOptions options) {
    const Impl::Workshop workshop = impl_->workshop();
    const worker::KernelCall call{&kernel, ranks, std::move(arguments), true, options.name};
    return impl_->submit(worker::make_kernel_task(*workshop.arena, *workshop.store, call), options);
}

Task Worker::submit_group(const DeviceKernel& kernel, const Domain& domain,
                          std::vector<Arguments> arguments, TaskOptions options) {
    return submit_group(kernel, domain.ranks(), std::move(arguments), std::move(options));
}

Task Worker::submit_host(std::function<void()> function, Arguments uses, TaskOptions options) {
    const Impl::Workshop workshop = impl_->workshop();
    return impl_->submit(
        worker::make_host_task(*workshop.arena, std::move(function), uses, options.name), options);
}

void Worker::wait() { impl_->scheduler->wait_all(std::chrono::nanoseconds::max()); }

bool Worker::wait_for(std::chrono::nanoseconds limit) { return impl_->scheduler->wait_all(limit); }

// ---------------------------------------------------------------------------- the end

void Worker::restart() { impl_->restart(); }
void Worker::close() { impl_->close(); }

std::vector<KernelProof> Worker::proofs() const { return impl_->workshop().store->proofs(); }

std::vector<TaskTiming> Worker::timings() const { return impl_->scheduler->timings(); }

void Worker::write_trace(const std::string& path) const {
    base::write_text(path, to_trace(timings()), "trace");
}

}  // namespace peal
