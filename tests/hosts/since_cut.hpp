// SPDX-License-Identifier: Apache-2.0
// For ranks of which somebody cuts the cable and then writes the file $PEAL_CUT.
#pragma once

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

namespace peal::test {

// Seconds; 0 if there is no such file.
inline double since_cut() {
    const char* const path = std::getenv("PEAL_CUT");
    std::error_code error;
    const auto then = std::filesystem::last_write_time(path == nullptr ? "" : path, error);
    if (error) return 0;
    return std::chrono::duration<double>(std::filesystem::file_time_type::clock::now() - then)
        .count();
}

inline void wait_for_cut() {
    while (since_cut() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace peal::test
