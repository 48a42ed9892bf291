// SPDX-License-Identifier: Apache-2.0
// What the cores of the machine share: hyper-threads of one physical core its units and caches,
// cores of one node the memory that is near.
#pragma once

#include <filesystem>
#include <utility>
#include <vector>

namespace peal::shm {

class Topology {
public:
    struct Core {
        int physical = -1;  // the first of its hyper-threads; -1: not known
        int node = -1;      // of memory; -1: not known
    };

    // By number of the core, as the system counts them: each hyper-thread is one.
    explicit Topology(std::vector<Core> cores = {}) : cores_(std::move(cores)) {}

    // A core of which nothing is known shares nothing.
    bool same_physical(int a, int b) const;
    bool same_node(int a, int b) const;

private:
    Core at(int core) const;

    std::vector<Core> cores_;
};

// As the system tells it. `root` is where /sys is.
Topology topology_of_machine(const std::filesystem::path& root = "/");

}  // namespace peal::shm
