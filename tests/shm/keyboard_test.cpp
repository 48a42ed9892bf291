// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <csignal>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

#include "shm/launcher.hpp"
#include "shm/world.hpp"

namespace peal::shm {
namespace keyboard_test {

// How a connected process ends that does `body` and then exits with 7.
int status_after(const std::function<void()>& before, const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        before();
        leave_keyboard_to_launcher(World::create(1), 0);
        body();
        _exit(7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

const std::function<void()> kNothing = [] {};

// A handler would end what the program waits in.
TEST(Keyboard, SigquitIsIgnoredSoThatNoSleepEnds) {
    EXPECT_EQ(status_after(kNothing, [] { raise(SIGQUIT); }), 7);
    EXPECT_EQ(status_after(kNothing,
                           [] {
                               struct sigaction found = {};
                               sigaction(SIGQUIT, nullptr, &found);
                               if (found.sa_handler != SIG_IGN) _exit(1);
                           }),
              7);
}

TEST(Keyboard, SigintOfAProcessEndsIt) {
    EXPECT_EQ(status_after(kNothing, [] { raise(SIGINT); }), 128 + SIGINT);
}

TEST(Keyboard, WhatTheProgramHandlesStaysItsOwn) {
    const auto handle = [] {
        std::signal(SIGQUIT, [](int) { _exit(3); });
        std::signal(SIGINT, [](int) { _exit(4); });
    };
    EXPECT_EQ(status_after(handle, [] { raise(SIGQUIT); }), 3);
    EXPECT_EQ(status_after(handle, [] { raise(SIGINT); }), 4);
}

}  // namespace keyboard_test
}  // namespace peal::shm
