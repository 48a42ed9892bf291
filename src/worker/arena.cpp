// SPDX-License-Identifier: Apache-2.0
#include "worker/arena.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace peal::worker {

DeviceMemory::DeviceMemory(std::shared_ptr<shm::World> world, std::uint64_t bytes)
    : world_(std::move(world)), bytes_(bytes), offset_(world_->allocate(bytes, 1)) {}

DeviceMemory::~DeviceMemory() { world_->disown(offset_); }

Arena::Arena(int devices)
    : devices_(devices),
      world_(shm::World::create(devices)),
      control_(std::make_shared<DeviceMemory>(
          world_, sizeof(HostBell) + static_cast<std::uint64_t>(devices) * sizeof(DeviceRecord))) {
    reset_control();
}

void Arena::reset_control() const {
    new (&bell()) HostBell;
    for (int rank = 0; rank < devices_; ++rank) new (&device(rank)) DeviceRecord;
}

std::shared_ptr<DeviceMemory> Arena::allocate(std::uint64_t bytes) const {
    return std::make_shared<DeviceMemory>(world_, bytes);
}

int Stages::class_of(std::uint64_t bytes) { return std::bit_width(std::max(bytes, kSmallest) - 1); }

Stages::Block Stages::take(std::uint64_t bytes) {
    std::vector<Block>& free = free_[class_of(bytes)];
    if (free.empty()) return arena_.allocate(std::uint64_t{1} << class_of(bytes));
    Block block = std::move(free.back());
    free.pop_back();
    kept_bytes_ -= block->bytes();
    return block;
}

void Stages::give_back(Block block) {
    if (kept_bytes_ + block->bytes() > kMostKept) return;
    kept_bytes_ += block->bytes();
    free_[class_of(block->bytes())].push_back(std::move(block));
}

}  // namespace peal::worker
