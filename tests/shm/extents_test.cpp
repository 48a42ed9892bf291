// SPDX-License-Identifier: Apache-2.0
#include "shm/extents.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <random>
#include <span>
#include <thread>

#include "shm/machine.hpp"
#include "shm/thrown.hpp"
#include "shm/world.hpp"

namespace peal::shm {

namespace extents_test {

using test::message_of;
using ::testing::Each;
using ::testing::MatchesRegex;

constexpr std::uint64_t kMebibyte = 1 << 20;

std::uint64_t touched_bytes(const World& world) {
    struct stat status = {};
    fstat(world.descriptor(), &status);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

std::span<std::byte> memory_at(const World& world, std::uint64_t offset, std::uint64_t bytes) {
    return {world.at(offset), bytes};
}

TEST(Extents, AreAlignedZeroedAndApart) {
    const auto world = World::create(1);
    const std::uint64_t a = world->allocate(1, 1);
    const std::uint64_t b = world->allocate(page_bytes() + 1, 1);
    const std::uint64_t c = world->allocate(0, 1);
    EXPECT_EQ(a % page_bytes(), 0u);
    EXPECT_EQ(b, a + page_bytes());
    EXPECT_EQ(c, b + 2 * page_bytes());
    EXPECT_THAT(memory_at(*world, a, 4 * page_bytes()), Each(std::byte{0}));
}

TEST(Extents, FirstFit) {
    const auto world = World::create(1);
    const std::uint64_t a = world->allocate(4 * page_bytes(), 1);
    const std::uint64_t b = world->allocate(page_bytes(), 1);
    world->disown(a);
    EXPECT_EQ(world->allocate(5 * page_bytes(), 1), b + page_bytes());
    EXPECT_EQ(world->allocate(3 * page_bytes(), 1), a);
    EXPECT_EQ(world->allocate(page_bytes(), 1), a + 3 * page_bytes());
}

TEST(Extents, TheLastOwnerGivesTheMemoryBack) {
    const auto world = World::create(3);
    world->disown(world->allocate(1, 1));  // the table has its page
    const std::uint64_t before = touched_bytes(*world);
    const std::uint64_t offset = world->allocate(kMebibyte, 3);
    const auto bytes = memory_at(*world, offset, kMebibyte);
    std::fill(bytes.begin(), bytes.end(), std::byte{7});
    EXPECT_EQ(touched_bytes(*world), before + kMebibyte);
    world->disown(offset);
    world->disown(offset);
    EXPECT_EQ(std::ranges::count(bytes, std::byte{7}), std::ssize(bytes));
    EXPECT_NE(world->allocate(1, 1), offset);
    world->disown(offset);
    EXPECT_EQ(touched_bytes(*world), before);
    EXPECT_EQ(world->allocate(kMebibyte, 1), offset);
    EXPECT_EQ(std::ranges::count(bytes, std::byte{0}), std::ssize(bytes));
}

TEST(Extents, MoreThanTheMachineHasIsRefused) {
    const auto world = World::create(1);
    const std::string too_much =
        "cannot share .* of memory: .* are available; ask for less or "
        "release windows first";
    EXPECT_THAT(message_of(Fault::resource,
                           [&] { world->allocate(available_memory_bytes() + kMebibyte * 512, 1); }),
                MatchesRegex(too_much));
    // Promises count, though nobody has touched them.
    const std::uint64_t third = available_memory_bytes() / 3;
    const std::uint64_t kept = world->allocate(third, 1);
    world->allocate(third, 1);
    const auto once_more = [&] { world->allocate(third + kMebibyte * 512, 1); };
    EXPECT_THAT(message_of(Fault::resource, once_more), MatchesRegex(too_much));
    world->disown(kept);
    once_more();
}

TEST(Extents, AbsurdSizesAreRefused) {
    const auto world = World::create(1);
    for (const std::uint64_t bytes :
         {~std::uint64_t{0}, ~std::uint64_t{0} - 4096, world->header().bytes}) {
        EXPECT_THAT(message_of(Fault::resource, [&] { world->allocate(bytes, 1); }),
                    MatchesRegex("cannot share .* of memory: the ranks have .* of address space "
                                 "for it; ask for less"));
    }
}

TEST(Extents, AfterTheAlarmThereIsNothingToHave) {
    const auto world = World::create(4);
    const std::uint64_t offset = world->allocate(1, 1);
    world->raise_alarm(3);
    EXPECT_EQ(message_of(Fault::wrong, [&] { world->allocate(1, 1); }),
              "cannot share memory: rank 3 has failed");
    world->disown(offset);
}

TEST(Extents, ADeadHolderOfTheLockHangsNobody) {
    const auto world = World::create(2);
    const auto table = std::make_unique<ExtentTable>();
    table->begin = 0;
    table->end = kMebibyte;
    table->locked = 1;  // by a rank that never lets go
    std::atomic<std::int32_t> alarm = 0;
    Extents extents(*table, world->descriptor(), alarm);
    std::thread wants([&] {
        EXPECT_EQ(message_of(Fault::wrong, [&] { extents.allocate(1, 1); }),
                  "cannot share memory: rank 1 has failed");
        extents.disown(0);
    });
    alarm = 2;
    wants.join();
    EXPECT_EQ(table->count, 0u);
}

// Against the obvious reference: a map of what is in use.
TEST(Extents, AnySequenceKeepsThemApart) {
    const auto world = World::create(1);
    for (unsigned seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        std::map<std::uint64_t, std::uint64_t> used;
        for (int step = 0; step < 300; ++step) {
            if (random() % 5 < 3 || used.empty()) {
                const std::uint64_t bytes = random() % (20 * page_bytes());
                const std::uint64_t offset = world->allocate(bytes, 1);
                const auto next = used.lower_bound(offset);
                if (next != used.end()) {
                    EXPECT_LE(offset + bytes, next->first);
                }
                if (next != used.begin()) {
                    EXPECT_LE(std::prev(next)->first + std::prev(next)->second, offset);
                }
                EXPECT_THAT(memory_at(*world, offset, std::min<std::uint64_t>(bytes, 64)),
                            Each(std::byte{0}));
                if (bytes > 0) world->at(offset)[0] = std::byte{1};
                used.emplace(offset, std::max<std::uint64_t>(bytes, 1));
            } else {
                const auto victim = std::next(used.begin(), random() % used.size());
                world->disown(victim->first);
                used.erase(victim);
            }
        }
        for (const auto& [offset, bytes] : used) world->disown(offset);
    }
    const std::uint64_t first = world->allocate(1, 1);
    EXPECT_EQ(first % 65536, 0u);
}

TEST(Extents, ManyThreadsAtOnce) {
    const auto world = World::create(4);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 4; ++rank) {
        threads.emplace_back([&, rank] {
            for (int i = 1; i <= 200; ++i) {
                const std::uint64_t offset = world->allocate(page_bytes() * (i % 3 + 1), 1);
                auto* const word = reinterpret_cast<int*>(world->at(offset));
                EXPECT_EQ(*word, 0);
                *word = rank * 1000 + i;
                EXPECT_EQ(*word, rank * 1000 + i);
                world->disown(offset);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace extents_test
}  // namespace peal::shm
