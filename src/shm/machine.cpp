// SPDX-License-Identifier: Apache-2.0
#include "shm/machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <thread>
#include <vector>

namespace peal::shm {
namespace {

std::uint64_t free_of_machine(const std::filesystem::path& root) {
    std::ifstream file(root / "proc/meminfo");
    std::string word;
    while (file >> word) {
        std::uint64_t kibibytes = 0;
        if (word == "MemAvailable:" && file >> kibibytes) return kibibytes * 1024;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    return static_cast<std::uint64_t>(sysconf(_SC_AVPHYS_PAGES)) * page_bytes();
}

}  // namespace

std::uint64_t page_bytes() {
    static const auto kPage = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return kPage;
}

std::uint64_t physical_memory_bytes() {
    return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
}

std::uint64_t available_memory_bytes(const std::filesystem::path& root) {
    return std::min(free_of_machine(root), cgroup_memory_left(root));
}

std::uint64_t address_limit_bytes() {
    rlimit limit = {};
    getrlimit(RLIMIT_AS, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? kNoLimit : limit.rlim_cur;
}

std::uint64_t available_address_bytes() {
    const std::uint64_t limit = address_limit_bytes();
    if (limit == kNoLimit) return kNoLimit;
    std::ifstream file("/proc/self/statm");
    std::uint64_t pages = 0;
    file >> pages;
    const std::uint64_t used = pages * page_bytes();
    return limit > used ? limit - used : 0;
}

int available_cores() {
    // A mask of cpu_set_t's own size is refused on machines with more cores than it has bits.
    for (int cores = CPU_SETSIZE; cores <= 1 << 16; cores *= 2) {
        const std::size_t bytes = CPU_ALLOC_SIZE(cores);
        std::vector<cpu_set_t> mask((bytes + sizeof(cpu_set_t) - 1) / sizeof(cpu_set_t));
        if (sched_getaffinity(0, bytes, mask.data()) == 0) {
            return std::max(1, CPU_COUNT_S(bytes, mask.data()));
        }
    }
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string memory_text(std::uint64_t bytes) {
    constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    std::size_t unit = 0;
    auto amount = static_cast<double>(bytes);
    for (; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
    return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

}  // namespace peal::shm
