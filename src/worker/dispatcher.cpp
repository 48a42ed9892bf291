// SPDX-License-Identifier: Apache-2.0
#include "worker/dispatcher.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include "engine/contract.hpp"
#include "shm/backoff.hpp"

namespace peal::worker {

Dispatcher::Dispatcher(std::shared_ptr<const Arena> arena)
    : arena_(std::move(arena)), stages_(*arena_), rings_(index(arena_->devices())) {}

bool Dispatcher::is_idle() const {
    return std::all_of(rings_.begin(), rings_.end(),
                       [](const Ring& ring) { return ring.in_flight.empty(); });
}

// ---------------------------------------------------------------------------- there

void Dispatcher::dispatch(const TaskPtr& task) {
    stage(*task);
    set_generations(*task);
    task->outstanding = task->members.size();
    for (std::size_t m = 0; m < task->members.size(); ++m) {
        TaskMember& member = task->members[m];
        Ring& ring = rings_[index(member.device)];
        member.command = ring.submitted++;
        member.is_outstanding = true;
        write_command(*task, member, record(member.device).command(member.command));
        ring.in_flight.push_back({task, m});
        // Release: the device that counts the command sees it.
        record(member.device).submitted.store(ring.submitted, std::memory_order_release);
    }
    // Only now, so that no member starts long before the others.
    for (const TaskMember& member : task->members) {
        shm::ring_if_asleep(arena_->world(), member.device);
    }
}

void Dispatcher::stage(TaskNode& task) {
    for (StagedArgument& argument : task.staged) argument.block = stages_.take(argument.bytes);
    for (StagedArgument& argument : task.staged) {
        if (argument.copy_in) {
            std::memcpy(argument.block->data(), argument.host, argument.bytes);
        }
        task.members[argument.member].memory[argument.buffer].offset = argument.block->offset();
    }
}

// Tasks that use a signal come one after another, so each sees what the last one left.
void Dispatcher::set_generations(TaskNode& task) const {
    for (const SignalUse& use : task.signals) {
        TaskMember& member = task.members[use.member];
        std::int64_t& generation =
            use.domain->windows[use.window].generations[static_cast<std::size_t>(member.rank)];
        member.memory[use.buffer].generation = generation;
        engine::advance_generation(task.plan_of(member), use.buffer, generation);
    }
}

void Dispatcher::write_command(const TaskNode& task, const TaskMember& member,
                               Command& command) const {
    const auto rank = static_cast<std::size_t>(member.rank);
    const Plan& plan = task.plan_of(member);
    const LoadedKernel::Part& part = task.kernel->parts[rank];
    // Kernels' numbers are unique, and so are their plans'.
    command.plan_id = task.kernel->kernel->id * kMaxDevices + rank;
    command.plan_offset = part.offset;
    command.plan_bytes = part.bytes;
    command.buffers = static_cast<std::uint32_t>(member.memory.size());
    std::copy(member.memory.begin(), member.memory.end(), command.memory.begin());
    command.nranks = static_cast<std::uint32_t>(plan.nranks);
    if (!task.domains.empty()) {
        const std::vector<int>& ranks = task.domains[0]->ranks;
        std::copy(ranks.begin(), ranks.end(), command.devices.begin());
    }
    command.cancelled.store(0, std::memory_order_relaxed);
}

void Dispatcher::cancel(const TaskMember& member) const {
    record(member.device).command(member.command).cancelled.store(1, std::memory_order_relaxed);
    arena_->world().wake(member.device);
}

// ---------------------------------------------------------------------------- and back

bool Dispatcher::has_news() const {
    for (int device = 0; device < devices(); ++device) {
        const std::uint64_t collected =
            rings_[index(device)].collected.load(std::memory_order_relaxed);
        if (record(device).completed.load(std::memory_order_relaxed) != collected) return true;
    }
    return false;
}

void Dispatcher::collect(const Ended& ended) {
    for (int device = 0; device < devices(); ++device) {
        Ring& ring = rings_[index(device)];
        // Acquire: pairs with the device's count of what it has completed.
        const std::uint64_t completed = record(device).completed.load(std::memory_order_acquire);
        while (!ring.in_flight.empty()) {
            const std::uint64_t next = ring.collected.load(std::memory_order_relaxed);
            if (next == completed) break;
            const InFlight done = std::move(ring.in_flight.front());
            ring.in_flight.pop_front();
            ring.collected.store(next + 1, std::memory_order_relaxed);
            done.task->members[done.member].is_outstanding = false;
            --done.task->outstanding;
            ended(done, record(device).command(next));
        }
    }
}

std::deque<Dispatcher::InFlight> Dispatcher::drop(int device) {
    Ring& ring = rings_[index(device)];
    for (const InFlight& dropped : ring.in_flight) {
        dropped.task->members[dropped.member].is_outstanding = false;
        --dropped.task->outstanding;
    }
    return std::exchange(ring.in_flight, {});
}

void Dispatcher::restart() {
    assert(is_idle());
    for (Ring& ring : rings_) {
        ring.collected.store(0, std::memory_order_relaxed);
        ring.submitted = 0;
    }
    arena_->reset_control();
}

void Dispatcher::copy_out(const TaskNode& task) const {
    for (const StagedArgument& argument : task.staged) {
        if (argument.copy_out) {
            std::memcpy(argument.host, argument.block->data(), argument.bytes);
        }
    }
}

void Dispatcher::release(TaskNode& task) {
    assert(task.outstanding == 0);
    for (StagedArgument& argument : task.staged) {
        if (argument.block) stages_.give_back(std::move(argument.block));
    }
    task.members.clear();
    task.accesses.clear();
    task.staged.clear();
    task.signals.clear();
    task.domains.clear();
    task.keeps.clear();
    task.from = task.to = Tensor();
    task.function = nullptr;
    task.kernel = nullptr;
}

}  // namespace peal::worker
