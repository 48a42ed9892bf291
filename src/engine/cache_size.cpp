// SPDX-License-Identifier: Apache-2.0
#include "engine/cache_size.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace peal {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kUsual = 32 * kKiB * kKiB;

// "512K"; 0 if there is no such cache. (What sysconf() says is a whole package's on some machines.)
std::uint64_t read_size(int index) {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) +
                       "/size");
    std::uint64_t kibibytes = 0;
    char unit = '\0';
    return file >> kibibytes >> unit && unit == 'K' ? kibibytes * kKiB : 0;
}

std::uint64_t read_largest() {
    std::uint64_t largest = 0;
    for (int index = 0; index < 8; ++index) largest = std::max(largest, read_size(index));
    return largest == 0 ? kUsual : largest;
}

}  // namespace

std::uint64_t largest_cache_bytes() {
    static const std::uint64_t kBytes = read_largest();
    return kBytes;
}

}  // namespace peal
