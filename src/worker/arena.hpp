// SPDX-License-Identifier: Apache-2.0
// The memory that host and devices share: one sparse mapping, made before the devices are started.
// Everything that a device ever works on is an offset in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "shm/world.hpp"
#include "worker/control.hpp"

namespace peal::worker {

// Zeroed memory, given back with its last owner.
class DeviceMemory {
public:
    DeviceMemory(std::shared_ptr<shm::World> world, std::uint64_t bytes);
    ~DeviceMemory();
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    std::uint64_t offset() const { return offset_; }
    std::uint64_t bytes() const { return bytes_; }
    std::byte* data() const { return world_->at(offset_); }

private:
    std::shared_ptr<shm::World> world_;
    std::uint64_t bytes_;
    std::uint64_t offset_;
};

class Arena {
public:
    explicit Arena(int devices);

    shm::World& world() const { return *world_; }
    int devices() const { return devices_; }
    HostBell& bell() const { return *reinterpret_cast<HostBell*>(control_->data()); }
    DeviceRecord& device(int rank) const {
        return reinterpret_cast<DeviceRecord*>(control_->data() + sizeof(HostBell))[rank];
    }
    std::byte* at(std::uint64_t offset) const { return world_->at(offset); }
    std::uint64_t offset_of(const std::byte* data) const {
        return static_cast<std::uint64_t>(data - world_->at(0));
    }
    bool contains(const std::byte* data) const {
        return data >= world_->at(0) && data < world_->at(world_->header().bytes);
    }
    std::shared_ptr<DeviceMemory> allocate(std::uint64_t bytes) const;

    // Empty rings and a silent bell. Only while there is no device.
    void reset_control() const;

private:
    int devices_;
    std::shared_ptr<shm::World> world_;
    std::shared_ptr<DeviceMemory> control_;  // a HostBell, then a DeviceRecord for each device
};

// Blocks that hold copies of host memory while a task runs. They are kept for the next task, since
// asking the system for memory takes longer than most tasks do. Their contents are whatever the
// last user left.
class Stages {
public:
    explicit Stages(const Arena& arena) : arena_(arena) {}

    using Block = std::shared_ptr<DeviceMemory>;
    Block take(std::uint64_t bytes);
    void give_back(Block block);

private:
    static constexpr std::uint64_t kSmallest = 4096;
    static constexpr std::uint64_t kMostKept = 64 << 20;
    static constexpr int kClasses = 64;
    static int class_of(std::uint64_t bytes);

    const Arena& arena_;
    std::vector<Block> free_[kClasses];  // by the logarithm of their size
    std::uint64_t kept_bytes_ = 0;
};

}  // namespace peal::worker
