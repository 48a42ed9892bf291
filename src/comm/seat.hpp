// SPDX-License-Identifier: Apache-2.0
// A rank's place in the world, kept by all its communicators: it leaves with the last of them.
#pragma once

#include <memory>

#include "shm/world.hpp"

namespace peal::comm {

class Seat {
public:
    Seat(std::shared_ptr<shm::World> world, int rank) : world_(std::move(world)), rank_(rank) {}
    ~Seat() { world_->leave(rank_); }
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

private:
    std::shared_ptr<shm::World> world_;
    int rank_;
};

}  // namespace peal::comm
