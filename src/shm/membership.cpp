// SPDX-License-Identifier: Apache-2.0
#include "shm/membership.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "peal/error.hpp"
#include "shm/launcher.hpp"
#include "shm/process_memory.hpp"
#include "shm/story.hpp"

namespace peal::shm {
namespace {

constexpr const char* kVariables[] = {kWorldVariable, kRankVariable, kNranksVariable,
                                      kLauncherVariable};

// The rank that this process came as; -1 before it came.
std::atomic<int> taken_rank = -1;

[[noreturn]] void refuse(const std::string& why) {
    throw Error(Fault::usage, fmt::format("cannot connect: {}", why));
}

int number_in(const char* variable) {
    const char* const text = std::getenv(variable);
    if (!text) refuse(fmt::format("{} is not set, but {} is", variable, kWorldVariable));
    const std::string_view digits = text;
    int number = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (error != std::errc() || end != digits.end() || number < 0) {
        refuse(fmt::format("{}='{}': expected a number", variable, digits));
    }
    return number;
}

void expect_untaken() {
    if (const int rank = taken_rank.load(); rank >= 0) {
        refuse(
            fmt::format("this process has connected before, as rank {}; use split() for another "
                        "communicator",
                        rank));
    }
    if (!std::getenv(kWorldVariable)) {
        refuse(
            fmt::format("this process has no place among ranks ({} is not set); run it under "
                        "`peal launch -n P`",
                        kWorldVariable));
    }
}

void expect_place(const World& world, int rank, int nranks) {
    if (nranks != world.nranks()) {
        refuse(fmt::format("{}={}, but the world has {} ranks", kNranksVariable, nranks,
                           world.nranks()));
    }
    if (rank >= nranks) {
        refuse(fmt::format("{}={}: expected 0..{}", kRankVariable, rank, nranks - 1));
    }
}

std::shared_ptr<World> world_behind(int descriptor) {
    try {
        return World::adopt(descriptor);
    } catch (const Error& error) {
        if (error.fault() != Fault::usage) throw;
        refuse(fmt::format("{}={}: {}", kWorldVariable, descriptor, error.what()));
    }
}

}  // namespace

Membership join_world() {
    expect_untaken();
    const int descriptor = number_in(kWorldVariable);
    const int rank = number_in(kRankVariable);
    const int nranks = number_in(kNranksVariable);
    Membership membership = {world_behind(descriptor), rank};
    expect_place(*membership.world, rank, nranks);
    const bool has_launcher = std::getenv(kLauncherVariable) != nullptr;
    if (has_launcher) hold_on_to(number_in(kLauncherVariable));
    admit_siblings();
    membership.world->enter(rank);
    if (has_launcher) {
        tell_uncaught_errors(membership.world, rank);
        leave_keyboard_to_launcher(membership.world, rank);
    }
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    for (const char* variable : kVariables) unsetenv(variable);
    taken_rank = rank;
    return membership;
}

void invite(const World& world, int rank, const Lifeline* lifeline) {
    fcntl(world.descriptor(), F_SETFD, 0);
    setenv(kWorldVariable, std::to_string(world.descriptor()).c_str(), 1);
    setenv(kRankVariable, std::to_string(rank).c_str(), 1);
    setenv(kNranksVariable, std::to_string(world.nranks()).c_str(), 1);
    if (!lifeline) return;
    fcntl(lifeline->descriptor(), F_SETFD, 0);
    setenv(kLauncherVariable, std::to_string(lifeline->descriptor()).c_str(), 1);
}

}  // namespace peal::shm
