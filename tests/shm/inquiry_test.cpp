// SPDX-License-Identifier: Apache-2.0
#include "shm/inquiry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "shm/story.hpp"

namespace peal::shm {
namespace inquiry_test {

TEST(Inquiry, EachIsAnsweredOnce) {
    const auto world = World::create(2);
    EXPECT_FALSE(is_asked(*world, 0));
    const std::uint32_t first = ask(*world);
    EXPECT_TRUE(is_asked(*world, 0));
    EXPECT_EQ(answer_of(*world, 0, first), std::nullopt);
    answer(*world, 0, "here");
    answer(*world, 0, "there");
    EXPECT_FALSE(is_asked(*world, 0));
    EXPECT_TRUE(is_asked(*world, 1));
    EXPECT_EQ(answer_of(*world, 0, first), "here");
    const std::uint32_t second = ask(*world);
    EXPECT_EQ(answer_of(*world, 0, second), std::nullopt);
    answer(*world, 0, "there");
    EXPECT_EQ(answer_of(*world, 0, second), "there");
}

TEST(Inquiry, ALongAnswerIsCut) {
    const auto world = World::create(1);
    const std::uint32_t inquiry = ask(*world);
    answer(*world, 0, std::string(5000, 'x'));
    std::string cut(1017, 'x');
    cut += "...";
    EXPECT_EQ(answer_of(*world, 0, inquiry), cut);
}

TEST(Inquiry, SaysOfEveryRankWhereItStands) {
    const auto world = World::create(5);
    for (const int rank : {1, 2, 3, 4}) world->enter(rank);
    world->leave(2);
    world->raise_alarm(3);
    const std::uint32_t inquiry = ask(*world);
    EXPECT_TRUE(is_awaited(*world, inquiry));
    answer(*world, 1, "in barrier");
    EXPECT_TRUE(is_awaited(*world, inquiry));
    EXPECT_THAT(standings(*world, inquiry, 0, world->nranks()),
                ::testing::MatchesRegex("who waits for whom:\n"
                                        "  rank 0: has not connected\n"
                                        "  rank 1: in barrier\n"
                                        "  rank 2: has left\n"
                                        "  rank 3: has died\n"
                                        "  rank 4: waits in no call \\(process [0-9]+ runs\\)"));
    answer(*world, 4, "in barrier too");
    EXPECT_FALSE(is_awaited(*world, inquiry));
}

TEST(Story, TheFirstIsKept) {
    const auto world = World::create(3);
    EXPECT_FALSE(story_of(*world));
    tell_story(*world, 2, "bad count");
    tell_story(*world, 0, "rank 2 died");
    EXPECT_FALSE(claim_story(*world, 0));
    const auto story = story_of(*world);
    ASSERT_TRUE(story);
    EXPECT_EQ(story->rank, 2);
    EXPECT_EQ(story->error, "bad count");
    EXPECT_TRUE(world->header().ranks[0].has_told);
    EXPECT_FALSE(world->header().ranks[1].has_told);
}

}  // namespace inquiry_test
}  // namespace peal::shm
