// SPDX-License-Identifier: Apache-2.0
// Who is told what when several things go wrong: the first cause wins, and reports name the lines.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <latch>
#include <optional>
#include <thread>

#include "comm/bootstrap.hpp"
#include "comm/desk.hpp"
#include "comm/outcomes.hpp"
#include "peal/compile.hpp"
#include "peal/program.hpp"
#include "shm/inquiry.hpp"
#include "shm/ranks.hpp"
#include "shm/timeout.hpp"

namespace peal::comm {
namespace story_test {

using test::told_by;

// The kernel of examples/mesh_allreduce.peal, and what it needs.
ir::Program mesh() { return parse_file(PEAL_SOURCE_DIR "/examples/mesh_allreduce.peal"); }
Bindings sizes(std::int64_t n) {
    Bindings bindings;
    bindings.integers["n"] = n;
    return bindings;
}

// Rank 1 is in its call, and its peer dies of the mismatch before rank 1 looks again. What it then
// finds first is a ring of another call.
TEST(Story, WhoDiesOfAMismatchIsNotItsCause) {
    std::string messages[2];
    std::latch have_met(2), has_called(2), has_died(2);
    shm::run_threads(2, [&](std::shared_ptr<World> world, int rank) {
        Desk desk(bootstrap(world, rank));
        Group& group = desk.group();
        Queue& queue = desk.collectives();
        const Call call = call::barrier();
        group.run(call, {});
        have_met.arrive_and_wait();
        Queue::Ticket ticket = 0;
        if (rank == 1) ticket = queue.start(group.request_of(call, {}));
        has_called.arrive_and_wait();
        if (rank == 0) {
            std::vector<float> x(4);
            messages[0] = told_by([&] { group.run(call::allreduce(x), {}); });
            world->raise_alarm(0);
        }
        has_died.arrive_and_wait();
        if (rank == 1) messages[1] = told_by([&] { queue.wait(ticket); });
    });
    EXPECT_THAT(messages, testing::Each("the ranks made different calls:\n"
                                        "  rank 0: allreduce of 4 f32, sum\n  rank 1: barrier"));
}

TEST(Story, NamesTheLinesOfTheCalls) {
    std::string messages[2];
    unsigned lines[2] = {};
    std::latch have_been_told(2);
    Communicator::threads(2, [&](Communicator& comm) {
        const auto rank = static_cast<std::size_t>(comm.rank());
        std::vector<float> x(4);
        try {
            if (rank == 0) {
                lines[0] = __LINE__ + 1;
                comm.allreduce(x);
            } else {
                lines[1] = __LINE__ + 1;
                comm.window<float>(4);
            }
        } catch (const Error& error) {
            messages[rank] = error.what();
        }
        have_been_told.arrive_and_wait();
    });
    EXPECT_THAT(messages, testing::Each(fmt::format("the ranks made different calls:\n"
                                                    "  rank 0: allreduce of 4 f32, sum, at "
                                                    "story_test.cpp:{}\n"
                                                    "  rank 1: window of 16 bytes, at "
                                                    "story_test.cpp:{}",
                                                    lines[0], lines[1])));
}

// More places than can be written down: the later ones are not named.
TEST(Sites, HaveNumbersWhileThereIsRoom) {
    shm::run_threads(1, [](std::shared_ptr<World> world, int rank) {
        const std::unique_ptr<Group> group = bootstrap(world, rank);
        EXPECT_EQ(group->site({}), 0u);
        for (unsigned line = 1; line <= Member::kSites + 2; ++line) {
            const std::uint32_t expected = line <= Member::kSites ? line : 0;
            EXPECT_EQ(group->site({"a/b.cpp", line}), expected);
        }
        const Member& self = group->members().self();
        EXPECT_EQ(group->site({"a/b.cpp", 7}), 7u);
        EXPECT_EQ(site_text(self, 7), ", at b.cpp:7");
        EXPECT_EQ(site_text(self, 0), "");
    });
}

// ---- asking

TEST(Inquiry, IsAnsweredFromTheMiddleOfACall) {
    std::latch have_met(2);
    shm::run_threads(2, [&](std::shared_ptr<World> world, int rank) {
        const std::unique_ptr<Group> group = bootstrap(world, rank);
        group->run(call::barrier(), {});
        have_met.arrive_and_wait();
        if (rank == 1) {
            const std::uint32_t inquiry = ask(*world);
            while (!answer_of(*world, 0, inquiry)) std::this_thread::yield();
            EXPECT_EQ(answer_of(*world, 0, inquiry),
                      "in barrier, at there.cpp:8 (call 1)\n"
                      "    instruction 1  wait signal[1] >= 1\n    sees 0, waits for rank 1");
        }
        group->run(call::barrier(), {"here/there.cpp", 8});
    });
}

TEST(Inquiry, IsAnsweredFromAPartOfTheWorld) {
    std::latch have_split(3), has_looked(2);
    shm::run_threads(3, [&](std::shared_ptr<World> world, int rank) {
        const std::unique_ptr<Group> group = bootstrap(world, rank);
        const std::unique_ptr<Group> part = split(*group, rank == 0 ? 0 : 1, 0, {});
        have_split.arrive_and_wait();
        if (rank == 0) {
            const std::uint32_t inquiry = ask(*world);
            while (!answer_of(*world, 1, inquiry)) std::this_thread::yield();
            EXPECT_EQ(answer_of(*world, 1, inquiry),
                      "in barrier (call 0), among ranks 1, 2 of the world\n"
                      "    instruction 1  wait signal[1] >= 1\n"
                      "    sees 0, waits for rank 2 of the world");
        }
        if (rank != 1) has_looked.arrive_and_wait();
        if (rank != 0) part->run(call::barrier(), {});
    });
}

TEST(Inquiry, IsAnsweredWhileConnecting) {
    const std::shared_ptr<World> world = World::create(2);
    std::thread second([&] {
        world->enter(1);
        bootstrap(world, 1);
    });
    const std::uint32_t inquiry = ask(*world);
    while (!answer_of(*world, 1, inquiry)) std::this_thread::yield();
    EXPECT_EQ(answer_of(*world, 1, inquiry), "connecting, waits for rank 0");
    world->enter(0);
    bootstrap(world, 0);
    second.join();
}

// ---- several threads

constexpr const char* kInUse =
    "the communicator is in use by another thread; a communicator belongs to one thread at a time: "
    "give each thread its own, made by split()";

// Rank 0 is in the middle of a call when another thread of its comes, and goes on.
TEST(Threads, ACallThatFindsAnotherUnderWayIsRefused) {
    std::latch was_refused(1);
    shm::run_threads(2, [&](std::shared_ptr<World> world, int rank) {
        Desk desk(bootstrap(world, rank));
        const auto call = [&] {
            const Use use(desk.under_way());
            desk.group().run(call::barrier(), {});
        };
        if (rank == 1) {
            was_refused.wait();
            call();
            return;
        }
        std::string message;
        std::thread intruder([&] {
            const std::uint32_t inquiry = ask(*world);
            while (!answer_of(*world, 0, inquiry)) std::this_thread::yield();
            message = told_by(call);
            was_refused.count_down();
        });
        call();
        intruder.join();
        EXPECT_EQ(message, kInUse);
    });
}

// What asks and sets looks as well: it changes what calls use. Only the watch of a call, which is
// on its thread, may set the timeout meanwhile.
TEST(Threads, WhatAsksAndSetsDuringACallIsRefused) {
    std::vector<std::string> messages;
    std::latch was_refused(1);
    Communicator::threads(2, [&](Communicator& comm) {
        if (comm.rank() == 1) {
            was_refused.wait();
            comm.barrier();
            return;
        }
        const std::vector<Plan> plans = compile(mesh(), "mesh_allreduce", sizes(4), 2);
        const auto set_timeout = [&] { comm.set_timeout(std::chrono::hours(1)); };
        comm.set_watch([&] {
            if (!messages.empty()) return;
            messages = {
                told_by([&] { comm.recipe(call::barrier()); }),
                told_by([&] { comm.set_watch([] {}); }),
                told_by([&] { comm.kernel(mesh(), "mesh_allreduce", sizes(4)); }),
                told_by([&] { comm.kernel(plans); }),
                told_by(set_timeout),
            };
            std::thread([&] { messages.push_back(told_by(set_timeout)); }).join();
            was_refused.count_down();
        });
        comm.barrier();
    });
    EXPECT_THAT(messages, testing::ElementsAre(kInUse, kInUse, kInUse, kInUse, "", kInUse));
}

// Two calls looked before either was there. The first that ends notices, and the next call tells.
TEST(Threads, CallsThatBeginAtOnceBreakTheCommunicator) {
    UnderWay under_way;
    std::optional<Use> one, other;
    {
        const Use::Look both[] = {Use::Look(under_way), Use::Look(under_way)};
        one.emplace(both[0]);
        other.emplace(both[1]);
    }
    const auto call = [&] { const Use use(under_way); };
    EXPECT_EQ(told_by(call), kInUse);
    const auto broken =
        "the communicator is broken: several threads have called it at once; a "
        "communicator belongs to one thread at a time: give each thread its own, "
        "made by split()";
    one.reset();
    EXPECT_EQ(told_by(call), broken);
    other.reset();
    EXPECT_EQ(told_by(call), broken);
}

// One after the other, from any thread, is as it should be.
TEST(Threads, MayTakeTurns) {
    Communicator::threads(2, [](Communicator& comm) {
        comm.barrier();
        std::thread other([&] { comm.barrier(); });
        other.join();
        comm.barrier();
    });
}

// ---- what the environment says

TEST(Settings, Timeouts) {
    using std::chrono::milliseconds;
    EXPECT_EQ(shm::timeout_from("0"), milliseconds(0));
    EXPECT_EQ(shm::timeout_from("500ms"), milliseconds(500));
    EXPECT_EQ(shm::timeout_from("30s"), milliseconds(30000));
    EXPECT_EQ(shm::timeout_from("5m"), milliseconds(300000));
    EXPECT_EQ(shm::timeout_from("1000000000m"), milliseconds(60'000'000'000'000));
    for (const char* bad : {"", "s", "30", "-1s", "1.5s", "30 s", "1h", "1000000001s", "30sx"}) {
        EXPECT_EQ(shm::timeout_from(bad), std::nullopt) << bad;
    }
}

// A variable for as long as it exists.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
};

TEST(Settings, BadVariablesAreRefused) {
    const auto connect = [] { Communicator::threads(1, [](Communicator&) {}); };
    {
        const Variable timeout(shm::kTimeoutVariable, "soon");
        EXPECT_EQ(told_by(connect),
                  "PEAL_TIMEOUT='soon': expected a time such as 500ms, 30s or 5m");
    }
    const Variable log(kLogVariable, "all");
    EXPECT_EQ(told_by(connect), "PEAL_LOG='all': expected calls");
}

// What rank 0 writes to standard error in `body`, without lines of tests, times and digests.
std::string logged(const std::function<void(Communicator&)>& body) {
    const Variable log(kLogVariable, "calls");
    testing::internal::CaptureStderr();
    Communicator::threads(2, body);
    std::string text = test::without_sites(testing::internal::GetCapturedStderr());
    text = peal::test::replaced(text, "[0-9.]+ us", "in time");
    text = peal::test::replaced(text, "program [0-9a-f]+", "program 0");
    std::string own;
    for (const auto& line : peal::test::matches(text, "peal: rank 0: ([^\n]*\n)")) own += line[1];
    return own;
}

TEST(Settings, CallsHaveALineEach) {
    EXPECT_EQ(
        logged([](Communicator& comm) {
            const Window<float> data = comm.window<float>(100);
            const WindowMemory signals = comm.signals(2);
            std::vector<float> mine(100, 1), sum(100);
            comm.allreduce(mine, sum);
            comm.allreduce(data);
            comm.barrier();
            comm.broadcast(mine, 1);
            const std::vector<std::int64_t> counts = {30, 70};
            comm.allgather_v(std::span(mine).first(comm.rank() == 0 ? 30 : 70), sum, counts);
            const Kernel kernel = comm.kernel(mesh(), "mesh_allreduce", sizes(100));
            comm.run(kernel, mine, sum, data, signals);
            comm.prepare(kernel, mine, sum, data, signals).run();
            if (comm.rank() == 0) {
                comm.send(mine, 1);
            } else {
                comm.recv(mine, 0);
            }
            Communicator part = comm.split(0);
            part.barrier();
        }),
        "call 0: window of 400 bytes: all meet, in time\n"
        "call 2: window of 128 bytes: all meet, in time\n"
        "call 4: allreduce of 100 f32, sum: push, 400 bytes, in time\n"
        "call 5: allreduce of 100 f32, sum, in window 1: push, 400 bytes, in time\n"
        "call 6: barrier: mesh, 0 bytes, in time\n"
        "call 7: broadcast of 100 f32, root 1: push, 400 bytes, in time\n"
        "call 8: allgather_v of f32, counts 30 70: push, 400 bytes, in time\n"
        "call 9: kernel mesh_allreduce of program 0, n=100, in windows 1, 2: all meet, in time\n"
        "call 9: kernel mesh_allreduce: 6 instructions, 1200 bytes read, 800 written, in time\n"
        "call 10: kernel mesh_allreduce of program 0, n=100, in windows 1, 2: all meet, in time\n"
        "call 11: kernel mesh_allreduce: 6 instructions, 1200 bytes read, 800 written, in time\n"
        "send of 100 f32 to rank 1: push, 400 bytes, in time\n"
        "call 12: split: all meet, in time\n"
        "call 13: allgather of 2 i64: push, 16 bytes, in time\n"
        "call 14: allgather of 1 i64: push, 8 bytes, in time\n"
        "call 0: barrier: mesh, 0 bytes, in time\n");
}

// The variable is set when nobody connects any more, and read when a part is made.
TEST(Settings, TheTimeoutIsThatOfEveryNewCommunicator) {
    std::string message;
    std::optional<Variable> timeout;
    std::latch have_met(2), is_set(2), has_given_up(2);
    Communicator::threads(2, [&](Communicator& comm) {
        have_met.arrive_and_wait();
        if (comm.rank() == 0) timeout.emplace(shm::kTimeoutVariable, "1ms");
        is_set.arrive_and_wait();
        Communicator part = comm.split(0);
        if (comm.rank() == 0) message = told_by([&] { part.barrier(); });
        has_given_up.arrive_and_wait();
    });
    EXPECT_EQ(message,
              "timeout: rank 0 waited too long:\n  rank 0: in barrier (call 0)\n"
              "    instruction 1  wait signal[1] >= 1\n    sees 0, waits for rank 1\n"
              "  rank 1: has not called yet");
}

TEST(Settings, TheTimeoutCountsWhileConnecting) {
    const Variable timeout(shm::kTimeoutVariable, "1ms");
    const std::shared_ptr<World> world = World::create(2);
    world->enter(1);
    EXPECT_EQ(told_by([&] { bootstrap(world, 1); }),
              "timeout: rank 1 waited too long for rank 0 to connect");
}

}  // namespace story_test
}  // namespace peal::comm
