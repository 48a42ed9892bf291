// SPDX-License-Identifier: Apache-2.0
#include "shm/machine.hpp"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace peal::shm {
namespace {

namespace fs = std::filesystem;

// How a version of control groups calls its files.
struct Files {
    const char* mount;
    const char* limit;
    const char* usage;
    std::initializer_list<std::string_view> droppable;  // rows of memory.stat
};

const Files kVersion1 = {"sys/fs/cgroup/memory",
                         "memory.limit_in_bytes",
                         "memory.usage_in_bytes",
                         {"total_inactive_file", "total_active_file"}};
const Files kVersion2 = {
    "sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file", "active_file"}};

// None where there is no such file, or it says "max".
std::optional<std::uint64_t> number_in(const fs::path& path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    if (!(file >> number)) return std::nullopt;
    return number;
}

std::uint64_t droppable_in(const fs::path& group, const Files& files) {
    std::ifstream file(group / "memory.stat");
    std::uint64_t bytes = 0;
    std::string row;
    std::uint64_t number = 0;
    while (file >> row >> number) {
        const auto& rows = files.droppable;
        if (std::find(rows.begin(), rows.end(), row) != rows.end()) bytes += number;
    }
    return bytes;
}

std::uint64_t left_in(const fs::path& group, const Files& files) {
    const std::optional<std::uint64_t> limit = number_in(group / files.limit);
    const std::optional<std::uint64_t> usage = number_in(group / files.usage);
    if (!limit || !usage) return kNoLimit;
    const std::uint64_t dropped = std::min(*usage, droppable_in(group, files));
    const std::uint64_t held = *usage - dropped;
    return *limit > held ? *limit - held : 0;
}

// Each group lies within those above it. In a container the path may be one that only the host
// sees; the groups that are there count.
std::uint64_t left_above(const fs::path& root, const std::string& path, const Files& files) {
    const fs::path mount = root / files.mount;
    std::uint64_t left = left_in(mount, files);
    fs::path group = mount;
    for (const fs::path& name : fs::path(path).relative_path()) {
        group /= name;
        left = std::min(left, left_in(group, files));
    }
    return left;
}

bool has_memory(const std::string& controllers) {
    std::istringstream list(controllers);
    for (std::string name; std::getline(list, name, ',');) {
        if (name == "memory") return true;
    }
    return false;
}

}  // namespace

// Lines are "number:controllers:path"; version 2 names no controllers.
std::uint64_t cgroup_memory_left(const fs::path& root) {
    std::uint64_t left = kNoLimit;
    std::ifstream file(root / "proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        std::istringstream fields(line);
        std::string number;
        std::string controllers;
        std::string path;
        std::getline(fields, number, ':');
        std::getline(fields, controllers, ':');
        std::getline(fields, path);
        if (controllers.empty()) left = std::min(left, left_above(root, path, kVersion2));
        if (has_memory(controllers)) left = std::min(left, left_above(root, path, kVersion1));
    }
    return left;
}

}  // namespace peal::shm
