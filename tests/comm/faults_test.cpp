// SPDX-License-Identifier: Apache-2.0
// Ranks that leave, that are late and that die: the others are told, and nothing stays behind.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <latch>
#include <random>
#include <thread>

#include "comm/bootstrap.hpp"
#include "comm/outcomes.hpp"
#include "shm/inquiry.hpp"
#include "shm/leftovers.hpp"
#include "shm/ranks.hpp"
#include "shm/shared.hpp"

namespace peal::comm {
namespace faults_test {

using std::chrono::milliseconds;
using test::told_by;

class Faults : public testing::Test {
protected:
    ~Faults() override { EXPECT_EQ(shm::test::leftovers(), before_); }

private:
    shm::test::Leftovers before_ = shm::test::leftovers();
};

TEST_F(Faults, ARankThatHasLeftIsNamed) {
    std::vector<std::string> messages(3);
    Communicator::threads(3, [&](Communicator& comm) {
        comm.barrier();
        if (comm.rank() == 1) return;
        messages[static_cast<std::size_t>(comm.rank())] = told_by([&] { comm.barrier(); });
    });
    // Who is slow is told before its call was noted.
    const std::string expected =
        "rank 1 has left the communicator while others still call it:\n"
        "  rank 0: (barrier|has not called yet|left)\n  rank 1: left\n"
        "  rank 2: (barrier|has not called yet|left)";
    EXPECT_THAT(messages[0], testing::MatchesRegex(expected));
    EXPECT_THAT(messages[2], testing::MatchesRegex(expected));
}

TEST_F(Faults, ARankMayLeaveAfterItsLastCall) {
    Communicator::threads(3, [](Communicator& comm) {
        std::vector<int> x = {comm.rank()};
        comm.broadcast(x, 1);
        EXPECT_EQ(x[0], 1);
    });
}

TEST_F(Faults, ALateRankIsReportedAfterTheTimeout) {
    std::vector<std::string> messages(2);
    std::atomic<bool> is_through = false, gave_up = false;
    Communicator::threads(2, [&](Communicator& comm) {
        comm.barrier();
        comm.set_timeout(milliseconds(30));
        if (comm.rank() == 1) {
            is_through = true;
            is_through.notify_all();
            gave_up.wait(false);
        } else {
            is_through.wait(false);
        }
        std::vector<float> x(4);
        messages[static_cast<std::size_t>(comm.rank())] = told_by([&] { comm.allreduce(x); });
        if (comm.rank() == 0) {
            gave_up = true;
            gave_up.notify_all();
        }
    });
    EXPECT_THAT(messages, testing::Each("timeout: rank 0 waited too long:\n"
                                        "  rank 0: in allreduce of 4 f32, sum (call 1)\n"
                                        "    instruction 2  wait signal[1] >= 1\n"
                                        "    sees 0, waits for rank 1\n"
                                        "  rank 1: has not called yet"));
}

// Of all ranks only the one that waits asks its watch.
TEST_F(Faults, AWatchEndsACallForAll) {
    struct Stop : std::exception {
        const char* what() const noexcept override { return "stop"; }
    };
    std::vector<std::string> messages(2);
    std::atomic<bool> stopped = false;
    Communicator::threads(2, [&](Communicator& comm) {
        comm.set_watch([] { throw Stop(); });
        std::vector<float> x(4);
        if (comm.rank() == 1) {
            stopped.wait(false);
            messages[1] = told_by([&] { comm.allreduce(x); });
            return;
        }
        EXPECT_THROW(comm.allreduce(x), Stop);
        stopped = true;
        stopped.notify_all();
        messages[0] = told_by([&] { comm.allreduce(x); });
    });
    EXPECT_EQ(messages[0], "the communicator is broken: a call was interrupted");
    EXPECT_THAT(
        messages[1],
        testing::MatchesRegex("rank 0 was interrupted while others wait for it:\n"
                              "  rank 0: allreduce of 4 f32, sum.*\n  rank 1: has not called yet"));
}

TEST_F(Faults, ATimeoutIsAFaultOfItsOwn) {
    std::atomic<int> ended = 0;
    Communicator::threads(2, [&](Communicator& comm) {
        comm.set_timeout(milliseconds(1));
        if (comm.rank() == 0) {
            try {
                comm.barrier();
            } catch (const Error& error) {
                EXPECT_EQ(error.fault(), Fault::bound);
                ++ended;
            }
        }
        while (ended == 0) std::this_thread::yield();
    });
    EXPECT_EQ(ended, 1);
}

TEST_F(Faults, AThreadThatThrowsEndsTheOthersCalls) {
    std::string message;
    std::latch have_met(2);  // nobody is in the first barrier any more
    const auto body = [&](Communicator& comm) {
        comm.barrier();
        have_met.arrive_and_wait();
        if (comm.rank() == 1) throw std::range_error("mine");
        message = told_by([&] { comm.barrier(); });
    };
    EXPECT_THROW(Communicator::threads(2, body), std::range_error);
    EXPECT_EQ(message, "rank 1 died; rank 0 was in barrier (call 1)");
}

// Rank 1 comes when rank 0 has waited so long that it looked around.
TEST_F(Faults, AVeryLongTimeoutIsNoTimeout) {
    shm::run_threads(2, [](std::shared_ptr<World> world, int rank) {
        const std::unique_ptr<Group> group = bootstrap(world, rank);
        group->under_way().timeout = milliseconds::max();
        const std::uint32_t inquiry = rank == 1 ? ask(*world) : 0;
        while (rank == 1 && !answer_of(*world, 0, inquiry)) std::this_thread::yield();
        group->run(call::barrier(), {});
    });
}

// A world of two whose second rank goes without having come.
TEST_F(Faults, ARankThatNeverCameIsNamed) {
    const std::shared_ptr<World> world = World::create(2);
    world->enter(0);
    const std::unique_ptr<Group> group = bootstrap(world, 0);
    world->dismiss(1);
    EXPECT_EQ(told_by([&] { group->run(call::barrier(), {}); }),
              "rank 1 has left the communicator while others still call it:\n"
              "  rank 0: barrier\n  rank 1: left");
}

TEST_F(Faults, AFirstRankThatNeverCameIsNamed) {
    const std::shared_ptr<World> world = World::create(2);
    world->enter(1);
    world->dismiss(0);
    EXPECT_EQ(told_by([&] { bootstrap(world, 1); }),
              "rank 0 has left without connecting; rank 1 was connecting");
}

// ---- ranks that test a call again and again

void poll(Communicator& comm) {
    Pending pending = comm.start_barrier();
    while (!pending.test()) {
    }
}

TEST_F(Faults, WhoTestsIsToldOfAThreadThatThrows) {
    std::string message;
    std::latch have_met(2);
    const auto body = [&](Communicator& comm) {
        comm.barrier();
        have_met.arrive_and_wait();
        if (comm.rank() == 1) throw std::range_error("mine");
        message = told_by([&] { poll(comm); });
    };
    EXPECT_THROW(Communicator::threads(2, body), std::range_error);
    EXPECT_EQ(message, "rank 1 died; rank 0 was in barrier (call 1)");
}

TEST_F(Faults, WhoTestsIsToldOfARankThatLeaves) {
    std::string message;
    Communicator::threads(2, [&](Communicator& comm) {
        comm.barrier();
        if (comm.rank() == 0) message = told_by([&] { poll(comm); });
    });
    EXPECT_EQ(message,
              "rank 1 has left the communicator while others still call it:\n"
              "  rank 0: barrier\n  rank 1: left");
}

TEST_F(Faults, WhoTestsIsToldOfOtherCalls) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        std::vector<float> x(4);
        Pending pending = comm.rank() == 0 ? comm.start_barrier() : comm.start_allreduce(x);
        while (!pending.test()) {
        }
    });
    EXPECT_THAT(messages, testing::Each("the ranks made different calls:\n  rank 0: barrier\n"
                                        "  rank 1: allreduce of 4 f32, sum"));
}

TEST_F(Faults, WhoTestsIsToldOfTheTimeout) {
    std::string message;
    std::latch has_given_up(2);
    Communicator::threads(2, [&](Communicator& comm) {
        comm.barrier();
        comm.set_timeout(milliseconds(1));
        if (comm.rank() == 0) message = told_by([&] { poll(comm); });
        has_given_up.arrive_and_wait();
    });
    EXPECT_EQ(message,
              "timeout: rank 0 waited too long:\n  rank 0: in barrier (call 1)\n"
              "    instruction 1  wait signal[1] >= 1\n    sees 0, waits for rank 1\n"
              "  rank 1: has not called yet");
}

// ---- ranks that are killed

// Shared by the ranks of a kill test and their parent.
struct Notes {
    static constexpr int kRanks = 4;
    char messages[kRanks][200] = {};
};

using SharedNotes = shm::test::Shared<Notes>;

// Something of every kind and size, again and again.
void call_for_ever(Communicator& comm) {
    std::vector<float> small(10), medium(3000), large(300000);
    const Window<float> window = comm.window<float>(1000);
    for (int root = 0;; root = (root + 1) % comm.nranks()) {
        comm.allreduce(small);
        comm.broadcast(medium, root);
        comm.allreduce(window);
        comm.reduce(small, ReduceOp::sum, root);
        Pending pending = comm.start_allreduce(large);
        comm.barrier();
        const Communicator part = comm.split(comm.rank() % 2);
    }
}

// Kills `victim` after `delay` and returns the status of all.
int kill_one(int nranks, int victim, std::chrono::microseconds delay, const SharedNotes& notes) {
    return Communicator::fork(nranks, [&](Communicator& comm) {
        if (comm.rank() == victim) {
            std::thread([&] {
                std::this_thread::sleep_for(delay);
                kill(getpid(), SIGKILL);
            }).detach();
        }
        const std::string message = told_by([&] { call_for_ever(comm); });
        const auto rank = static_cast<std::size_t>(comm.rank());
        std::strncpy(notes->messages[rank], message.c_str(), sizeof(notes->messages[rank]) - 1);
    });
}

class Kills : public Faults, public testing::WithParamInterface<int> {};

TEST_P(Kills, AreErrorsOfAllOthers) {
    const int victim = GetParam();
    std::mt19937 random(static_cast<unsigned>(victim));
    for (const int nranks : {2, 2, 3, 3, 4, 4}) {
        if (victim >= nranks) continue;
        const std::chrono::microseconds delay(random() % 20000);
        const SharedNotes notes;
        EXPECT_EQ(kill_one(nranks, victim, delay, notes), 128 + SIGKILL);
        for (int rank = 0; rank < nranks; ++rank) {
            if (rank == victim) continue;
            EXPECT_THAT(std::string(notes->messages[rank]),
                        testing::MatchesRegex(
                            fmt::format("rank {} died; rank {} was in .* \\(call [0-9]+\\)|"
                                        "rank {} of the world died; rank [0-9] was .*",
                                        victim, rank, victim)));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(OfEachRank, Kills, testing::Values(0, 1, 2, 3));

// What rank 0 is told that tests a barrier while rank 1 does something else.
std::string told_to_tester(int expected_status, const std::function<void()>& other) {
    const SharedNotes notes;
    const int status = Communicator::fork(2, [&](Communicator& comm) {
        if (comm.rank() == 1) return other();
        const std::string message = told_by([&] { poll(comm); });
        std::strncpy(notes->messages[0], message.c_str(), sizeof(notes->messages[0]) - 1);
    });
    EXPECT_EQ(status, expected_status);
    return notes->messages[0];
}

TEST_F(Faults, WhoTestsIsToldOfAProcessThatDies) {
    EXPECT_EQ(told_to_tester(128 + SIGKILL, [] { kill(getpid(), SIGKILL); }),
              "rank 1 died; rank 0 was in barrier (call 0)");
}

TEST_F(Faults, WhoTestsIsToldOfAProcessThatThrows) {
    EXPECT_EQ(told_to_tester(1, [] { throw std::range_error("mine"); }),
              "rank 1 died; rank 0 was in barrier (call 0)");
}

TEST_F(Faults, WhoTestsIsToldOfAProcessThatLeaves) {
    EXPECT_EQ(told_to_tester(0, [] {}),
              "rank 1 has left the communicator while others still call it:\n"
              "  rank 0: barrier\n  rank 1: left");
}

TEST_F(Faults, ADeathBeforeTheFirstCallIsNamed) {
    const SharedNotes notes;
    const int status = Communicator::fork(2, [&](Communicator& comm) {
        if (comm.rank() == 1) kill(getpid(), SIGKILL);
        std::vector<float> x(7);
        const std::string message = told_by([&] { comm.allreduce(x, ReduceOp::min); });
        std::strncpy(notes->messages[0], message.c_str(), sizeof(notes->messages[0]) - 1);
    });
    EXPECT_EQ(status, 128 + SIGKILL);
    EXPECT_EQ(std::string(notes->messages[0]),
              "rank 1 died; rank 0 was in allreduce of 7 f32, min (call 0)");
}

}  // namespace faults_test
}  // namespace peal::comm
