// SPDX-License-Identifier: Apache-2.0
// Bounds on memory that somebody has put around this process: the system kills who passes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

namespace peal::shm {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// What the tightest of the memory control groups around this process has left, of either version;
// kNoLimit if none sets a limit. File pages count as free: they are dropped before anybody is
// killed. `root` is where /proc and /sys are.
std::uint64_t cgroup_memory_left(const std::filesystem::path& root);

}  // namespace peal::shm
