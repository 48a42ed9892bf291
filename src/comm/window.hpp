// SPDX-License-Identifier: Apache-2.0
// Symmetric memory of the user's, in the world's memory.
#pragma once

#include <cstdint>
#include <memory>

#include "comm/group.hpp"
#include "peal/communicator.hpp"

namespace peal::comm {

struct WindowState {
    WindowState() = default;
    ~WindowState();
    WindowState(const WindowState&) = delete;
    WindowState& operator=(const WindowState&) = delete;

    // Where members are on several hosts: all come.
    void connect_hosts(Group& among, CallSite at);

    std::shared_ptr<World> world;
    std::uint64_t extent = 0;
    std::uint64_t bytes = 0;        // per rank
    std::uint64_t rank_stride = 0;  // whole pages
    int nranks = 0;
    std::uint64_t group = 0;      // Group::id() of its communicator
    std::uint64_t number = 0;     // among the windows of its communicator, from 1
    std::int64_t generation = 0;  // if it holds signals
    std::shared_ptr<hosts::Job> job;
    std::vector<bool> far;                // as in Members
    std::shared_ptr<FarParts> far_parts;  // goes before the job
};

// What is behind the handles that users have.
struct Inside {
    static WindowState& of(const WindowMemory& window) { return *window.state_; }
    static const KernelState& of(const Kernel& kernel) { return *kernel.state_; }
    // The communicator of a rank of a job; all must call.
    static Communicator connect(const std::shared_ptr<hosts::Job>& job);
    // One of the same ranks that chooses its recipes by another table, the same on all of them. All
    // must call.
    static Communicator choosing_by(Communicator& whole, std::shared_ptr<const Table> table,
                                    CallSite at = CallSite::here());
};

// Throws Error(usage) when the window belongs to another communicator.
Symmetric symmetric(const WindowMemory& window, const Group& group);

}  // namespace peal::comm
