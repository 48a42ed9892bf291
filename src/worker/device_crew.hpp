// SPDX-License-Identifier: Apache-2.0
// The devices of a worker as something that runs, and may die.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "shm/backoff.hpp"
#include "worker/arena.hpp"

namespace peal::worker {

class DeviceCrew {
public:
    virtual ~DeviceCrew() = default;

    // By rank: a descriptor that is readable when the device is gone; -1: there is nothing to see.
    virtual std::vector<int> descriptors() const = 0;
    // Of a device that is gone: "rank 2 was killed by signal 9 (Killed)".
    virtual std::string how_it_ended(int rank) = 0;
    virtual int process_of(int rank) const = 0;  // 0: it has none

    // All devices have been told to leave. Returns when they are gone; those that are not by the
    // deadline are killed, if they can be.
    virtual void end(shm::Clock::time_point deadline) = 0;
};

// Device processes die with the thread that calls. Throw Error(resource).
std::unique_ptr<DeviceCrew> start_processes(const Arena& arena, const std::vector<int>& numbers,
                                            int host_bell);
std::unique_ptr<DeviceCrew> start_threads(const Arena& arena, int host_bell);

}  // namespace peal::worker
