// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <stdexcept>
#include <thread>

#include "worker/kit.hpp"

namespace peal::worker::test {
namespace failures_test {

class Failures : public OnEngines {};
INSTANTIATE_TEST_SUITE_P(Worker, Failures, ::testing::ValuesIn(engines()), engine_name);

struct Oops : std::runtime_error {
    Oops() : std::runtime_error("oops") {}
};

TEST_P(Failures, WhatAHostTaskThrowsIsThrownByWait) {
    Worker worker = worker_of(1);
    const Task task = worker.submit_host([] { throw Oops(); });
    EXPECT_THROW(task.wait(), Oops);
    EXPECT_THROW(task.wait(), Oops);
    EXPECT_EQ(task.state(), TaskState::failed);
    EXPECT_EQ(worker.state(), WorkerState::ready);
    worker.wait();  // it was told
    EXPECT_THROW(worker.submit_host([] { throw 7; }).wait(), int);
}

TEST_P(Failures, SpreadToWhatWouldReadTheResultAndNoFurther) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a(4), b(4), c(4), d(4), e = numbers(4, 0), f(4);
    const Task bad = worker.submit_host([] { throw Oops(); }, {out(Tensor(a))}, {.name = "bad"});
    const Task reader =
        worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1}, {.name = "reader"});
    const Task next = worker.submit(add_kernel(), 0, {Tensor(b), Tensor(c), 1}, {.name = "next"});
    const Task told =
        worker.submit(add_kernel(), 0, {Tensor(e), Tensor(d), 1}, {.name = "told", .after = {bad}});
    const Task writer =
        worker.submit(add_kernel(), 0, {Tensor(e), Tensor(a), 5}, {.name = "writer"});
    const Task other = worker.submit(add_kernel(), 0, {Tensor(e), Tensor(f), 1}, {.name = "other"});
    other.wait();
    writer.wait();
    EXPECT_EQ(f, numbers(4, 1));
    EXPECT_EQ(a, numbers(4, 5));
    EXPECT_EQ(message_of(Fault::wrong, [&] { next.wait(); }),
              "task 3 'next' was not run, because task 1 'bad' failed: oops");
    EXPECT_EQ(message_of(Fault::wrong, [&] { reader.wait(); }),
              "task 2 'reader' was not run, because task 1 'bad' failed: oops");
    EXPECT_EQ(message_of(Fault::wrong, [&] { told.wait(); }),
              "task 4 'told' was not run, because task 1 'bad' failed: oops");
}

TEST_P(Failures, SpreadToLaterTasksUntilTheyAreTold) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a = numbers(4, 0), b(4);
    const Task bad = worker.submit_host([] { throw Oops(); }, {out(Tensor(a))}, {.name = "bad"});
    while (!bad.is_over()) std::this_thread::yield();
    const Task later = worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1});
    EXPECT_THROW(worker.wait(), Oops);
    EXPECT_EQ(later.state(), TaskState::failed);
    worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1}).wait();
    EXPECT_EQ(b, numbers(4, 1));
}

// A task between two others, doomed while the first still runs, keeps them in order.
TEST_P(Failures, DoNotLetOthersOvertake) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a(4), b(4), c = numbers(4, 0);
    std::atomic<bool> open = false;
    const Task bad = worker.submit_host([] { throw Oops(); }, {out(Tensor(b))});
    const Task slow = worker.submit_host(
        [&] {
            open.wait(false);
            a.assign(4, 1);
        },
        {out(Tensor(a))});
    const Task doomed = worker.submit_host([] {}, {in(Tensor(b)), inout(Tensor(a))});
    const Task last = worker.submit(add_kernel(), 0, {Tensor(c), Tensor(a), 10});
    while (!bad.is_over()) std::this_thread::yield();
    EXPECT_FALSE(doomed.is_over());
    EXPECT_FALSE(last.is_over());
    open = true;
    open.notify_all();
    last.wait();
    EXPECT_EQ(a, numbers(4, 10));
    EXPECT_EQ(doomed.state(), TaskState::failed);
}

TEST_P(Failures, AnErrorOnADeviceNamesTaskRankAndInstruction) {
    Worker worker = worker_of(2);
    const DeviceKernel loud = kernel(
        "kernel loud(sig: window i32[nranks]) {\n"
        "    for i in 0..2 { notify sig[rank]@(1 - rank) += 2000000000 * (1 - rank) }\n"
        "    if rank == 1 { wait sig[rank] >= 1 }\n"
        "}");
    const Domain domain = worker.allocate_domain(
        {.name = "pair", .windows = {{.name = "sig", .element = Element::i32, .cells = 2}}});
    const Task task = worker.submit_group(loud, domain, {{domain["sig"]}, {domain["sig"]}});
    EXPECT_EQ(message_of(Fault::wrong, [&] { task.wait(); }),
              "task 1 'loud', rank 0: signal overflow: rank 0  instruction 1  notify sig[0]@1 += "
              "2000000000\n  2000000000 + 2000000000 does not fit in i32");
    EXPECT_EQ(worker.state(), WorkerState::ready);
    const Task again = worker.submit(wait_kernel(), 0, {domain["sig"]});
    EXPECT_THAT(message_of(Fault::wrong, [&] { again.wait(); }),
                ::testing::StartsWith("task 2 'hold': the windows of domain 'pair' are in an "
                                      "undefined state since a task failed in the middle: task 1"));
    const Domain fresh = worker.allocate_domain(
        {.name = "fresh", .windows = {{.name = "sig", .element = Element::i32, .cells = 2}}});
    worker.submit(ring_kernel(), 0, {fresh["sig"]});
    worker.submit(wait_kernel(), 1, {fresh["sig"]}).wait();
}

TEST_P(Failures, HostTasksCannotWaitForThemselves) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a(4), b(4);
    const Task task = worker.submit_host([&] {
        const Task next = worker.submit_host([] {}, {out(Tensor(a))});
        const Task after = worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1});
        EXPECT_EQ(message_of(Fault::usage, [&] { after.wait(); }),
                  "a host task cannot wait for task 3 'add', which comes after a host task or is "
                  "one: they share one thread");
        EXPECT_EQ(message_of(Fault::usage, [&] { worker.wait(); }),
                  "a host task cannot wait for all tasks: it is one of them");
        EXPECT_EQ(message_of(Fault::usage, [&] { worker.restart(); }),
                  "a host task cannot restart the worker");
    });
    worker.wait();
}

TEST_P(Failures, HostTasksMaySubmitAndWaitForDevices) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a = numbers(4, 0), b(4);
    worker.submit_host([&] {
              worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 3}).wait();
          })
        .wait();
    EXPECT_EQ(b, numbers(4, 3));
}

}  // namespace failures_test
}  // namespace peal::worker::test
