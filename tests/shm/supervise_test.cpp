// SPDX-License-Identifier: Apache-2.0
#include "shm/supervise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "shm/backoff.hpp"
#include "shm/inquiry.hpp"
#include "shm/leftovers.hpp"
#include "shm/shared.hpp"

namespace peal::shm {

namespace supervise_test {

using std::chrono::milliseconds;

constexpr GracePeriod kLittleGrace = {milliseconds(20), milliseconds(20), milliseconds(20),
                                      milliseconds::max()};

int wait_for_the_alarm(World& world, int rank) {
    return wait_until(world, rank, [] { return false; }) == Waited::alarm ? 0 : 99;
}

int ignore_everything_but_sigkill() {
    for (const int signal : {SIGTERM, SIGINT}) std::signal(signal, SIG_IGN);
    for (;;) pause();
}

// Ranks whose bodies are given; leaves nothing behind.
class Supervise : public ::testing::Test {
protected:
    JobEnd run(const std::vector<std::function<int(World&)>>& bodies) {
        const auto world = World::create(static_cast<int>(bodies.size()));
        Supervisor supervisor(world, kLittleGrace);
        for (const auto& body : bodies) {
            supervisor.start([&] { return body(*world); });
        }
        const JobEnd verdict = supervisor.wait();
        failed_ = world->failed_rank();
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            states_.push_back(world->header().ranks[i].state);
        }
        return verdict;
    }
    void TearDown() override { EXPECT_EQ(test::leftovers(), before_); }

    int failed_ = -1;
    std::vector<RankState> states_;
    test::Leftovers before_ = test::leftovers();
};

TEST_F(Supervise, ARankThatLeavesOrNeverComesIsFine) {
    const JobEnd verdict = run({[](World& world) {
                                    world.enter(0);
                                    world.leave(0);
                                    return 0;
                                },
                                [](World&) { return 0; }});
    EXPECT_EQ(verdict.status, 0);
    EXPECT_EQ(verdict.first_failed, -1);
    EXPECT_EQ(verdict.story, "");
    EXPECT_EQ(failed_, -1);
    EXPECT_EQ(states_, (std::vector{RankState::left, RankState::left}));
}

TEST_F(Supervise, AStatusIsAFailure) {
    const JobEnd verdict =
        run({[](World& world) { return wait_for_the_alarm(world, 0); }, [](World&) { return 3; }});
    EXPECT_EQ(verdict.status, 3);
    EXPECT_EQ(verdict.first_failed, 1);
    EXPECT_EQ(verdict.story, "rank 1 ended with status 3");
    EXPECT_EQ(failed_, 1);
    EXPECT_EQ(states_[1], RankState::dead);
}

TEST_F(Supervise, ASignalIsAFailure) {
    const JobEnd verdict = run({[](World&) { return raise(SIGKILL); },
                                [](World& world) { return wait_for_the_alarm(world, 1); }});
    EXPECT_EQ(verdict.status, 137);
    EXPECT_EQ(verdict.first_failed, 0);
    EXPECT_EQ(verdict.story, "rank 0 was killed by signal 9 (Killed)");
    EXPECT_EQ(failed_, 0);
}

TEST_F(Supervise, GoingWithoutLeavingIsAFailure) {
    const JobEnd verdict = run({[](World& world) {
                                    world.enter(0);
                                    return 0;
                                },
                                [](World& world) { return wait_for_the_alarm(world, 1); }});
    EXPECT_EQ(verdict.status, 1);
    EXPECT_EQ(verdict.story, "rank 0 ended without leaving its communicator");
    EXPECT_EQ(failed_, 0);
}

TEST_F(Supervise, TheWorstStatusCounts) {
    const JobEnd verdict =
        run({[](World&) { return 3; }, [](World&) { return 7; }, [](World&) { return 5; }});
    EXPECT_EQ(verdict.status, 7);
}

TEST_F(Supervise, WhoDoesNotEndIsEndedAndNotBlamed) {
    const JobEnd verdict = run({[](World&) { return 4; }, [](World&) { return pause(); },
                                [](World&) { return ignore_everything_but_sigkill(); }});
    EXPECT_EQ(verdict.status, 4);
    EXPECT_EQ(verdict.story, "rank 0 ended with status 4");
}

TEST_F(Supervise, SignalsAreHandedOn) {
    const pid_t supervisor = getpid();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
        const JobEnd verdict = run({[](World&) { return pause(); }, [](World&) { return pause(); },
                                    [&](World&) { return kill(supervisor, signal) + pause(); }});
        EXPECT_EQ(verdict.status, 128 + signal);
    }
}

TEST_F(Supervise, SignalsAreAsBeforeInTheRanksAndAfterwards) {
    sigset_t before;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    const auto same_mask = [&before] {
        sigset_t now;
        pthread_sigmask(SIG_SETMASK, nullptr, &now);
        for (int signal = 1; signal < SIGRTMIN; ++signal) {
            if (sigismember(&now, signal) != sigismember(&before, signal)) return false;
        }
        return true;
    };
    EXPECT_EQ(run({[&](World&) { return same_mask() ? 0 : 1; }}).status, 0);
    EXPECT_TRUE(same_mask());
}

TEST_F(Supervise, AStatusIsSeenAlsoWhereChildrenAreIgnored) {
    std::signal(SIGCHLD, SIG_IGN);
    EXPECT_EQ(run({[](World&) { return 6; }}).status, 6);
    EXPECT_EQ(std::signal(SIGCHLD, SIG_DFL), SIG_IGN);
}

// Ranks that others wait for, until somebody has been told of them.
TEST_F(Supervise, NamesRanksThatDoNotConnect) {
    for (const int late : {1, 2}) {
        const auto world = World::create(3);
        const test::Shared<std::atomic<int>> told;
        std::string story;
        {
            Supervisor supervisor(world, kLittleGrace);
            for (int rank = 0; rank < 3; ++rank) {
                const bool comes = rank + late < 3;
                if (comes) world->enter(rank);  // before anybody can look
                supervisor.start([&, comes] {
                    while (*told == 0) std::this_thread::yield();
                    if (comes) world->leave(rank);
                    return 0;
                });
            }
            supervisor.on_late_ranks([&](const std::string& text) {
                story = text;
                *told += 1;
            });
            EXPECT_EQ(supervisor.wait().status, 0);
        }
        EXPECT_EQ(*told, 1);
        EXPECT_THAT(story, ::testing::MatchesRegex(
                               late == 1 ? "after [0-9.]+ s rank 2 of 3 has not connected "
                                           "\\(process [0-9]+\\); the others wait for it"
                                         : "after [0-9.]+ s ranks 1, 2 of 3 have not connected "
                                           "\\(processes [0-9]+, [0-9]+\\); the others wait for "
                                           "them"));
    }
}

// A rank that asks, with a signal to its supervisor, and answers; it ends when that is told.
std::string told_after(int signal, int& status) {
    const test::Shared<std::atomic<int>> told;
    std::string story;
    const auto world = World::create(2);
    Supervisor supervisor(world, kLittleGrace);
    world->enter(1);
    supervisor.start([] { return 0; });
    supervisor.start([&] {
        kill(getppid(), signal);
        while (!is_asked(*world, 1)) std::this_thread::yield();
        answer(*world, 1, "in a test");
        while (*told == 0 || signal == SIGINT) std::this_thread::yield();
        world->leave(1);
        return 0;
    });
    supervisor.on_question([&](const std::string& text) {
        story = text;
        *told += 1;
    });
    status = supervisor.wait().status;
    return story;
}

constexpr const char* kAnswer =
    "who waits for whom:\n  rank 0: (has not connected|has left)\n  rank 1: in a test";

TEST_F(Supervise, SigquitAsksAndGoesOn) {
    int status = -1;
    EXPECT_THAT(told_after(SIGQUIT, status), ::testing::MatchesRegex(kAnswer));
    EXPECT_EQ(status, 0);
}

TEST_F(Supervise, SigintAsksAndIsHandedOn) {
    int status = -1;
    EXPECT_THAT(told_after(SIGINT, status), ::testing::MatchesRegex(kAnswer));
    EXPECT_EQ(status, 128 + SIGINT);
}

TEST_F(Supervise, NobodyOutlivesAnAbandonedSupervisor) {
    const auto world = World::create(2);
    Supervisor supervisor(world);
    for (int rank = 0; rank < 2; ++rank) {
        supervisor.start([] { return ignore_everything_but_sigkill(); });
    }
}

// The ranks of a supervisor that is killed fall to this process, which must find them dead.
TEST_F(Supervise, NobodyOutlivesAKilledSupervisor) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t child = fork();
    if (child == 0) {
        const auto world = World::create(3);
        Supervisor supervisor(world);
        for (int rank = 0; rank < 2; ++rank) {
            supervisor.start([] { return ignore_everything_but_sigkill(); });
        }
        supervisor.start([] { return kill(getppid(), SIGKILL) + pause(); });
        supervisor.wait();
        _exit(0);
    }
    for (int dead = 0; dead < 4; ++dead) {
        int status = 0;
        ASSERT_GT(waitpid(-1, &status, 0), 0);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    prctl(PR_SET_CHILD_SUBREAPER, 0);
}

}  // namespace supervise_test
}  // namespace peal::shm
