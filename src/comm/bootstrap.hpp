// SPDX-License-Identifier: Apache-2.0
// How groups come to be, the first one of a world and parts of a group, and how a rank goes.
#pragma once

#include <memory>
#include <utility>

#include "comm/group.hpp"
#include "shm/world.hpp"

namespace peal::comm {

// The group of all ranks. Rank 0 decides on the table that chooses recipes; the others wait for it.
std::unique_ptr<Group> bootstrap(std::shared_ptr<World> world, int rank);

// The same of a job that may be on several hosts.
std::unique_ptr<Group> bootstrap(const std::shared_ptr<hosts::Job>& job);

// The part of `group` whose members gave the same colour, ordered by key, then by rank. Its recipes
// are chosen by `table`, the same on all; nullptr: that of the group.
std::unique_ptr<Group> split(Group& group, int colour, int key, CallSite at,
                             std::shared_ptr<const Table> table = nullptr);

// A rank among those of its world, kept by all its communicators: it leaves with the last of them.
class WorldMember {
public:
    WorldMember(std::shared_ptr<World> world, int rank, std::shared_ptr<hosts::Job> job = nullptr)
        : job_(std::move(job)), world_(std::move(world)), rank_(rank) {}
    ~WorldMember() { world_->leave(rank_); }
    WorldMember(const WorldMember&) = delete;
    WorldMember& operator=(const WorldMember&) = delete;

private:
    std::shared_ptr<hosts::Job> job_;  // goes last: it waits for the others
    std::shared_ptr<World> world_;
    int rank_;
};

}  // namespace peal::comm
