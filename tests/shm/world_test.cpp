// SPDX-License-Identifier: Apache-2.0
#include "shm/world.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>

#include "shm/leftovers.hpp"
#include "shm/machine.hpp"
#include "shm/thrown.hpp"

namespace peal::shm {

namespace world_test {

using test::message_of;

TEST(World, KnowsItsRanks) {
    const auto world = World::create(3);
    EXPECT_EQ(world->nranks(), 3);
    EXPECT_GE(world->header().cores, 1);
    EXPECT_EQ(world->failed_rank(), -1);
    for (int rank = 0; rank < 3; ++rank) {
        EXPECT_EQ(world->header().ranks[rank].state.load(), RankState::absent);
    }
}

TEST(World, RefusesOtherNumbersOfRanks) {
    for (const int nranks : {0, -1, kMaxRanks + 1}) {
        EXPECT_EQ(message_of(Fault::usage, [&] { World::create(nranks); }),
                  "expected 1..1024 ranks, found " + std::to_string(nranks));
    }
    EXPECT_EQ(World::create(kMaxRanks)->nranks(), kMaxRanks);
}

// What `act` says in a child process that may use only so many addresses more than it does; 0: it
// uses too many already.
std::string with_addresses(std::uint64_t bytes, const std::function<std::string()>& act) {
    int ends[2] = {};
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        free(malloc(100'000));  // room in the heap, for what is said
        const std::uint64_t all = std::uint64_t{1} << 40;
        rlimit limit = {all, all};
        setrlimit(RLIMIT_AS, &limit);
        const std::uint64_t used = all - available_address_bytes();
        limit.rlim_cur = bytes == 0 ? 1 : used + bytes;
        setrlimit(RLIMIT_AS, &limit);
        const std::string said = act();
        _exit(write(ends[1], said.data(), said.size()) < 0);
    }
    close(ends[1]);
    std::string said(1000, ' ');
    const ssize_t length = read(ends[0], said.data(), said.size());
    said.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
    close(ends[0]);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    return said;
}

TEST(World, TakesHalfOfTheAddressesWhereTheyAreLimited) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the sanitizers use more addresses than any limit";
#endif
    constexpr std::uint64_t kMebibyte = 1 << 20;
    const auto use_much = [] {
        const auto world = World::create(2);
        const std::uint64_t bytes = world->header().bytes;
        world->at(world->allocate(100 * kMebibyte, 1))[0] = std::byte{1};
        const bool is_half = bytes > 190 * kMebibyte && bytes < 210 * kMebibyte;
        return is_half ? std::string("half") : std::to_string(bytes);
    };
    EXPECT_EQ(with_addresses(400 * kMebibyte, use_much), "half");
    const auto use_more = [] {
        const auto world = World::create(2);
        return message_of(Fault::resource, [&] { world->allocate(300 * kMebibyte, 1); });
    };
    EXPECT_THAT(with_addresses(400 * kMebibyte, use_more),
                testing::MatchesRegex(
                    "cannot share 300.0 MiB of memory: the ranks have (19|20)[0-9].[0-9] MiB of "
                    "address space for it, half of what `ulimit -v` \\([0-9.]+ [MG]iB\\) leaves; "
                    "raise that limit or ask for less"));
    const auto make = [] { return message_of(Fault::resource, [] { World::create(2); }); };
    EXPECT_EQ(with_addresses(0, make),
              "cannot make shared memory: of the addresses that a process may use (ulimit -v) 0 B "
              "are left; raise the limit");
}

TEST(World, LeavesNothingBehind) {
    const test::Leftovers before = test::leftovers();
    {
        const auto world = World::create(2);
        const std::uint64_t offset = world->allocate(1 << 20, 2);
        world->at(offset)[5] = std::byte{1};
        const auto same = World::adopt(dup(world->descriptor()));
        EXPECT_EQ(test::leftovers().worlds_mapped, before.worlds_mapped + 2);
    }
    EXPECT_EQ(test::leftovers(), before);
}

TEST(World, IsSeenByWhoeverAdoptsTheDescriptor) {
    const auto world = World::create(4);
    const auto same = World::adopt(dup(world->descriptor()));
    EXPECT_EQ(same->nranks(), 4);
    const std::uint64_t offset = world->allocate(100, 1);
    world->at(offset)[99] = std::byte{42};
    EXPECT_NE(same->at(offset), world->at(offset));
    EXPECT_EQ(same->at(offset)[99], std::byte{42});
    same->raise_alarm(2);
    EXPECT_EQ(world->failed_rank(), 2);
}

TEST(World, CannotBeShrunkUnderItsRanks) {
    const auto world = World::create(1);
    EXPECT_EQ(ftruncate(world->descriptor(), 0), -1);
    EXPECT_EQ(errno, EPERM);
}

TEST(World, IsNotPassedOnByAccident) {
    const auto world = World::create(1);
    EXPECT_EQ(fcntl(world->descriptor(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    EXPECT_GT(world->descriptor(), STDERR_FILENO);
}

TEST(World, AdoptsNothingElse) {
    const int closed = dup(STDERR_FILENO);
    close(closed);
    EXPECT_EQ(message_of(Fault::usage, [&] { World::adopt(closed); }),
              "descriptor " + std::to_string(closed) + " is not open");
    const int null = open("/dev/null", O_RDWR);
    EXPECT_EQ(message_of(Fault::usage, [&] { World::adopt(null); }),
              "descriptor " + std::to_string(null) + " is not a world of ranks");
    close(null);
    const int memory = memfd_create("other", MFD_ALLOW_SEALING);
    EXPECT_EQ(message_of(Fault::usage, [&] { World::adopt(memory); }),
              "descriptor " + std::to_string(memory) + " is not a world of ranks");
    close(memory);
}

TEST(World, AdoptsItsOwnVersionOnly) {
    const auto world = World::create(1);
    world->header().version = 99;
    EXPECT_EQ(message_of(Fault::usage, [&] { World::adopt(world->descriptor()); }),
              "descriptor " + std::to_string(world->descriptor()) +
                  " is a world of version 99, expected version 3; use one release of peal for "
                  "launcher and program");
}

TEST(World, RanksComeOnceAndGo) {
    const auto world = World::create(2);
    const RankRecord& record = world->header().ranks[1];
    world->enter(1);
    EXPECT_EQ(record.state.load(), RankState::here);
    EXPECT_EQ(record.pid.load(), getpid());
    EXPECT_EQ(message_of(Fault::usage, [&] { world->enter(1); }),
              "rank 1 of 2 is taken: process " + std::to_string(getpid()) + " was there first");
    world->dismiss(1);
    EXPECT_EQ(record.state.load(), RankState::here);
    world->leave(1);
    world->leave(1);
    EXPECT_EQ(record.state.load(), RankState::left);
    EXPECT_EQ(message_of(Fault::usage, [&] { world->enter(1); }),
              "rank 1 of 2 is taken: process " + std::to_string(getpid()) + " was there first");
}

TEST(World, LeavingWithoutComingIsForTheSupervisor) {
    const auto world = World::create(2);
    world->leave(0);
    EXPECT_EQ(world->header().ranks[0].state.load(), RankState::absent);
    world->dismiss(0);
    EXPECT_EQ(world->header().ranks[0].state.load(), RankState::left);
}

TEST(World, AlarmNamesTheFirstRankAndRingsAll) {
    const auto world = World::create(3);
    world->raise_alarm(2);
    world->raise_alarm(0);
    EXPECT_EQ(world->failed_rank(), 2);
    EXPECT_EQ(world->header().ranks[0].state.load(), RankState::dead);
    EXPECT_EQ(world->header().ranks[1].state.load(), RankState::absent);
    EXPECT_EQ(world->header().ranks[2].state.load(), RankState::dead);
    for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(world->header().ranks[rank].bell.load(), 2u);
}

TEST(World, AlarmOfSeveralRanksAtOnceNamesOne) {
    for (int round = 0; round < 50; ++round) {
        const auto world = World::create(4);
        std::vector<std::thread> threads;
        for (int rank = 0; rank < 4; ++rank) {
            threads.emplace_back([&, rank] { world->raise_alarm(rank); });
        }
        for (std::thread& thread : threads) thread.join();
        const int failed = world->failed_rank();
        EXPECT_TRUE(0 <= failed && failed < 4) << failed;
        for (int rank = 0; rank < 4; ++rank) {
            EXPECT_EQ(world->header().ranks[rank].state.load(), RankState::dead);
        }
    }
}

}  // namespace world_test
}  // namespace peal::shm
