// SPDX-License-Identifier: Apache-2.0
// What the machine has to offer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>

namespace peal::shm {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t physical_memory_bytes();

// What can be touched now without pushing anything else out, and without being killed for it by a
// control group. `root` is where /proc and /sys are.
std::uint64_t available_memory_bytes(const std::filesystem::path& root = "/");

// Addresses that this process may still map: all, unless RLIMIT_AS limits them.
std::uint64_t available_address_bytes();

// Of addresses (RLIMIT_AS, ulimit -v); kNoLimit if there is none.
std::uint64_t address_limit_bytes();

std::uint64_t page_bytes();

// Cores that this process may run on.
int available_cores();

// "3.5 GiB"
std::string memory_text(std::uint64_t bytes);

// What the tightest of the memory control groups around this process has left, of either version;
// kNoLimit if none sets a limit. File pages count as free: they are dropped before anybody is
// killed. `root` is where /proc and /sys are.
std::uint64_t cgroup_memory_left(const std::filesystem::path& root);

}  // namespace peal::shm
