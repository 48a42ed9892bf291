// SPDX-License-Identifier: Apache-2.0
#include "shm/launcher.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "shm/leftovers.hpp"

namespace peal::shm {
namespace lifeline_test {

// A process that has only the ranks' end, as after exec. It tells when it has begun to act.
pid_t start_rank(std::unique_ptr<Lifeline>& lifeline, int told, int wait_for = -1) {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    const int mine = dup(lifeline->descriptor());
    lifeline.reset();
    char byte = 0;
    if (wait_for >= 0) [[maybe_unused]]
        const ssize_t got = read(wait_for, &byte, 1);
    hold_on_to(mine);
    [[maybe_unused]] const ssize_t said = write(told, &byte, 1);
    for (;;) pause();
}

int signal_that_ended(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

class TheLifeline : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(pipe(ends_), 0); }
    void TearDown() override {
        close(ends_[0]);
        close(ends_[1]);
        EXPECT_EQ(test::leftovers(), before_);
    }
    void hear() const {
        char byte = 0;
        ASSERT_EQ(read(ends_[0], &byte, 1), 1);
    }

    test::Leftovers before_ = test::leftovers();
    int ends_[2] = {};
};

TEST_F(TheLifeline, KillsEverybodyWhoHoldsOnToIt) {
    auto lifeline = std::make_unique<Lifeline>();
    const pid_t ranks[] = {start_rank(lifeline, ends_[1]), start_rank(lifeline, ends_[1])};
    hear();
    hear();
    lifeline.reset();
    for (const pid_t rank : ranks) EXPECT_EQ(signal_that_ended(rank), SIGKILL);
}

TEST_F(TheLifeline, KillsWhoComesTooLate) {
    auto lifeline = std::make_unique<Lifeline>();
    int gate[2] = {};
    ASSERT_EQ(pipe(gate), 0);
    const pid_t rank = start_rank(lifeline, ends_[1], gate[0]);
    lifeline.reset();
    ASSERT_EQ(write(gate[1], "", 1), 1);
    EXPECT_EQ(signal_that_ended(rank), SIGKILL);
    close(gate[0]);
    close(gate[1]);
}

TEST_F(TheLifeline, IsAPipeOrNothing) {
    const int file = open("/dev/null", O_RDONLY);
    hold_on_to(file);
    EXPECT_EQ(fcntl(file, F_GETFD), 0);  // somebody else's
    close(file);
    hold_on_to(file);
}

}  // namespace lifeline_test
}  // namespace peal::shm
