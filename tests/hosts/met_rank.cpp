// SPDX-License-Identifier: Apache-2.0
// A rank without a communicator: meets the others, says so, and then what happens to them, with how
// long after the file $PEAL_CUT was written it heard of it. With PEAL_LEAVE it leaves at once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>

#include "hosts/local_world.hpp"
#include "hosts/meeting.hpp"
#include "hosts/since_cut.hpp"

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
                           peal::test::since_cut() > 3 ? ", late" : "");
                return 0;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    } catch (const std::exception& error) {
        fmt::print("error: {}\n", error.what());
        return 1;
    }
}
