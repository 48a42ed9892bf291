// SPDX-License-Identifier: Apache-2.0
// What host and devices say to each other, as it lies in the memory that they share.
//
// Each device has a ring of commands. The host writes them, the device carries them out in order;
// there is one producer and one consumer. `submitted` and `completed` count commands, so command c
// is in slot c mod kSlots until it is completed and the host has looked at what came out.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "peal/plan.hpp"
#include "peal/worker.hpp"
#include "shm/world.hpp"

namespace peal::worker {

inline constexpr std::uint64_t kSlots = 32;
inline constexpr std::size_t kMaxBuffers = 64;  // of one kernel
inline constexpr std::size_t kMaxDevices = WorkerOptions::kMaxDevices;

// Where a buffer of the plan is; as BoundBuffer, without addresses.
struct BoundRange {
    std::uint64_t offset = 0;
    std::uint64_t rank_stride = 0;
    std::int64_t generation = 0;
};

enum class Ending : std::uint32_t { done, cancelled, error };

struct alignas(kCacheLineBytes) Command {
    // Written by the host before it is submitted.
    std::uint64_t plan_id = 0;  // never used for another plan
    std::uint64_t plan_offset = 0;
    std::uint64_t plan_bytes = 0;
    std::uint32_t buffers = 0;
    std::uint32_t nranks = 0;
    std::array<BoundRange, kMaxBuffers> memory;
    std::array<std::uint16_t, kMaxDevices> devices{};  // by rank in the plan
    // Set by the host at any time: do not begin it, or stop at the next wait.
    alignas(kCacheLineBytes) std::atomic<std::uint32_t> cancelled = 0;
    // Written by the device before it is completed.
    alignas(kCacheLineBytes) std::int64_t started = 0;  // steady clock, nanoseconds
    std::int64_t ended = 0;
    std::int64_t waited = 0;  // of that
    std::uint64_t waits = 0;  // how often
    std::array<TaskTiming::Wait, TaskTiming::kMaxWaits> first_waits;
    Ending ending = Ending::done;
    std::int32_t fault = 0;  // Fault, if it ended in an error
    std::array<char, 1000> message{};
};

inline constexpr std::size_t kMaxDeviceLanes = 256;  // of a plan that a device carries out

// Where a device stands.
struct alignas(kCacheLineBytes) DeviceProgress {
    // The next instruction of the command at hand.
    std::atomic<std::uint64_t> instruction = 0;
    // Odd while the device has been waiting for some time at that instruction. It becomes even
    // before the device does anything else, so an odd number that has not changed means that the
    // device did nothing in between.
    std::atomic<std::uint64_t> waits = 0;
    // While it is odd: where each lane of the plan stands, or ended.
    std::array<std::atomic<std::uint32_t>, kMaxDeviceLanes> lanes{};
};

struct DeviceRecord {
    alignas(kCacheLineBytes) std::atomic<std::uint64_t> submitted = 0;  // by the host
    std::atomic<std::uint32_t> leave = 0;                               // by the host
    alignas(kCacheLineBytes) std::atomic<std::uint64_t> completed = 0;  // by the device
    std::atomic<std::uint32_t> is_here = 0;                             // by the device
    DeviceProgress standing;
    std::array<Command, kSlots> commands;

    Command& command(std::uint64_t number) { return commands[number % kSlots]; }
};

// How a device calls the host. Whoever has something to say stores it first and then calls ring();
// the host arms the bell first and then looks. Both exchange `armed`: of the two, the later one
// sees what the other did before.
struct alignas(kCacheLineBytes) HostBell {
    std::atomic<std::uint32_t> armed = 0;

    void arm() { armed.exchange(1, std::memory_order_acq_rel); }
    void disarm() { armed.store(0, std::memory_order_relaxed); }
    // `descriptor` is the host's eventfd.
    void ring(int descriptor);
};

}  // namespace peal::worker
