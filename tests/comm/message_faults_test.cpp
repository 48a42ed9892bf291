// SPDX-License-Identifier: Apache-2.0
// Messages that go wrong: what is refused, and what everybody is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <thread>

#include "comm/bootstrap.hpp"
#include "comm/desk.hpp"
#include "comm/outcomes.hpp"
#include "shm/inquiry.hpp"
#include "shm/ranks.hpp"

namespace peal::comm {
namespace message_faults_test {

using test::told;
using test::told_by;
using testing::Each;

// ---- refused, and the communicator stays usable

// What rank 0 of three is told; then all make another call.
std::string refusal(const std::function<void(Communicator&)>& act) {
    std::string message;
    Communicator::threads(3, [&](Communicator& comm) {
        if (comm.rank() == 0) message = told_by([&] { act(comm); });
        int one = 1;
        comm.allreduce(one);
        EXPECT_EQ(one, 3);
    });
    return message;
}

TEST(BadMessages, AreRefusedBeforeAnythingHappens) {
    std::vector<float> x(4), y(4);
    const auto to = [&](int peer) {
        return refusal([&, peer](Communicator& comm) { comm.send(x, peer); });
    };
    EXPECT_EQ(to(3), "send: the other rank must be 0..2, found 3");
    EXPECT_EQ(to(-1), "send: the other rank must be 0..2, found -1");
    EXPECT_EQ(to(0), "send: rank 0 is this rank itself; copy the data instead");
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.recv(x, 0); }),
              "recv: rank 0 is this rank itself; copy the data instead");
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.start_recv(x, 7); }),
              "recv: the other rank must be 0..2, found 7");
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.sendrecv(x, 1, y, 3); }),
              "sendrecv: the other rank must be 0..2, found 3");
    EXPECT_EQ(refusal([&](Communicator& comm) {
                  comm.sendrecv(std::span(x).first(3), 1, std::span(x).last(2), 2);
              }),
              "sendrecv: what is received overlaps what is sent");
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.send(Memory(nullptr, 3, Element::f32), 1); }),
              "send to rank 1: expected f32[3], found a null pointer");
    EXPECT_EQ(refusal([&](Communicator& comm) {
                  comm.recv(Memory(x.data(), kMaxCount + 1, Element::u8), 2);
              }),
              "recv from rank 2: 8796093022208 elements are too many");
}

TEST(BadMessages, AnExchangeIsRefusedAsAWhole) {
    std::vector<float> x(4), y(4);
    EXPECT_EQ(refusal([&](Communicator& comm) {
                  comm.exchange({{1, x, y}, {0, x, x}});
              }),
              "exchange: what is received from rank 0 overlaps what is sent to rank 1");
    EXPECT_EQ(refusal([&](Communicator& comm) {
                  comm.exchange({{1, x, y}, {2, x, std::span(y).last(1)}});
              }),
              "exchange: what is received from ranks 1 and 2 overlaps");
    EXPECT_EQ(refusal([&](Communicator& comm) {
                  comm.exchange({{1, x, y}, {3, Memory(), Memory()}});
              }),
              "exchange: the other rank must be 0..2, found 3");
}

// ---- told to all

// Rank 2 has nothing to do with it, and waits for them.
std::vector<std::string> told_to_three(const std::function<void(Communicator&)>& first,
                                       const std::function<void(Communicator&)>& second) {
    return told(3, [&](Communicator& comm) {
        if (comm.rank() == 0) first(comm);
        if (comm.rank() == 1) second(comm);
        comm.barrier();
    });
}

TEST(MessageMismatch, OfLengthIsToldToAll) {
    for (const std::size_t count : {0, 3, 100, 100000, 1000000}) {
        std::vector<float> sent(count), received(count + 1);
        EXPECT_THAT(told_to_three([&](Communicator& comm) { comm.send(sent, 1); },
                                  [&](Communicator& comm) { comm.recv(received, 0); }),
                    Each(fmt::format("the ranks made different calls:\n"
                                     "  rank 0: send of {} f32 to rank 1\n"
                                     "  rank 1: recv of {} f32 from rank 0",
                                     count, count + 1)));
    }
}

TEST(MessageMismatch, OfTypeIsToldToAll) {
    std::vector<float> sent(3);
    std::vector<std::int32_t> received(3);
    EXPECT_THAT(told_to_three([&](Communicator& comm) { comm.send(sent, 1); },
                              [&](Communicator& comm) { comm.recv(received, 0); }),
                Each("the ranks made different calls:\n  rank 0: send of 3 f32 to rank 1\n"
                     "  rank 1: recv of 3 i32 from rank 0"));
}

// The message before was right, and its sender has gone on.
TEST(MessageMismatch, IsToldAlsoIfItWasStarted) {
    std::vector<double> sent(1), received(1), longer(2);
    EXPECT_THAT(told_to_three(
                    [&](Communicator& comm) {
                        Pending right = comm.start_send(sent, 1);
                        Pending wrong = comm.start_send(sent, 1);
                        comm.barrier();
                    },
                    [&](Communicator& comm) {
                        comm.recv(received, 0);
                        Pending pending = comm.start_recv(longer, 0);
                        comm.barrier();
                    }),
                Each("the ranks made different calls:\n  rank 0: send of 1 f64 to rank 1\n"
                     "  rank 1: recv of 2 f64 from rank 0"));
}

TEST(MessageFaults, ARankThatLeavesIsNamed) {
    std::string message;
    Communicator::threads(2, [&](Communicator& comm) {
        std::vector<float> x(5);
        if (comm.rank() == 0) message = told_by([&] { comm.recv(x, 1); });
    });
    EXPECT_EQ(message,
              "rank 1 has left the communicator while others still call it:\n"
              "  rank 0: recv of 5 f32 from rank 1\n  rank 1: left");
}

// What was kept for the receiver arrives.
TEST(MessageFaults, WhatARankSentBeforeItLeftArrives) {
    std::latch has_left(2);
    shm::run_threads(2, [&](std::shared_ptr<World> world, int rank) {
        auto desk = std::make_unique<Desk>(bootstrap(std::move(world), rank));
        std::vector<float> x = {1.0F * static_cast<float>(rank), 2};
        if (rank == 1) {
            desk->channels().to(0, {}).run(x, {});
            desk.reset();
        }
        has_left.arrive_and_wait();
        if (rank == 0) {
            desk->channels().from(1, {}).run(x, {});
            EXPECT_EQ(x, (std::vector<float>{1, 2}));
        }
    });
}

TEST(MessageFaults, ADeathIsNamed) {
    std::string message;
    std::latch have_met(2);
    const auto body = [&](Communicator& comm) {
        int token = 0;
        if (comm.rank() == 0) comm.recv(token, 1);  // the two have memory now
        if (comm.rank() == 1) comm.send(token, 0);
        have_met.arrive_and_wait();
        if (comm.rank() == 1) throw std::range_error("mine");
        message = told_by([&] { comm.recv(token, 1); });
    };
    EXPECT_THROW(Communicator::threads(2, body), std::range_error);
    EXPECT_EQ(message, "rank 1 died; rank 0 was in recv of 1 i32 from rank 1");
}

// There is no memory for the pair then, and that is not what is told.
TEST(MessageFaults, ADeathBeforeTheFirstMessageIsNamed) {
    for (const bool sends : {false, true}) {
        std::latch has_died(2);
        shm::run_threads(2, [&](std::shared_ptr<World> world, int rank) {
            Desk desk(bootstrap(world, rank));
            if (rank == 1) world->raise_alarm(1);
            has_died.arrive_and_wait();
            if (rank == 1) return;
            std::vector<float> x(3);
            EXPECT_EQ(told_by([&] {
                          Channel& channel =
                              sends ? desk.channels().to(1, {}) : desk.channels().from(1, {});
                          channel.run(x, {});
                      }),
                      "rank 1 died; rank 0 was in its first message with rank 1");
        });
    }
}

TEST(MessageFaults, ATimeoutSaysWhereEverybodyStands) {
    std::string message;
    std::latch have_come(3), has_given_up(3);
    Communicator::threads(3, [&](Communicator& comm) {
        have_come.arrive_and_wait();
        comm.set_timeout(std::chrono::milliseconds(1));
        std::vector<float> x(7);
        if (comm.rank() == 0) message = told_by([&] { comm.recv(x, 2); });
        has_given_up.arrive_and_wait();
    });
    EXPECT_EQ(message,
              "timeout: rank 0 waited too long:\n  rank 0: in recv of 7 f32 from rank 2\n"
              "    instruction 0  wait signal[0] >= 1\n    sees 0, waits for rank 2\n"
              "  rank 1: waits in no call\n  rank 2: waits in no call");
}

// Whoever asks where a rank stands hears of all that it has under way.
TEST(MessageFaults, AnInquiryIsToldOfAllThatIsUnderWay) {
    std::latch have_come(2);
    shm::run_threads(2, [&](std::shared_ptr<World> world, int rank) {
        Desk desk(bootstrap(world, rank));
        have_come.arrive_and_wait();
        std::vector<float> x(4);
        int token = 0;
        if (rank == 1) {
            const std::uint32_t inquiry = ask(*world);
            while (!answer_of(*world, 0, inquiry)) std::this_thread::yield();
            EXPECT_EQ(answer_of(*world, 0, inquiry),
                      "in recv of 1 i32 from rank 1, at b.cpp:2\n"
                      "    instruction 0  wait signal[0] >= 1\n    sees 0, waits for rank 1\n"
                      "    and in allreduce of 4 f32, sum, at a.cpp:1 (call 0)\n"
                      "    instruction 2  wait signal[1] >= 1\n    sees 0, waits for rank 1");
        }
        const Queue::Ticket sum =
            desk.collectives().start(desk.group().request_of(call::allreduce(x), {"a.cpp", 1}));
        if (rank == 0) desk.channels().from(1, {}).run(Memory(token), {"b.cpp", 2});
        if (rank == 1) desk.channels().to(0, {}).run(Memory(token), {"b.cpp", 3});
        desk.collectives().wait(sum);
    });
}

// ---- deadlocks

// Everybody sends first, more than is kept.
TEST(Deadlock, OfMessagesIsFound) {
    const std::vector<std::string> messages = told(3, [](Communicator& comm) {
        std::vector<float> x(200000), y(200000);
        comm.send(x, (comm.rank() + 1) % 3);
        comm.recv(y, (comm.rank() + 2) % 3);
    });
    EXPECT_EQ(messages[0],
              "deadlock: no rank can go on:\n"
              "  rank 0: in send of 200000 f32 to rank 1\n"
              "    instruction 8  wait signal[1] >= 1\n    sees 0, waits for rank 1\n"
              "  rank 1: in send of 200000 f32 to rank 2\n"
              "    instruction 8  wait signal[1] >= 1\n    sees 0, waits for rank 2\n"
              "  rank 2: in send of 200000 f32 to rank 0\n"
              "    instruction 8  wait signal[1] >= 1\n    sees 0, waits for rank 0");
    EXPECT_THAT(messages, Each(messages[0]));
}

// One waits in a collective, the other for a message: neither sees a call that differs.
TEST(Deadlock, BetweenACollectiveAndAMessageIsFound) {
    EXPECT_THAT(told(2,
                     [](Communicator& comm) {
                         int token = 0;
                         if (comm.rank() == 1) comm.recv(token, 0);
                         comm.barrier();
                     }),
                Each("deadlock: no rank can go on:\n  rank 0: in barrier (call 0)\n"
                     "    instruction 1  wait signal[1] >= 1\n    sees 0, waits for rank 1\n"
                     "  rank 1: in recv of 1 i32 from rank 0\n"
                     "    instruction 0  wait signal[0] >= 1\n    sees 0, waits for rank 0"));
}

// Also in a part, by its own ranks; and a rank that has left can ring nobody.
TEST(Deadlock, IsFoundInAPartThatARankHasLeft) {
    std::vector<std::string> messages(4);
    std::latch have_ended(3);
    Communicator::threads(4, [&](Communicator& comm) {
        Communicator part = comm.split(comm.rank() == 0 ? 0 : 1);
        if (comm.rank() == 0) return;
        if (comm.rank() == 3) {
            { const Communicator gone = std::move(part); }
            have_ended.arrive_and_wait();
            return;
        }
        std::vector<float> x(4);
        messages[static_cast<std::size_t>(comm.rank())] =
            told_by([&] { part.recv(x, 1 - part.rank()); });
        have_ended.arrive_and_wait();
    });
    EXPECT_EQ(messages[1],
              "deadlock: no rank can go on:\n"
              "  rank 0: in recv of 4 f32 from rank 1, among ranks 1, 2, 3 of the world\n"
              "    instruction 0  wait signal[0] >= 1\n    sees 0, waits for rank 2 of the world\n"
              "  rank 1: in recv of 4 f32 from rank 0, among ranks 1, 2, 3 of the world\n"
              "    instruction 0  wait signal[0] >= 1\n    sees 0, waits for rank 1 of the world\n"
              "  rank 2: left");
    EXPECT_EQ(messages[2], messages[1]);
}

// A rank that is late for as long as the others look around several times is none: it answers an
// inquiry only when it waits itself.
TEST(Deadlock, IsNotALateRank) {
    shm::run_threads(3, [](std::shared_ptr<World> world, int rank) {
        Desk desk(bootstrap(world, rank));
        for (int round = 0; round < 2 && rank == 2; ++round) {
            const std::uint32_t inquiry = ask(*world);
            while (!answer_of(*world, 0, inquiry) || !answer_of(*world, 1, inquiry)) {
                std::this_thread::yield();
            }
        }
        int token = rank;
        if (rank < 2) desk.channels().from(rank + 1, {}).run(Memory(token), {});
        if (rank > 0) desk.channels().to(rank - 1, {}).run(Memory(token), {});
        EXPECT_EQ(token, 2);
    });
}

}  // namespace message_faults_test
}  // namespace peal::comm
