// SPDX-License-Identifier: Apache-2.0
#include "hosts/local_world.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include "hosts/ranks.hpp"
#include "shm/membership.hpp"

namespace peal::test {
namespace local_world_test {

class LocalWorld : public NeedsSecret {};

using ::testing::Each;

// Adds 1 to a number in the memory that is shared, when all are there, and says what it became.
std::string told_of_memory(hosts::Meeting& meeting, const hosts::LocalWorld& local) {
    shm::World& world = *local.place.world;
    world.header().notifiers_fence.fetch_add(100);
    meeting.exchange("");
    const std::uint32_t sum = world.header().notifiers_fence.load() / 100;
    meeting.exchange("");  // nobody goes before all have looked
    meeting.leave();
    return fmt::format("{} of {}: {}", fmt::join(local.host_ids, " "), world.nranks(), sum);
}

TEST_F(LocalWorld, IsSharedByTheRanksOfOneHost) {
    Venue venue(4);
    const auto told = told_by_ranks(4, [&](int rank) {
        const auto meeting = venue.come(rank);
        const hosts::LocalWorld local = hosts::find_local_world(*meeting);
        EXPECT_EQ(local.place.rank, rank);
        return told_of_memory(*meeting, local);
    });
    EXPECT_THAT(told, Each("0 0 0 0 of 4: 4"));
}

// Who is in another namespace is on another host, as far as memory goes.
TEST_F(LocalWorld, EndsWhereTheHostEnds) {
    if (geteuid() != 0) GTEST_SKIP() << "only root makes namespaces";
    Venue venue(5);
    const auto told = told_by_ranks(5, [&](int rank) -> std::string {
        if (rank == 1 || rank == 4) {
            if (unshare(CLONE_NEWIPC) != 0) return "no namespaces";
        }
        const auto meeting = venue.come(rank);
        return told_of_memory(*meeting, hosts::find_local_world(*meeting));
    });
    if (told[1] == "no namespaces") GTEST_SKIP() << "the system gives no namespaces";
    EXPECT_THAT(
        told, ::testing::ElementsAre("0 1 0 0 2 of 5: 3", "0 1 0 0 2 of 5: 1", "0 1 0 0 2 of 5: 3",
                                     "0 1 0 0 2 of 5: 3", "0 1 0 0 2 of 5: 1"));
}

// Two launchers on one machine stand for two hosts.
TEST_F(LocalWorld, IsTheLaunchersWhereThereIsOne) {
    Venue venue(4);
    const std::shared_ptr<shm::World> worlds[] = {shm::World::create(4), shm::World::create(4)};
    const auto told = told_by_ranks(4, [&](int rank) {
        shm::invite(*worlds[rank / 2], rank);
        const auto meeting = venue.come(rank);
        return told_of_memory(*meeting, hosts::find_local_world(*meeting));
    });
    EXPECT_THAT(told, Each("0 0 1 1 of 4: 2"));
    EXPECT_EQ(worlds[0]->header().ranks[1].state.load(), shm::RankState::here);
    EXPECT_EQ(worlds[1]->header().ranks[1].state.load(), shm::RankState::absent);
}

}  // namespace local_world_test
}  // namespace peal::test
