// SPDX-License-Identifier: Apache-2.0
#include "shm/ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "shm/backoff.hpp"
#include "shm/leftovers.hpp"
#include "shm/shared.hpp"
#include "shm/thrown.hpp"
#include "support/no_threads.hpp"

namespace peal::shm {

namespace ranks_test {

using test::message_of;
using WorldPtr = std::shared_ptr<World>;

// Waits for what never comes; says how it ended.
Waited wait_for_ever(World& world, int rank) {
    return wait_until(world, rank, [] { return false; });
}

using SharedCounter = test::Shared<std::atomic<int>>;

TEST(ForkRanks, EveryRankIsAProcessAndAllComesBack) {
    const SharedCounter sum;
    const pid_t parent = getpid();
    const test::Leftovers before = test::leftovers();
    const int status = fork_ranks(5, [&](const WorldPtr& world, int rank) {
        if (getppid() != parent || world->nranks() != 5) std::abort();
        if (world->header().ranks[rank].state != RankState::here) std::abort();
        *sum += 1 << rank;
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(*sum, 0b11111);
    EXPECT_EQ(test::leftovers(), before);
}

TEST(ForkRanks, ExceptionsArePrintedAndBecomeAStatus) {
    struct Case {
        std::function<void()> fail;
        int status;
        std::string message;
    };
    const std::vector<Case> cases = {
        {[] { throw Error(Fault::usage, "bad count"); }, 2, "rank 1: bad count\n"},
        {[] { throw Error(Fault::program, "bad text"); }, 2, "rank 1: bad text\n"},
        {[] { throw Error(Fault::resource, "no room"); }, 2, "rank 1: no room\n"},
        {[] { throw Error(Fault::wrong, "bad sum"); }, 1, "rank 1: bad sum\n"},
        {[] { throw std::runtime_error("oh"); }, 1, "rank 1: oh\n"},
        {[] { throw 5; }, 1, "rank 1: an exception that is not a std::exception\n"},
    };
    for (const Case& c : cases) {
        ::testing::internal::CaptureStderr();
        const int status = fork_ranks(2, [&](const WorldPtr&, int rank) {
            if (rank == 1) c.fail();
        });
        EXPECT_EQ(::testing::internal::GetCapturedStderr(), c.message);
        EXPECT_EQ(status, c.status);
    }
}

TEST(ForkRanks, ADeathIsAnAlarmForAllOthers) {
    for (int victim = 0; victim < 3; ++victim) {
        const SharedCounter alarmed;
        const test::Leftovers before = test::leftovers();
        const int status = fork_ranks(3, [&](const WorldPtr& world, int rank) {
            if (rank == victim) raise(SIGKILL);
            if (wait_for_ever(*world, rank) == Waited::alarm && world->failed_rank() == victim) {
                ++*alarmed;
            }
        });
        EXPECT_EQ(status, 128 + SIGKILL);
        EXPECT_EQ(*alarmed, 2);
        EXPECT_EQ(test::leftovers(), before);
    }
}

TEST(ForkRanks, BufferedOutputIsWrittenOnceAndWhole) {
    ::testing::internal::CaptureStdout();
    std::printf("parent.");  // waits in the buffer while the ranks are forked
    fork_ranks(2, [](const WorldPtr&, int) { std::printf("rank."); });
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "parent.rank.rank.");
}

TEST(ForkRanks, ExitHandlersOfTheParentDoNotRunInRanks) {
    EXPECT_EXIT(
        {
            std::atexit([] { std::fputs("handler ", stderr); });
            fork_ranks(3, [](const WorldPtr&, int) {});
            std::exit(0);
        },
        ::testing::ExitedWithCode(0), "^handler $");
}

TEST(ForkRanks, ARankThatExitsByItselfHasNotLeft) {
    EXPECT_EQ(fork_ranks(2,
                         [](const WorldPtr& world, int rank) {
                             if (rank == 0) _exit(0);
                             if (wait_for_ever(*world, rank) != Waited::alarm) std::abort();
                         }),
              1);
}

TEST(ForkRanks, MayBeNested) {
    const SharedCounter sum;
    const int status = fork_ranks(2, [&](const WorldPtr&, int) {
        if (fork_ranks(3, [&](const WorldPtr&, int) { ++*sum; }) != 0) std::abort();
    });
    EXPECT_EQ(status, 0);
    EXPECT_EQ(*sum, 6);
}

TEST(ForkRanks, RefusesOtherNumbersOfRanks) {
    EXPECT_EQ(message_of(Fault::usage, [] { fork_ranks(0, [](const WorldPtr&, int) {}); }),
              "expected 1..1024 ranks, found 0");
}

TEST(RunThreads, SayWhenThereAreNoMore) {
    const peal::test::NoThreads none;
    EXPECT_EQ(message_of(Fault::resource, [] { run_threads(3, [](const WorldPtr&, int) {}); }),
              "cannot start rank 0 of 3 as a thread: Resource temporarily unavailable; end other "
              "programs or raise `ulimit -u`");
}

TEST(RunThreads, EveryRankIsAThreadAndAllComesBack) {
    const test::Leftovers before = test::leftovers();
    std::atomic<int> sum = 0;
    run_threads(5, [&](const WorldPtr& world, int rank) {
        EXPECT_EQ(world->nranks(), 5);
        EXPECT_EQ(world->header().ranks[rank].state, RankState::here);
        sum += 1 << rank;
    });
    EXPECT_EQ(sum, 0b11111);
    EXPECT_EQ(test::leftovers(), before);
}

TEST(RunThreads, TheFirstFailureIsToldNotItsConsequences) {
    for (int victim = 0; victim < 3; ++victim) {
        EXPECT_EQ(message_of(Fault::usage,
                             [&] {
                                 run_threads(3, [&](const WorldPtr& world, int rank) {
                                     if (rank == victim) throw Error(Fault::usage, "the cause");
                                     wait_for_ever(*world, rank);
                                     throw Error(Fault::wrong, "a consequence");
                                 });
                             }),
                  "the cause");
    }
}

TEST(RunThreads, OtherExceptionsPassUnchanged) {
    EXPECT_THROW(run_threads(2,
                             [](const WorldPtr&, int rank) {
                                 if (rank == 1) throw 7;
                             }),
                 int);
}

}  // namespace ranks_test
}  // namespace peal::shm
