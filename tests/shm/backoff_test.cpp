// SPDX-License-Identifier: Apache-2.0
#include "shm/backoff.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

#include "shm/ranks.hpp"

namespace peal::shm {
namespace backoff_test {

using std::chrono::milliseconds;

// How often this thread has gone to sleep. A yield is not counted.
long naps_of_this_thread() {
    rusage usage = {};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

bool never() { return false; }

TEST(Backoff, WhatIsReadyNeedsNoWait) {
    const auto world = World::create(1);
    EXPECT_EQ(wait_until(*world, 0, [] { return true; }), Waited::ready);
}

TEST(Backoff, ReadyWinsOverAlarmAndDeadline) {
    const auto world = World::create(2);
    world->raise_alarm(1);
    EXPECT_EQ(wait_until(
                  *world, 0, [] { return true; }, Clock::now()),
              Waited::ready);
    int looks = 0;
    EXPECT_EQ(wait_until(*world, 0, [&] { return ++looks == 2; }), Waited::ready);
}

TEST(Backoff, AlarmWinsOverDeadline) {
    const auto world = World::create(2);
    world->raise_alarm(1);
    EXPECT_EQ(wait_until(*world, 0, never, Clock::now()), Waited::alarm);
}

TEST(Backoff, TheDeadlineIsKept) {
    const auto world = World::create(1);
    for (const int wait : {0, 1, 25}) {
        const Clock::time_point deadline = Clock::now() + milliseconds(wait);
        EXPECT_EQ(wait_until(*world, 0, never, deadline), Waited::deadline);
        EXPECT_GE(Clock::now(), deadline);
    }
}

TEST(Backoff, TheAlarmWakesASleeper) {
    const auto world = World::create(2);
    std::thread sleeper([&] { EXPECT_EQ(wait_until(*world, 0, never), Waited::alarm); });
    while (world->header().ranks[0].sleeping.load() == 0) std::this_thread::yield();
    world->raise_alarm(1);
    sleeper.join();
}

// A wait spins or yields for some microseconds, in which a slow machine only looks less often, and
// then naps after every few looks. One that does not nap looks until it has had enough.
constexpr int kNaps = 20;
constexpr int kMostLooks = 100'000;

TEST(Backoff, AnIdleWaitBurnsNoCore) {
    for (const int nranks : {1, kMaxRanks}) {
        const auto world = World::create(nranks);
        const long end = naps_of_this_thread() + kNaps;
        int looks = 0;
        const auto has_napped = [&] {
            return ++looks > kMostLooks || naps_of_this_thread() >= end;
        };
        EXPECT_EQ(wait_until(*world, 0, has_napped), Waited::ready);
        EXPECT_LE(looks, kMostLooks) << nranks;
    }
}

TEST(Backoff, PauseAloneSleepsToo) {
    const auto world = World::create(1);
    const long end = naps_of_this_thread() + kNaps;
    Backoff backoff(*world, 0);
    int pauses = 0;
    for (; pauses <= kMostLooks && naps_of_this_thread() < end; ++pauses) backoff.pause();
    EXPECT_LE(pauses, kMostLooks);
}

TEST(Backoff, ASleeperIsRungOnceAndOthersAreNot) {
    const auto world = World::create(2);
    RankRecord& record = world->header().ranks[0];
    ring_if_asleep(*world, 0);
    EXPECT_EQ(record.bell.load(), 0u);
    record.sleeping = 1;
    ring_if_asleep(*world, 0);
    ring_if_asleep(*world, 0);
    EXPECT_EQ(record.bell.load(), 1u);
    EXPECT_EQ(record.sleeping.load(), 0u);
    EXPECT_EQ(world->header().ranks[1].bell.load(), 0u);
}

// Hand-overs while the other side spins, falls asleep, is asleep or wakes up, with and without
// fences by the notifier.
void hand_over(World& world, int rounds, bool fence) {
    world.header().notifiers_fence = fence;
    std::atomic<int> turn[2] = {0, 0};
    const auto play = [&](int rank) {
        for (int round = 1; round <= rounds; ++round) {
            if (rank == 0) {
                turn[1].store(round, std::memory_order_release);
                ring_if_asleep(world, 1);
            }
            const auto mine = [&] { return turn[rank].load(std::memory_order_acquire) >= round; };
            EXPECT_EQ(wait_until(world, rank, mine), Waited::ready);
            if (round % 16 == rank) std::this_thread::sleep_for(std::chrono::microseconds(160));
            if (rank == 1) {
                turn[0].store(round, std::memory_order_release);
                ring_if_asleep(world, 0);
            }
        }
    };
    std::thread other([&] { play(1); });
    play(0);
    other.join();
}

TEST(Backoff, HandOversArriveHoweverTheOtherSideWaits) {
    for (const bool fence : {false, true}) hand_over(*World::create(2), 4000, fence);
    for (const bool fence : {false, true}) hand_over(*World::create(kMaxRanks), 4000, fence);
}

// Several threads of one rank wait for different things.
TEST(Backoff, AllSleepersOfARankAreWoken) {
    const auto world = World::create(1);
    std::atomic<int> done[3] = {0, 0, 0};
    std::vector<std::thread> threads;
    for (auto& flag : done) {
        threads.emplace_back([&] {
            const auto set = [&] { return flag.load(std::memory_order_acquire) != 0; };
            EXPECT_EQ(wait_until(*world, 0, set), Waited::ready);
        });
    }
    for (auto& flag : done) {
        std::this_thread::sleep_for(milliseconds(1));
        flag.store(1, std::memory_order_release);
        ring_if_asleep(*world, 0);
    }
    for (std::thread& thread : threads) thread.join();
}

// Ranks in processes, more of them than cores: a token goes round.
TEST(Backoff, ManyProcessesPassATokenRound) {
    constexpr int kRanks = 8;
    constexpr int kRounds = 200;
    const int status = fork_ranks(kRanks, [](const std::shared_ptr<World>& world, int rank) {
        auto& meeting_point = world->header().meeting_point;
        if (rank == 0) meeting_point.store(world->allocate(1, 1), std::memory_order_release);
        const auto met = [&] { return meeting_point.load(std::memory_order_acquire) != 0; };
        wait_until(*world, rank, met);
        auto& token = *reinterpret_cast<std::atomic<int>*>(world->at(meeting_point));
        for (int turn = rank; turn < kRanks * kRounds; turn += kRanks) {
            const auto mine = [&] { return token.load(std::memory_order_acquire) == turn; };
            if (wait_until(*world, rank, mine) != Waited::ready) std::abort();
            token.store(turn + 1, std::memory_order_release);
            ring_if_asleep(*world, (rank + 1) % kRanks);
        }
    });
    EXPECT_EQ(status, 0);
}

}  // namespace backoff_test
}  // namespace peal::shm
