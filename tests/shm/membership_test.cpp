// SPDX-License-Identifier: Apache-2.0
#include "shm/membership.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "shm/thrown.hpp"

namespace peal::shm {

namespace membership_test {

using test::message_of;

// A process takes one place in its life, so each case has a process of its own.
void in_a_process_of_its_own(void (*act)()) {
    EXPECT_EXIT(
        {
            act();
            _exit(::testing::Test::HasFailure() ? 1 : 0);
        },
        ::testing::ExitedWithCode(0), "");
}

void offer(const World& world, const std::string& rank, const std::string& nranks) {
    invite(world, 0);
    setenv(kRankVariable, rank.c_str(), 1);
    setenv(kNranksVariable, nranks.c_str(), 1);
}

// The world that a parent would have; its descriptor is the child's to take over.
std::shared_ptr<World> parents_world(int nranks) {
    static std::vector<std::shared_ptr<World>> kept;  // the mapping stays, as it would in a parent
    kept.push_back(World::create(nranks));
    return kept.back();
}

std::string refusal() {
    return message_of(Fault::usage, [] { join_world(); });
}

std::string number(int value) { return std::to_string(value); }

TEST(Membership, IsTakenOnce) {
    in_a_process_of_its_own([] {
        const auto parents = parents_world(3);
        invite(*parents, 2);
        const Membership membership = join_world();
        EXPECT_EQ(membership.rank, 2);
        EXPECT_EQ(membership.world->nranks(), 3);
        EXPECT_EQ(parents->header().ranks[2].state.load(), RankState::here);
        EXPECT_EQ(parents->header().ranks[2].pid.load(), getpid());
        EXPECT_EQ(refusal(),
                  "cannot connect: this process has connected before, as rank 2; use split() for "
                  "another communicator");
    });
}

TEST(Membership, IsNotInheritedByProgramsThatThisOneStarts) {
    in_a_process_of_its_own([] {
        static const Lifeline lifeline;  // as long as the process
        invite(*parents_world(1), 0, &lifeline);
        EXPECT_EQ(std::getenv(kLauncherVariable), number(lifeline.descriptor()));
        EXPECT_EQ(fcntl(lifeline.descriptor(), F_GETFD), 0);
        const Membership membership = join_world();
        EXPECT_EQ(fcntl(membership.world->descriptor(), F_GETFD), FD_CLOEXEC);
        for (const char* variable :
             {kWorldVariable, kRankVariable, kNranksVariable, kLauncherVariable}) {
            EXPECT_EQ(std::getenv(variable), nullptr) << variable;
        }
    });
}

TEST(Membership, IsPassedThroughExec) {
    in_a_process_of_its_own([] {
        const auto parents = parents_world(2);
        invite(*parents, 1);
        EXPECT_EQ(fcntl(parents->descriptor(), F_GETFD), 0);
        EXPECT_EQ(std::getenv(kWorldVariable), number(parents->descriptor()));
        EXPECT_STREQ(std::getenv(kRankVariable), "1");
        EXPECT_STREQ(std::getenv(kNranksVariable), "2");
    });
}

TEST(Membership, EndsWithTheLauncher) {
    EXPECT_EXIT(
        {
            auto lifeline = std::make_unique<Lifeline>();
            invite(*parents_world(1), 0, lifeline.get());
            const Membership membership = join_world();
            lifeline.reset();
            _exit(0);
        },
        ::testing::KilledBySignal(SIGKILL), "");
}

TEST(Membership, NoneAtAll) {
    in_a_process_of_its_own([] {
        EXPECT_EQ(refusal(),
                  "cannot connect: this process has no place among ranks (PEAL_WORLD is not set); "
                  "run it under `peal launch -n P`");
    });
}

TEST(Membership, OthersHaveTakenIt) {
    in_a_process_of_its_own([] {
        const auto parents = parents_world(2);
        parents->enter(1);
        invite(*parents, 1);
        EXPECT_EQ(refusal(),
                  "rank 1 of 2 is taken: process " + number(getpid()) + " was there first");
    });
}

TEST(Membership, DescriptorIsNotOpen) {
    in_a_process_of_its_own([] {
        invite(*parents_world(2), 0);
        setenv(kWorldVariable, "987", 1);
        EXPECT_EQ(refusal(), "cannot connect: PEAL_WORLD=987: descriptor 987 is not open");
    });
}

TEST(Membership, DescriptorIsSomethingElse) {
    in_a_process_of_its_own([] {
        invite(*parents_world(2), 0);
        const int null = open("/dev/null", O_RDWR);
        setenv(kWorldVariable, number(null).c_str(), 1);
        EXPECT_EQ(refusal(), "cannot connect: PEAL_WORLD=" + number(null) + ": descriptor " +
                                 number(null) + " is not a world of ranks");
        EXPECT_EQ(fcntl(null, F_GETFD), 0);
    });
}

TEST(Membership, WorldOfAnotherVersion) {
    in_a_process_of_its_own([] {
        const auto parents = parents_world(2);
        parents->header().version = 7;
        invite(*parents, 0);
        const std::string descriptor = number(parents->descriptor());
        EXPECT_EQ(refusal(), "cannot connect: PEAL_WORLD=" + descriptor + ": descriptor " +
                                 descriptor +
                                 " is a world of version 7, expected version 3; use one release of "
                                 "peal for launcher and program");
    });
}

TEST(Membership, RankIsOutOfRange) {
    in_a_process_of_its_own([] {
        offer(*parents_world(4), "4", "4");
        EXPECT_EQ(refusal(), "cannot connect: PEAL_RANK=4: expected 0..3");
    });
}

TEST(Membership, NumberOfRanksDiffers) {
    in_a_process_of_its_own([] {
        offer(*parents_world(4), "0", "5");
        EXPECT_EQ(refusal(), "cannot connect: PEAL_NRANKS=5, but the world has 4 ranks");
    });
}

TEST(Membership, VariablesAreNumbers) {
    in_a_process_of_its_own([] {
        const auto parents = parents_world(4);
        for (const char* bad : {"", "x", "1x", " 1", "-1", "99999999999"}) {
            offer(*parents, bad, "4");
            EXPECT_EQ(refusal(),
                      "cannot connect: PEAL_RANK='" + std::string(bad) + "': expected a number");
        }
    });
}

TEST(Membership, AllVariablesAreThere) {
    in_a_process_of_its_own([] {
        invite(*parents_world(4), 0);
        unsetenv(kRankVariable);
        EXPECT_EQ(refusal(), "cannot connect: PEAL_RANK is not set, but PEAL_WORLD is");
    });
}

}  // namespace membership_test
}  // namespace peal::shm
