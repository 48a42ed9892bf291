// SPDX-License-Identifier: Apache-2.0
// A device: it takes commands from its ring and carries out their plans, until it is told to leave.
// It knows nothing but plans and offsets. The same loop runs in a process or a thread of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/contract.hpp"
#include "engine/tape.hpp"
#include "worker/arena.hpp"

namespace peal::worker {

class Device {
public:
    // `host_bell` is the eventfd behind Arena::bell().
    Device(const Arena& arena, int rank, int host_bell);

    void run();

private:
    struct ReadyPlan {
        Plan plan;
        engine::Tape tape;
    };

    void carry_out(Command& command);
    struct CommandSupplier;
    bool wait(const Command& command);
    const ReadyPlan& load(const Command& command);
    void bind(const Command& command, const Plan& plan);
    void begin_long_wait();

    const Arena& arena_;
    const int rank_;
    const int host_bell_;
    const bool spins_;
    DeviceRecord& record_;
    std::uint64_t completed_ = 0;

    // Plans that came before, by id. What is thrown away is read again from the command.
    std::unordered_map<std::uint64_t, std::unique_ptr<ReadyPlan>> plans_;
    engine::Core core_;
    std::vector<engine::BoundBuffer> memory_;
    std::vector<std::byte> tiles_;
};

}  // namespace peal::worker
