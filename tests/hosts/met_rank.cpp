// SPDX-License-Identifier: Apache-2.0
// A rank without a communicator: meets the others, says so, and then what happens to them, with how
// long after the file $PEAL_CUT was written it heard of it. With PEAL_LEAVE it leaves at once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <thread>

#include "hosts/local_world.hpp"
#include "hosts/meeting.hpp"

namespace {

// Seconds; 0 if there is no such file.
double since_cut() {
    const char* const path = std::getenv("PEAL_CUT");
    std::error_code error;
    const auto then = std::filesystem::last_write_time(path == nullptr ? "" : path, error);
    if (error) return 0;
    return std::chrono::duration<double>(std::filesystem::file_time_type::clock::now() - then)
        .count();
}

}  // namespace

int main() {
    try {
        const auto meeting = peal::hosts::meet();
        if (!meeting) return 2;
        const auto local = peal::hosts::find_local_world(*meeting);
        fmt::print("rank {} of {} met: {}\n", meeting->rank(), meeting->nranks(),
                   fmt::join(local.host_ids, " "));
        std::fflush(stdout);
        if (std::getenv("PEAL_LEAVE") != nullptr) {
            meeting->leave();
            return 0;
        }
        for (;;) {
            if (const auto news = meeting->news()) {
                fmt::print("rank {} heard: {}{}\n", meeting->rank(), news->story,
                           since_cut() > 3 ? ", late" : "");
                return 0;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    } catch (const std::exception& error) {
        fmt::print("error: {}\n", error.what());
        return 1;
    }
}
