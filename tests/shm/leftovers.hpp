// SPDX-License-Identifier: Apache-2.0
// What this process holds and must give back.
#pragma once

#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

namespace peal::shm::test {

struct Leftovers {
    std::ptrdiff_t descriptors = 0;
    int worlds_mapped = 0;
    bool children = false;
    bool operator==(const Leftovers&) const = default;
};

inline void PrintTo(const Leftovers& found, std::ostream* out) {
    *out << found.descriptors << " descriptors, " << found.worlds_mapped << " worlds mapped, "
         << (found.children ? "children" : "no children");
}

inline Leftovers leftovers() {
    Leftovers found;
    found.descriptors = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.find("memfd:peal") != std::string::npos) ++found.worlds_mapped;
    }
    siginfo_t info = {};
    found.children = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    return found;
}

}  // namespace peal::shm::test
