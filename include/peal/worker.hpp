// SPDX-License-Identifier: Apache-2.0
// The worker: one host program that drives many devices.
//
//   Worker worker({.ranks = 4});
//   DeviceKernel sum(Collective{.kind = CollectiveKind::allreduce, .count = 256});
//   Domain all = worker.allocate_domain({.name = "all", .windows = sum.windows(4)});
//   Task task = worker.submit_group(sum, all, per_rank(4, [&](int r) {
//       return Arguments{Tensor(input[r]), Tensor(output[r]), all["data"], all["signal"]};
//   }));
//   task.wait();
//
// A device is a process (or a thread) that carries out plans; it knows no kernel beforehand. Tasks
// are submitted in program order and run as soon as what they read and write allows: a task that
// reads bytes comes after the task that writes them (RAW), and a task that writes bytes comes after
// those that read or wrote them before (WAR, WAW). Disjoint slices are independent. A window of a
// domain counts as read and written: by a group on all ranks, by a single task on its own rank.
//
// A task that fails takes those with it that would read what it did not write, and those that were
// told to come after it; all others go on. This also holds for tasks that are submitted later,
// until wait() has reported the failure: the program then knows, and what it submits is taken at
// its word.
//
// All functions may be called from any thread, also from host tasks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "peal/worker_domain.hpp"
#include "peal/worker_kernel.hpp"
#include "peal/worker_task.hpp"
#include "peal/worker_tensor.hpp"

namespace peal {

enum class WorkerState : std::uint8_t {
    fresh,   // its devices are being started
    ready,   //
    failed,  // a device died, or no device could go on; restart() or close() it
    closed,
};
std::string_view name(WorkerState state);  // "new", "ready", "failed", "closed"

enum class DeviceEngine : std::uint8_t {
    processes,   // a process per device: it may die and the host program lives
    in_process,  // a thread per device
};

struct WorkerOptions {
    // Which devices: so many, or these. A device's rank is its place in the list, whatever its
    // number is; 1..kMaxDevices of them.
    int ranks = 0;
    std::vector<int> devices = {};
    std::string platform = "host";  // or "a2a3sim", "a5sim": whose limits `check` applies
    DeviceEngine engine = DeviceEngine::processes;
    // Kernels are proved before their first run; one that is not proved is refused with the
    // counterexample: submit throws Error(wrong), or Error(bound) if no answer was found.
    bool check = false;
    // Tasks that are submitted and not over. At the bound submit waits until there are fewer; host
    // tasks are exempt.
    std::size_t max_pending = 4096;
    std::size_t max_timings = 100'000;  // what timings() remembers: the latest
    std::chrono::milliseconds start_deadline{10'000};
    std::chrono::milliseconds close_deadline{10'000};

    static constexpr int kMaxDevices = 256;
};

// What a worker has proved of a kernel.
struct KernelProof {
    std::string kernel;
    int ranks = 0;
    bool any_calls = false;  // otherwise three
    bool any_order = false;  // otherwise if what a pipe has drained is visible to all: `drained`
};

class Worker {
public:
    // Starts the devices. Throws Error(usage) for options that cannot be, before anything is
    // started, and Error(resource) when the machine says no or the deadline passes.
    explicit Worker(WorkerOptions options);
    ~Worker();  // close(); its error goes to stderr
    Worker(Worker&&) noexcept;
    Worker& operator=(Worker&&) noexcept;

    int ranks() const;
    const std::vector<int>& devices() const;  // numbers, by rank
    WorkerState state() const;
    int process_of(int rank) const;  // its process id; 0 if it has none
    const WorkerOptions& options() const;

    // ---- memory

    // Memory on a device, zeroed. Error(usage) if there is no such device, Error(resource) when the
    // machine has not got as much.
    Tensor alloc(int rank, Element element, Dimensions shape);
    template <ElementType T>
    Tensor alloc(int rank, Dimensions shape) {
        return alloc(rank, element_of<T>, std::move(shape));
    }
    // Equal parts of the first dimension, on all devices or on those given.
    ShardedTensor alloc_sharded(Element element, Dimensions shape, std::vector<int> ranks = {});

    // Copies as tasks: in order with all that reads or writes either. Type and number of elements
    // must be the same: Error(usage). `upload` and `download` say which of the two is the host's.
    Task copy(const Tensor& from, const Tensor& to, TaskOptions options = {});
    Task upload(const Tensor& from, const Tensor& to, TaskOptions options = {});
    Task download(const Tensor& from, const Tensor& to, TaskOptions options = {});
    std::vector<Task> upload(const Tensor& from, const ShardedTensor& to);
    std::vector<Task> download(const ShardedTensor& from, const Tensor& to);

    // Error(usage) if a device is named twice or does not exist, or two windows have one name.
    Domain allocate_domain(DomainSpec spec);

    // ---- tasks
    //
    // Arguments are checked before anything is started: an Error(usage) names the kernel, the
    // parameter, what was found and what was expected. Two arguments of one task may overlap only
    // if both are read.

    // One device's part of a kernel. If it has windows, the device's rank and the number of ranks
    // are those of their domain, and whoever it waits for must be submitted too, before anything is
    // waited for; otherwise it is rank 0 of 1.
    Task submit(const DeviceKernel& kernel, int rank, Arguments arguments,
                TaskOptions options = {});

    // All parts of a kernel, as one task: its members start together or not at all, and in the same
    // order on every device, so groups that share devices cannot wait for each other. Member i is
    // rank i of the group. If the kernel has windows, their domain's ranks are these.
    Task submit_group(const DeviceKernel& kernel, const std::vector<int>& ranks,
                      std::vector<Arguments> arguments, TaskOptions options = {});
    Task submit_group(const DeviceKernel& kernel, const Domain& domain,
                      std::vector<Arguments> arguments, TaskOptions options = {});

    // A function of the host program, run on a thread of the worker's: one at a time. It may submit
    // tasks, wait for tasks of devices, and call close(). `uses` says with in(), out() and inout()
    // what it touches. What it throws is what wait() on it throws.
    Task submit_host(std::function<void()> function, Arguments uses = {}, TaskOptions options = {});

    // Returns when all tasks are over, also those that were submitted meanwhile; throws the first
    // failure that no wait() has reported yet. In a host task: Error(usage), since it would wait
    // for itself.
    void wait();
    // As wait(), at most so long: false if there are tasks that are not over yet.
    bool wait_for(std::chrono::nanoseconds limit);

    // With `check`, what has been proved so far, in that order.
    std::vector<KernelProof> proofs() const;

    // ---- the end, and a new start

    // New devices after a failure (or without one), with the memory of tensors as it is and every
    // domain's windows zeroed, at generation 0. Tasks that are not over fail first. Error(usage) if
    // the worker is closed or this is a host task.
    void restart();

    // Waits for all tasks, until the deadline; what is not over then fails. Ends the devices, and
    // leaves nothing behind but the memory of tensors that are still held. Any number of calls. In
    // a host task it returns at once and the rest happens when the task is over. A host task that
    // has not returned by then is left to itself: Error(wrong) names it, and what its function
    // refers to must last until it returns.
    void close();

    // ---- what happened

    std::vector<TaskTiming> timings() const;  // of tasks that are over, in the order of their end
    void write_trace(const std::string& path) const;  // to_trace(timings()); Error(resource)

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace peal
