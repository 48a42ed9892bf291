// SPDX-License-Identifier: Apache-2.0
// Devices that are killed: at any moment, by any signal.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "worker/kit.hpp"

namespace peal::worker::test {
namespace death_test {

class Deaths : public ::testing::Test {
protected:
    void SetUp() override {
        if (!can_fork()) GTEST_SKIP() << "needs processes";
    }

    static void await_failure(const Worker& worker) {
        while (worker.state() == WorkerState::ready) std::this_thread::yield();
    }
    static Domain pair(Worker& worker) {
        return worker.allocate_domain(
            {.name = "pair", .windows = {{.name = "sig", .element = Element::i32, .cells = 4}}});
    }
};

TEST_F(Deaths, NameRankTaskAndInstruction) {
    for (const int signal : {SIGKILL, SIGTERM, SIGSEGV, SIGABRT}) {
        Worker worker({.ranks = 2});
        const Domain domain = pair(worker);
        const Task held = worker.submit(wait_kernel(), 1, {domain["sig"]});
        std::vector<std::int32_t> a(4), b(4);
        const Task behind = worker.submit(add_kernel(), 1, {Tensor(a), Tensor(b), 1});
        while (held.state() != TaskState::running) std::this_thread::yield();
        ASSERT_EQ(kill(worker.process_of(1), signal), 0);
        await_failure(worker);
        const std::string story = fmt::format(
            "rank 1 was killed by signal {} ({}) in task 1 'hold', instruction 0  wait sig[1] >= 1 "
            "  (test.peal:3: \"wait sig[rank] >= generation(sig) + 1\")",
            signal, strsignal(signal));
        EXPECT_EQ(message_of(Fault::wrong, [&] { held.wait(); }), "task 1 'hold': " + story);
        EXPECT_EQ(message_of(Fault::wrong, [&] { behind.wait(); }), "task 2 'add': " + story);
        EXPECT_EQ(worker.state(), WorkerState::failed);
        EXPECT_EQ(message_of(Fault::wrong, [&] { worker.submit_host([] {}); }),
                  "the worker has failed and must be restarted: " + story);
        const std::vector<TaskTiming> timings = worker.timings();
        ASSERT_EQ(timings.size(), 2U);
        ASSERT_EQ(timings[0].parts.size(), 1U) << "the trace shows where it was lost";
        EXPECT_EQ(timings[0].parts[0].rank, 1);
        EXPECT_EQ(timings[0].started(), timings[0].dispatched);
        EXPECT_EQ(timings[1].not_run, "task 1 failed");
        EXPECT_EQ(timings[1].started(), 0);
    }
}

TEST_F(Deaths, OfAnIdleDeviceFailTheWorker) {
    Worker worker({.ranks = 2});
    ASSERT_EQ(kill(worker.process_of(0), SIGKILL), 0);
    await_failure(worker);
    EXPECT_EQ(message_of(Fault::wrong, [&] { worker.submit_host([] {}); }),
              "the worker has failed and must be restarted: rank 0 was killed by signal 9 "
              "(Killed)");
    worker.restart();
    EXPECT_EQ(worker.state(), WorkerState::ready);
}

// What does not need the dead one ends; what has not begun does not.
TEST_F(Deaths, LeaveOthersTheirTasks) {
    Worker worker({.ranks = 3});
    const Domain domain = worker.allocate_domain(
        {.name = "all", .windows = {{.name = "sig", .element = Element::i32, .cells = 4}}});
    const Domain others =
        worker.allocate_domain({.name = "others",
                                .ranks = {1, 2},
                                .windows = {{.name = "sig", .element = Element::i32, .cells = 4}}});
    const DeviceKernel meet = kernel(R"(
kernel meet(sig: window i32[nranks]) {
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    advance sig by 1
}
)");
    const Task independent = worker.submit(meet, 1, {others["sig"]});
    const Task doomed = worker.submit(meet, 0, {domain["sig"]});
    const Task unstarted = worker.submit_host([] {}, {}, {.after = {doomed}});
    kill(worker.process_of(0), SIGKILL);
    await_failure(worker);
    EXPECT_THROW(doomed.wait(), Error);
    EXPECT_THAT(message_of(Fault::wrong, [&] { unstarted.wait(); }),
                ::testing::StartsWith("task 3 'host' was not run: rank 0 was killed"));
    EXPECT_EQ(independent.state(), TaskState::running);
    // Its partner can no longer be submitted: now it is a deadlock.
    EXPECT_THAT(message_of(Fault::wrong, [&] { independent.wait(); }),
                ::testing::StartsWith("deadlock: no device can go on"));
}

// Whoever is told may free what the earlier task still writes.
TEST_F(Deaths, FailATaskOnlyWhenThoseItFollowsAreOver) {
    Worker worker({.ranks = 2});
    std::vector<std::int32_t> a(4), b(4), c(4);
    std::atomic<bool> open = false;
    const Task first = worker.submit_host(
        [&] {
            open.wait(false);
            a = numbers(4, 7);
        },
        {out(Tensor(a))});
    const Task second = worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1});
    const Task third = worker.submit(add_kernel(), 0, {Tensor(b), Tensor(c), 1});
    while (first.state() != TaskState::running) std::this_thread::yield();
    ASSERT_EQ(kill(worker.process_of(1), SIGKILL), 0);
    await_failure(worker);
    EXPECT_EQ(second.state(), TaskState::waiting);
    EXPECT_EQ(third.state(), TaskState::waiting);
    open = true;
    open.notify_all();
    EXPECT_EQ(message_of(Fault::wrong, [&] { third.wait(); }),
              "task 3 'add' was not run: rank 1 was killed by signal 9 (Killed)");
    EXPECT_EQ(first.state(), TaskState::done);
    EXPECT_EQ(a, numbers(4, 7));
    EXPECT_EQ(message_of(Fault::wrong, [&] { second.wait(); }),
              "task 2 'add' was not run: rank 1 was killed by signal 9 (Killed)");
}

// The same behind a task of a device. Here that task can never end, which is a deadlock.
TEST_F(Deaths, FailATaskOnlyWhenADeviceHasEndedThoseItFollows) {
    Worker worker({.ranks = 2});
    const Domain domain = pair(worker);
    std::vector<std::int32_t> a(4), b(4);
    const Task first = worker.submit(wait_kernel(), 0, {domain["sig"]});
    const Task second =
        worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1}, {.after = {first}});
    while (first.state() != TaskState::running) std::this_thread::yield();
    ASSERT_EQ(kill(worker.process_of(1), SIGKILL), 0);
    await_failure(worker);
    EXPECT_EQ(message_of(Fault::wrong, [&] { second.wait(); }),
              "task 2 'add' was not run: rank 1 was killed by signal 9 (Killed)");
    EXPECT_EQ(first.state(), TaskState::failed);
}

// Many deaths, at many points of a run; afterwards the worker works again.
TEST_F(Deaths, AtManyPointsFailTheRunAndNothingElse) {
    constexpr int kRanks = 3;
    Worker worker({.ranks = kRanks});
    const DeviceKernel sum = allreduce(Element::i32, 1024);
    const Domain domain = worker.allocate_domain({.name = "all", .windows = sum.windows(kRanks)});
    std::vector<std::int32_t> ones(1024, 1);
    for (int round = 0; round < 24; ++round) {
        const int victim = round % kRanks;
        std::vector<std::vector<std::int32_t>> results(kRanks * 30,
                                                       std::vector<std::int32_t>(1024));
        std::vector<Task> tasks;
        for (std::size_t i = 0; i < 30; ++i) {
            try {
                tasks.push_back(worker.submit_group(
                    sum, domain, per_rank(kRanks, [&](int r) {
                        return Arguments{Tensor(std::as_const(ones)),
                                         Tensor(results[i * kRanks + static_cast<std::size_t>(r)]),
                                         domain["data"], domain["signal"]};
                    })));
            } catch (const Error& error) {
                EXPECT_THAT(error.what(), ::testing::HasSubstr("was killed by signal 9"));
            }
            if (i == static_cast<std::size_t>(round)) kill(worker.process_of(victim), SIGKILL);
        }
        std::size_t done = 0;
        for (const Task& task : tasks) {
            try {
                task.wait();
                for (std::size_t r = 0; r < kRanks; ++r) {
                    EXPECT_EQ(results[done * kRanks + r], std::vector<std::int32_t>(1024, kRanks));
                }
                ++done;
            } catch (const Error& error) {
                EXPECT_THAT(error.what(), ::testing::HasSubstr(fmt::format(
                                              "rank {} was killed by signal 9", victim)));
            }
        }
        await_failure(worker);
        worker.restart();
        std::vector<std::vector<std::int32_t>> after(kRanks, std::vector<std::int32_t>(1024));
        worker
            .submit_group(sum, domain,
                          per_rank(kRanks,
                                   [&](int r) {
                                       return Arguments{Tensor(std::as_const(ones)),
                                                        Tensor(after[static_cast<std::size_t>(r)]),
                                                        domain["data"], domain["signal"]};
                                   }))
            .wait();
        EXPECT_EQ(after[2], std::vector<std::int32_t>(1024, kRanks));
    }
}

TEST_F(Deaths, OfTheHostTakeTheDevicesAlong) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t host = fork();
    if (host == 0) {
        auto* worker = new Worker({.ranks = 2});
        for (const int rank : {0, 1}) {
            const int pid = worker->process_of(rank);
            if (write(ends[1], &pid, sizeof pid) != sizeof pid) _exit(1);
        }
        _exit(0);  // without a destructor
    }
    close(ends[1]);
    int pids[2] = {};
    for (int& pid : pids) ASSERT_EQ(read(ends[0], &pid, sizeof pid), ssize_t{sizeof pid});
    // The devices hold no descriptor of the host's, so this ends with the host.
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    waitpid(host, nullptr, 0);
    for (const int pid : pids) {
        // Gone, or gone and not yet collected by whoever inherits orphans.
        while (kill(pid, 0) == 0) {
            std::ifstream status(fmt::format("/proc/{}/stat", pid));
            std::string text((std::istreambuf_iterator<char>(status)), {});
            if (text.empty() || text.find(") Z ") != std::string::npos) break;
            std::this_thread::yield();
        }
    }
}

}  // namespace death_test
}  // namespace peal::worker::test
