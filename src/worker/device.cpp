// SPDX-License-Identifier: Apache-2.0
#include "worker/device.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <string_view>

#include "engine/run_record.hpp"
#include "peal/error.hpp"
#include "shm/backoff.hpp"
#include "worker/wire.hpp"

namespace peal::worker {
namespace {

constexpr std::size_t kPlansKept = 1024;
// After so many pauses a wait is worth telling the host about. By then the device yields its core
// or is about to sleep.
constexpr int kPausesOfALongWait = 64;

std::int64_t now() { return shm::Clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

bool is_cancelled(const Command& command) {
    return command.cancelled.load(std::memory_order_relaxed) != 0;
}

void note_wait(Command& command, const TaskTiming::Wait& wait) {
    if (command.waits < command.first_waits.size()) command.first_waits[command.waits] = wait;
    ++command.waits;
    command.waited += wait.to - wait.from;
}

void note_error(Command& command, Fault fault, std::string_view what) {
    command.ending = Ending::error;
    command.fault = static_cast<std::int32_t>(fault);
    const std::size_t length = std::min(what.size(), command.message.size() - 1);
    std::memcpy(command.message.data(), what.data(), length);
    command.message[length] = '\0';
}

}  // namespace

Device::Device(const Arena& arena, int rank, int host_bell)
    : arena_(arena),
      rank_(rank),
      host_bell_(host_bell),
      spins_(arena.devices() < arena.world().header().cores),
      record_(arena.device(rank)) {}

void Device::run() {
    record_.is_here.store(1, std::memory_order_release);
    arena_.bell().ring(host_bell_);
    for (;;) {
        shm::Backoff backoff(arena_.world(), rank_, spins_);
        // Acquire: the command was written before it was counted.
        while (record_.submitted.load(std::memory_order_acquire) == completed_) {
            if (record_.leave.load(std::memory_order_relaxed) != 0) return;
            backoff.pause();
        }
        carry_out(record_.command(completed_));
        ++completed_;
        record_.standing.instruction.store(0, std::memory_order_relaxed);
        // Release: who counts the command sees what it did and how it ended.
        record_.completed.store(completed_, std::memory_order_release);
        arena_.bell().ring(host_bell_);
    }
}

// The host can see where the device stands, and cancel what it waits for.
struct Device::CommandSupplier : engine::PlainSupplier {
    CommandSupplier(Device& device, Command& command) : device(device), command(command) {}
    void begins(const engine::Core& core) {
        device.record_.standing.instruction.store(core.position(), std::memory_order_relaxed);
    }
    bool wait(const engine::Core& core) {
        const std::int64_t from = now();
        const bool goes_on = device.wait(command);
        note_wait(command, {from, now(), core.position()});
        return goes_on;
    }
    void rang(const engine::Core& core) {
        const auto member = static_cast<std::size_t>(core.last().dst.rank);
        shm::ring_if_asleep(device.arena_.world(), command.devices[member]);
    }
    Device& device;
    Command& command;
};

void Device::carry_out(Command& command) {
    command.started = now();
    command.waited = 0;
    command.waits = 0;
    try {
        const ReadyPlan& ready = load(command);
        bind(command, ready.plan);
        core_.start(ready.tape, memory_);
        CommandSupplier supplier(*this, command);
        const bool is_done =
            !is_cancelled(command) && engine::drive(core_, supplier) == engine::Driven::done;
        command.ending = is_done ? Ending::done : Ending::cancelled;
    } catch (const Error& error) {
        note_error(command, error.fault(), error.what());
    } catch (const std::exception& error) {
        note_error(command, Fault::resource, error.what());
    }
    command.ended = now();
}

// False if the command was cancelled meanwhile.
bool Device::wait(const Command& command) {
    shm::Backoff backoff(arena_.world(), rank_, spins_);
    bool goes_on = true;
    int pauses = 0;
    while (core_.is_blocked() && goes_on) {
        if (++pauses == kPausesOfALongWait) begin_long_wait();
        backoff.pause();
        goes_on = !is_cancelled(command);
    }
    // Release: nothing that follows is seen before it.
    if (pauses >= kPausesOfALongWait) {
        record_.standing.waits.fetch_add(1, std::memory_order_release);
    }
    return goes_on;
}

void Device::begin_long_wait() {
    const Plan& plan = core_.plan();
    const auto note = [&](std::size_t lane, std::size_t position) {
        record_.standing.lanes[lane].store(static_cast<std::uint32_t>(position),
                                           std::memory_order_relaxed);
    };
    for (std::size_t lane = 0; lane < plan.lane_count(); ++lane) note(lane, plan.lane_end(lane));
    core_.for_each_lane(note);
    // Release: who sees it sees the instructions.
    record_.standing.waits.fetch_add(1, std::memory_order_release);
    arena_.bell().ring(host_bell_);
}

const Device::ReadyPlan& Device::load(const Command& command) {
    const auto found = plans_.find(command.plan_id);
    if (found != plans_.end()) return *found->second;
    if (plans_.size() == kPlansKept) plans_.clear();
    auto ready = std::make_unique<ReadyPlan>();
    ready->plan = plan_from_bytes({arena_.at(command.plan_offset), command.plan_bytes});
    engine::record_run(ready->plan);
    ready->tape.read(ready->plan);
    return *plans_.emplace(command.plan_id, std::move(ready)).first->second;
}

void Device::bind(const Command& command, const Plan& plan) {
    if (tiles_.size() < engine::tile_room(plan)) tiles_.resize(engine::tile_room(plan));
    memory_.clear();
    for (std::uint32_t b = 0; b < command.buffers; ++b) {
        const BoundRange& range = command.memory[b];
        memory_.push_back({.base = arena_.at(range.offset),
                           .rank_stride = range.rank_stride,
                           .generation = range.generation});
    }
    engine::add_unnamed_memory(plan, tiles_.data(), memory_);
}

}  // namespace peal::worker
