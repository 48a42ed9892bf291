// SPDX-License-Identifier: Apache-2.0
#include "shm/topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace peal::shm {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCores = 1 << 16;

// "0-3,8,10-11", as far as it can be read.
std::vector<int> listed_in(const fs::path& path) {
    std::ifstream file(path);
    std::vector<int> numbers;
    int first = 0;
    while (file >> first) {
        int last = first;
        if (file.peek() == '-' && !(file.ignore() >> last)) break;
        if (first < 0 || last >= kMostCores) break;
        for (; first <= last; ++first) numbers.push_back(first);
        if (file.peek() == ',') file.ignore();
    }
    return numbers;
}

}  // namespace

Topology::Core Topology::at(int core) const {
    const auto index = static_cast<std::size_t>(core);
    return core >= 0 && index < cores_.size() ? cores_[index] : Core{};
}

bool Topology::same_physical(int a, int b) const {
    return a == b || (at(a).physical >= 0 && at(a).physical == at(b).physical);
}

bool Topology::same_node(int a, int b) const {
    return a == b || (at(a).node >= 0 && at(a).node == at(b).node);
}

Topology topology_of_machine(const fs::path& root) {
    const fs::path system = root / "sys/devices/system";
    std::vector<Topology::Core> cores;
    for (const int core : listed_in(system / "cpu/online")) {
        cores.resize(std::max(cores.size(), static_cast<std::size_t>(core) + 1));
        const std::vector<int> threads =
            listed_in(system / fmt::format("cpu/cpu{}/topology/thread_siblings_list", core));
        if (!threads.empty()) cores[static_cast<std::size_t>(core)].physical = threads.front();
    }
    for (const int node : listed_in(system / "node/online")) {
        for (const int core : listed_in(system / fmt::format("node/node{}/cpulist", node))) {
            const auto index = static_cast<std::size_t>(core);
            if (index < cores.size()) cores[index].node = node;
        }
    }
    return Topology(std::move(cores));
}

}  // namespace peal::shm
