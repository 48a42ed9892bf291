// SPDX-License-Identifier: Apache-2.0
// What ranks on several hosts are told when something goes wrong on one of them: each the rank, its
// host and the call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "comm/outcomes.hpp"
#include "comm/window.hpp"
#include "hosts/job.hpp"
#include "hosts/ranks.hpp"
#include "hosts/several_hosts.hpp"
#include "peal/program.hpp"
#include "peal/source.hpp"
#include "shm/shared.hpp"

namespace peal::hosts {
namespace faults_test {

using comm::test::without_sites;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

class HostFaults : public testing::Test {
protected:
    void SetUp() override {
        if (const std::string why = test::why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    }
};

TEST_F(HostFaults, ARankThatDiesIsNamedWithItsHost) {
    const auto outcome = test::run_on_hosts({2, 2}, [](Communicator& comm) {
        std::vector<float> data(1000, 1);
        for (int round = 0; round < 20; ++round) {
            if (comm.rank() == 3 && round == 7) kill(getpid(), SIGKILL);
            comm.allreduce(data);
        }
    });
    EXPECT_EQ(outcome.status[3], -SIGKILL);
    for (const int rank : {0, 1, 2}) {
        EXPECT_THAT(without_sites(outcome.messages[static_cast<std::size_t>(rank)]),
                    StartsWith("rank 3 on host h1 died; rank " + std::to_string(rank) +
                               " was in allreduce of 1000 f32, sum (call "));
    }
}

// Before a call, and in the middle of one: it has started the call and never comes back to it.
TEST_F(HostFaults, ARankMayDieAnywhere) {
    struct Point {
        std::vector<int> layout;
        int victim, call;
        bool has_started;
    };
    const Point points[] = {
        {{1, 1}, 0, 0, false}, {{1, 1}, 1, 1, true},    {{1, 1}, 1, 5, false},
        {{2, 2}, 0, 3, true},  {{2, 2}, 1, 2, true},    {{2, 2}, 2, 4, false},
        {{3, 1}, 3, 6, true},  {{1, 1, 1}, 2, 7, true},
    };
    for (const Point& point : points) {
        const auto outcome = test::run_on_hosts(point.layout, [&](Communicator& comm) {
            const auto all = static_cast<std::size_t>(comm.nranks());
            std::vector<float> some(1000, 1), many(100000, 1), parts(all * 3000), one(3000);
            for (int call = 0; call < 12; ++call) {
                const bool is_end = comm.rank() == point.victim && call == point.call;
                if (is_end && !point.has_started) kill(getpid(), SIGKILL);
                Pending pending = call % 4 == 0   ? comm.start_allreduce(some)
                                  : call % 4 == 1 ? comm.start_allgather(one, parts)
                                  : call % 4 == 2 ? comm.start_broadcast(many, 0)
                                                  : comm.start_allreduce(many);
                if (is_end) kill(getpid(), SIGKILL);
                pending.wait();
            }
        });
        for (int rank = 0; rank < static_cast<int>(outcome.status.size()); ++rank) {
            const auto r = static_cast<std::size_t>(rank);
            if (rank == point.victim) {
                EXPECT_EQ(outcome.status[r], -SIGKILL);
            } else {
                EXPECT_THAT(
                    without_sites(outcome.messages[r]),
                    MatchesRegex(fmt::format(
                        "rank {} on host h[0-2] died; rank [0-3] was in (allreduce of 1000(00)? "
                        "f32, "
                        "sum|allgather of 3000 f32|broadcast of 100000 f32, root 0) \\(call "
                        "[0-9]+\\)",
                        point.victim)))
                    << "rank " << rank << ", call " << point.call;
            }
        }
    }
}

// The first message waits for memory that the other rank makes in its next wait.
TEST_F(HostFaults, ADeathBeforeTheFirstMessageIsNamed) {
    for (const bool sends : {false, true}) {
        const auto outcome = test::run_on_hosts({1, 1}, [&](Communicator& comm) {
            if (comm.rank() == 1) kill(getpid(), SIGKILL);
            std::vector<float> data(7, 1);
            if (sends) {
                comm.send(data, 1);
            } else {
                comm.recv(data, 1);
            }
        });
        EXPECT_EQ(without_sites(outcome.messages[0]),
                  "rank 1 on host h1 died; rank 0 was in its first message with rank 1");
        EXPECT_THAT(outcome.messages[0], HasSubstr(", at faults_test.cpp:"));
    }
}

// What ranks do again and again. `between` is called in the middle of it.
struct Deed {
    std::string name;
    std::function<void(Communicator&, const std::function<void()>& between)> act;
    std::string calls;  // as errors name what a rank was in
};

void pass_on(Communicator& comm, const std::function<void()>& between) {
    const int next = (comm.rank() + 1) % comm.nranks();
    const int last = (comm.rank() + comm.nranks() - 1) % comm.nranks();
    std::vector<float> data(100000, 1);
    if (comm.rank() == 0) comm.send(data, next);
    between();
    comm.recv(data, last);
    if (comm.rank() != 0) comm.send(data, next);
}

void sum_in_window(Communicator& comm, const std::function<void()>& between) {
    const auto window = comm.window<float>(1000);
    between();
    comm.allreduce(window);
}

void sum_in_part(Communicator& comm, const std::function<void()>& between) {
    Communicator part = comm.split(comm.rank() % 2);
    between();
    std::vector<float> data(1000, 1);
    part.allreduce(data);
    comm.barrier();
}

void run_ring(Communicator& comm, const std::function<void()>& between) {
    const auto source = std::make_shared<const Source>(
        "ring.peal",
        "kernel ring(sig: window i32[nranks]) {\n"
        "    notify sig[0]@((rank + 1) % nranks) = generation(sig) + 1\n"
        "    wait sig[0] >= generation(sig) + 1\n"
        "    advance sig by 1\n}\n");
    const Kernel kernel = comm.kernel(parse(source), "ring", {});
    const auto signal = comm.signals(static_cast<std::uint64_t>(comm.nranks()));
    between();
    comm.run(kernel, signal);
    comm.run(kernel, signal);
}

TEST_F(HostFaults, WhatTheOthersWereInWhenARankDiedIsNamed) {
    // For windows and parts ranks exchange what they know of them. Who is through with all is in
    // the barrier.
    const Deed deeds[] = {
        {"messages", pass_on,
         "its first message with rank [0-3]|(send|recv) of 100000 f32 (to|from) rank "
         "[0-3]|barrier"},
        {"windows", sum_in_window,
         "window of 4000 bytes|allgather of [0-9]+ u8|allreduce of 1000 f32, sum(, in window "
         "[0-9]+)?|barrier"},
        {"parts", sum_in_part, "split|allgather of [0-9]+ u8|allreduce of 1000 f32, sum|barrier"},
        {"kernels", run_ring,
         "window of 256 bytes|allgather of [0-9]+ u8|kernel ring of program [0-9a-f]+, in window "
         "[0-9]+|barrier|"
         "kernel ring( .call [0-9]+.)?\n    instruction [01]  (notify|wait) [^\n]*\n    (waits for "
         "another host to answer|sees .*)"},
    };
    for (const Deed& deed : deeds) {
        for (const int victim : {0, 1, 3}) {
            for (const bool is_between : {false, true}) {
                const auto outcome = test::run_on_hosts({2, 2}, [&](Communicator& comm) {
                    const auto die = [&] {
                        if (comm.rank() == victim) kill(getpid(), SIGKILL);
                    };
                    deed.act(comm, [] {});
                    if (!is_between) die();
                    deed.act(comm, [&] {
                        if (is_between) die();
                    });
                    for (;;) comm.barrier();
                });
                EXPECT_EQ(outcome.status[static_cast<std::size_t>(victim)], -SIGKILL);
                for (int rank = 0; rank < 4; ++rank) {
                    if (rank == victim) continue;
                    const std::string& message = outcome.messages[static_cast<std::size_t>(rank)];
                    EXPECT_THAT(without_sites(message),
                                MatchesRegex(fmt::format(
                                    "rank {}( of the world)? on host h{} died; rank [0-3] was in "
                                    "({})( \\(call [0-9]+\\))?",
                                    victim, victim / 2, deed.calls)))
                        << deed.name << (is_between ? ", in the middle" : "");
                    EXPECT_THAT(message, HasSubstr(", at faults_test.cpp:")) << deed.name;
                }
            }
        }
    }
}

// Kills its process at one of the exchanges, before it has given anything or when it has all.
class DyingMeeting final : public Meeting {
public:
    struct Death {
        int exchange = -1;  // of those of connect()
        bool has_given = false;
    };
    DyingMeeting(std::unique_ptr<Meeting> meeting, Death death)
        : meeting_(std::move(meeting)), death_(death) {}
    int rank() const override { return meeting_->rank(); }
    int nranks() const override { return meeting_->nranks(); }
    const std::string& host_of(int rank) const override { return meeting_->host_of(rank); }
    std::vector<std::string> exchange(std::string_view own) override {
        const bool is_last = exchanges_++ == death_.exchange;
        if (is_last && !death_.has_given) kill(getpid(), SIGKILL);
        auto texts = meeting_->exchange(own);
        if (is_last) kill(getpid(), SIGKILL);
        return texts;
    }
    std::optional<News> news() override { return meeting_->news(); }
    void fail(std::string_view story) override { meeting_->fail(story); }
    void leave() override { meeting_->leave(); }

private:
    std::unique_ptr<Meeting> meeting_;
    Death death_;
    int exchanges_ = 0;
};

// What each of three ranks on hosts of their own says of connect(), of which the last one dies.
std::vector<std::string> connected_with(DyingMeeting::Death death) {
    constexpr int kRanks = 3;
    peal::test::Venue venue(kRanks);
    std::vector<std::shared_ptr<shm::World>> worlds;
    for (int host = 0; host < kRanks; ++host) worlds.push_back(shm::World::create(kRanks));
    return peal::test::told_by_ranks(kRanks, [&](int rank) -> std::string {
        test::use_loopback();
        std::unique_ptr<Meeting> meeting = venue.come(rank);
        if (rank == kRanks - 1) {
            meeting = std::make_unique<DyingMeeting>(std::move(meeting), death);
        }
        const auto& world = worlds[static_cast<std::size_t>(rank)];
        world->enter(rank);
        auto job = std::make_shared<Job>(std::move(meeting), LocalWorld{{world, rank}, {0, 1, 2}});
        Communicator comm = comm::Inside::connect(job);
        job.reset();
        comm.barrier();
        return "connected";
    });
}

// Addresses are exchanged, then that all are connected. UCX 1.13 aborts a rank that is connecting
// to one that dies.
class DeathInConnect : public peal::test::NeedsSecret {
protected:
    void SetUp() override {
        NeedsSecret::SetUp();
        if (const std::string why = test::why_no_hosts(); !why.empty()) GTEST_SKIP() << why;
    }
};

TEST_F(DeathInConnect, IsNamed) {
    EXPECT_THAT(connected_with({}), testing::Each("connected"));
    for (const int exchange : {0, 1}) {
        for (const bool has_given : {false, true}) {
            const auto told = connected_with({exchange, has_given});
            EXPECT_EQ(told[2], "died");
            for (const int rank : {0, 1}) {
                EXPECT_THAT(
                    told[static_cast<std::size_t>(rank)],
                    MatchesRegex(fmt::format(
                        "error: rank [012] on (host )?host[012] died; rank {} was (to exchange "
                        "addresses with all ranks|in .*)|died",
                        rank)))
                    << exchange << has_given;
            }
        }
    }
}

TEST_F(HostFaults, ARankThatHasLeftIsNamed) {
    const auto outcome = test::run_on_hosts({1, 2}, [](Communicator& comm) {
        comm.barrier();
        if (comm.rank() != 2) comm.barrier();
    });
    EXPECT_EQ(outcome.messages[2], "");
    for (const int rank : {0, 1}) {
        // Who noticed first may not have heard of all others' calls yet.
        EXPECT_THAT(
            without_sites(outcome.messages[static_cast<std::size_t>(rank)]),
            MatchesRegex("rank 2 on host h1 has left the communicator while others still call "
                         "it:\n"
                         "  rank 0 on host h0: (barrier|has not called yet)\n"
                         "  rank 1 on host h1: (barrier|has not called yet)\n"
                         "  rank 2 on host h1: left"));
    }
}

TEST_F(HostFaults, RanksThatMakeDifferentCallsAreTold) {
    const auto outcome = test::run_on_hosts({1, 2}, [](Communicator& comm) {
        std::vector<float> data(comm.rank() == 0 ? 3 : 4);
        for (int round = 0; round < 3; ++round) comm.allreduce(data);
    });
    for (const std::string& message : outcome.messages) {
        EXPECT_EQ(without_sites(message),
                  "the ranks made different calls:\n"
                  "  rank 0 on host h0: allreduce of 3 f32, sum\n"
                  "  rank 1 on host h1: allreduce of 4 f32, sum\n"
                  "  rank 2 on host h1: allreduce of 4 f32, sum");
    }
}

// One kernel, but of another program on one host: an older file, for example.
TEST_F(HostFaults, AKernelThatIsAnotherOnOneHostIsRefused) {
    const auto outcome = test::run_on_hosts({2, 1}, [](Communicator& comm) {
        const auto source = std::make_shared<const Source>(
            "ring.peal",
            fmt::format("kernel ring(sig: window i32[nranks]) {{\n"
                        "    notify sig[0]@((rank + 1) % nranks) = generation(sig) + {0}\n"
                        "    wait sig[0] >= generation(sig) + {0}\n"
                        "    advance sig by {0}\n}}\n",
                        comm.rank() < 2 ? 1 : 2));
        const Kernel kernel = comm.kernel(parse(source), "ring", {});
        const auto signal = comm.signals(static_cast<std::uint64_t>(comm.nranks()));
        comm.run(kernel, signal);
    });
    EXPECT_THAT(without_sites(outcome.messages[2]),
                MatchesRegex("the ranks made different calls:\n"
                             "  rank 0 on host h0: kernel ring of program [0-9a-f]+, in window 1\n"
                             "  rank 1 on host h0: kernel ring of program [0-9a-f]+, in window 1\n"
                             "  rank 2 on host h1: kernel ring of program [0-9a-f]+, in window 1"));
    EXPECT_THAT(outcome.messages, testing::Each(outcome.messages[2]));
}

TEST_F(HostFaults, WhoWaitsTooLongSaysForWhom) {
    struct Notes {
        std::atomic<bool> is_through, gave_up;
    };
    const shm::test::Shared<Notes> notes;
    const auto come = [](const std::atomic<bool>& note) {
        while (!note) usleep(1000);
    };
    const auto outcome = test::run_on_hosts({1, 1}, [&](Communicator& comm) {
        comm.barrier();
        comm.set_timeout(std::chrono::milliseconds(300));
        if (comm.rank() == 1) {
            notes->is_through = true;
            come(notes->gave_up);
            comm.barrier();
            return;
        }
        come(notes->is_through);
        try {
            comm.barrier();
        } catch (...) {
            notes->gave_up = true;
            throw;
        }
    });
    EXPECT_THAT(
        without_sites(outcome.messages[0]),
        StartsWith("timeout: rank 0 waited too long:\n  rank 0 on host h0: in barrier (call 1)"));
    EXPECT_THAT(without_sites(outcome.messages[0]),
                HasSubstr("\n  rank 1 on host h1: has not called yet"));
    EXPECT_EQ(without_sites(outcome.messages[1]), without_sites(outcome.messages[0]));
}

// A rank that does something else answers nobody of another host. What the others say is heard all
// the same: here rank 2 gives up when ranks 0 and 3 have looked around often since it was there.
TEST_F(HostFaults, WhoSleepsHidesNobody) {
    struct Notes {
        std::atomic<int> looks[4];
        std::atomic<bool> is_over;
    };
    const shm::test::Shared<Notes> notes;
    const auto outcome = test::run_on_hosts({2, 2}, [&](Communicator& comm) {
        const auto looks = [&](int rank) -> std::atomic<int>& { return notes->looks[rank]; };
        int since = 0;
        comm.set_watch([&] {
            looks(comm.rank()).fetch_add(1);
            if (comm.rank() != 2 || looks(0) == 0 || looks(3) == 0) return;
            if (since == 0) since = looks(0);
            if (looks(0) > since + 20) comm.set_timeout(std::chrono::milliseconds(1));
        });
        while (comm.rank() == 1 && !notes->is_over) usleep(1000);
        try {
            comm.barrier();
        } catch (...) {
            notes->is_over = true;
            throw;
        }
    });
    EXPECT_THAT(without_sites(outcome.messages[2]),
                testing::AllOf(StartsWith("timeout: rank 2 waited too long:\n"
                                          "  rank 0 on host h0: in barrier, or past it\n"
                                          "  rank 1 on host h0: has not called yet\n"
                                          "  rank 2 on host h1: in barrier (call 0)\n"),
                               HasSubstr("\n  rank 3 on host h1: in barrier (call 0)\n")));
    EXPECT_THAT(outcome.messages, testing::Each(outcome.messages[2]));
}

TEST_F(HostFaults, WhoLeavesIsSeenBesideWhoSleeps) {
    const shm::test::Shared<std::atomic<int>> ended;
    const auto outcome = test::run_on_hosts({2, 2}, [&](Communicator& comm) {
        comm.barrier();
        if (comm.rank() == 0) return;
        while (comm.rank() == 1 && *ended < 2) usleep(1000);
        try {
            comm.barrier();
        } catch (...) {
            ended->fetch_add(1);
            throw;
        }
    });
    EXPECT_EQ(outcome.messages[0], "");
    for (const int rank : {1, 2, 3}) {
        EXPECT_THAT(
            outcome.messages[static_cast<std::size_t>(rank)],
            StartsWith("rank 0 on host h0 has left the communicator while others still call "
                       "it:\n"));
    }
}

// Everybody waits for a message of the next, on the own host and on the other.
TEST_F(HostFaults, ADeadlockOfMessagesNamesAllRanksAndHosts) {
    const auto outcome = test::run_on_hosts({1, 2}, [](Communicator& comm) {
        std::vector<float> x(4);
        comm.recv(x, (comm.rank() + 1) % 3);
    });
    EXPECT_EQ(without_sites(outcome.messages[0]),
              "deadlock: no rank can go on:\n"
              "  rank 0 on host h0: in recv of 4 f32 from rank 1\n"
              "    instruction 0  wait signal[0] >= 1\n    sees 0, waits for rank 1\n"
              "  rank 1 on host h1: in recv of 4 f32 from rank 2\n"
              "    instruction 0  wait signal[0] >= 1\n    sees 0, waits for rank 2\n"
              "  rank 2 on host h1: in recv of 4 f32 from rank 0\n"
              "    instruction 0  wait signal[0] >= 1\n    sees 0, waits for rank 0");
    EXPECT_THAT(outcome.messages, testing::Each(outcome.messages[0]));
}

TEST_F(HostFaults, ADeadlockOfAKernelNamesAllRanksAndHosts) {
    const auto outcome = test::run_on_hosts({1, 1}, [](Communicator& comm) {
        const auto source = std::make_shared<const Source>(
            "stuck.peal",
            "kernel stuck(sig: window i32[nranks]) {\n"
            "    notify sig[rank]@((rank + 1) % nranks) = generation(sig) + 1\n"
            "    wait sig[rank] >= generation(sig) + 1\n"
            "    advance sig by 1\n}\n");
        const Kernel kernel = comm.kernel(parse(source), "stuck", {});
        auto signal = comm.signals(static_cast<std::uint64_t>(comm.nranks()));
        comm.run(kernel, signal);
    });
    EXPECT_THAT(
        outcome.messages[0],
        testing::AllOf(StartsWith("deadlock: no rank can go on:\n"
                                  "  rank 0 on host h0: in kernel stuck"),
                       HasSubstr("\n  rank 1 on host h1: in kernel stuck"), HasSubstr("sees 0")));
    EXPECT_EQ(outcome.messages[1], outcome.messages[0]);
}

// The others stand still for longer than it takes to ask and answer, again and again: each is late
// in its turn, and what it tells last is on its way when it stands still itself.
TEST_F(HostFaults, ALateRankIsNoDeadlock) {
    const auto outcome = test::run_on_hosts({1, 2}, [](Communicator& comm) {
        int token = 0;
        for (int round = 0; round < 6; ++round) {
            if (comm.rank() == round % 3) usleep(150'000);
            comm.barrier();
            const int next = (comm.rank() + 1) % 3, last = (comm.rank() + 2) % 3;
            if (comm.rank() == round % 3) comm.send(token, next);
            comm.recv(token, last);
            if (comm.rank() != round % 3) comm.send(token, next);
        }
    });
    EXPECT_TRUE(outcome.is_well()) << outcome.text();
}

// What rank 1 has sent to rank 2 is on its way when all stand still and say so. When it has come,
// and rank 1 can say that it has nothing on its way, rank 2 is busy: what it said before is what
// rank 0 knows of it.
TEST_F(HostFaults, AMessageOnItsWayIsNoDeadlock) {
    const auto pass_on = [](Communicator& comm) {
        int token = 0;
        for (int round = 0; round < 2; ++round) {
            if (comm.rank() == 1) comm.send(token, 2);
            comm.recv(token, (comm.rank() + 2) % 3);
            if (comm.rank() == 2) usleep(100'000);
            if (comm.rank() != 1) comm.send(token, (comm.rank() + 1) % 3);
        }
    };
    const auto outcome = test::run_on_hosts({2, 1}, pass_on, {1, 2});
    EXPECT_TRUE(outcome.is_well()) << outcome.text();
}

TEST_F(HostFaults, MessagesToWhoHasLeftAreRefused) {
    const auto outcome = test::run_on_hosts({1, 1}, [](Communicator& comm) {
        float value = 1;
        if (comm.rank() == 0) comm.send(value, 1);
    });
    EXPECT_EQ(outcome.messages[1], "");
    // It is kept for a receiver that never comes, or finds it gone already.
    EXPECT_THAT(outcome.messages[0],
                testing::AnyOf("",
                               "rank 1 on host h1 has left the communicator while rank 0 still "
                               "calls it"));
}

TEST_F(HostFaults, AWindowElsewhereHasNoAddressHere) {
    const auto outcome = test::run_on_hosts({1, 1}, [](Communicator& comm) {
        const auto window = comm.window<float>(10);
        window.on(comm.rank());
        window.on(1 - comm.rank());
    });
    for (const int rank : {0, 1}) {
        EXPECT_EQ(outcome.messages[static_cast<std::size_t>(rank)],
                  "window: rank " + std::to_string(1 - rank) +
                      " is on another host, so its part has no address here; use a collective, a "
                      "message or a kernel");
    }
}

}  // namespace faults_test
}  // namespace peal::hosts
