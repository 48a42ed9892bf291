// SPDX-License-Identifier: Apache-2.0
// How workers come and go, and that nothing is left of them.
#include <atomic>
#include <future>
#include <initializer_list>
#include <optional>
#include <thread>

#include "support/no_threads.hpp"
#include "worker/kit.hpp"

namespace peal::worker::test {
namespace life_test {

class Life : public OnEngines {};
INSTANTIATE_TEST_SUITE_P(Worker, Life, ::testing::ValuesIn(engines()), engine_name);

TEST_P(Life, HasStates) {
    Worker worker({.devices = {5, 6}, .platform = "a2a3sim", .engine = GetParam()});
    EXPECT_EQ(worker.state(), WorkerState::ready);
    EXPECT_EQ(worker.ranks(), 2);
    EXPECT_EQ(worker.devices(), (std::vector<int>{5, 6}));
    EXPECT_EQ(worker.process_of(1) > 0, GetParam() == DeviceEngine::processes);
    worker.close();
    EXPECT_EQ(worker.state(), WorkerState::closed);
    worker.close();
    EXPECT_EQ(name(worker.state()), "closed");
    EXPECT_EQ(name(WorkerState::fresh), "new");
    const auto said = [&](const std::function<void()>& act) {
        return message_of(Fault::usage, act);
    };
    EXPECT_EQ(said([&] { worker.submit_host([] {}); }), "the worker is closed");
    EXPECT_EQ(said([&] { worker.alloc<float>(0, {4}); }), "the worker is closed");
    EXPECT_EQ(said([&] { worker.allocate_domain({.name = "d"}); }), "the worker is closed");
    EXPECT_EQ(said([&] { worker.restart(); }), "the worker is closed");
    worker.wait();
}

TEST_P(Life, LeavesNothingBehind) {
    const Leftovers before = leftovers();
    Task kept;
    {
        std::optional<Tensor> tensor;
        for (int round = 0; round < 3; ++round) {
            Worker worker = worker_of(3);
            const DeviceKernel sum = allreduce(Element::f32, 64);
            const Domain domain = worker.allocate_domain({.name = "d", .windows = sum.windows(3)});
            std::vector<float> a(64), b(64), c(64), d(64);
            kept = worker.submit_group(
                sum, domain,
                {{Tensor(std::as_const(a)), Tensor(b), domain["data"], domain["signal"]},
                 {Tensor(std::as_const(a)), Tensor(c), domain["data"], domain["signal"]},
                 {Tensor(std::as_const(a)), Tensor(d), domain["data"], domain["signal"]}});
            worker.submit_host([] {}).wait();
            if (round == 1) worker.restart();
            tensor = worker.alloc<float>(0, {16});
            worker.close();
            EXPECT_EQ(leftovers().descriptors - before.descriptors, 1);  // the tensor's memory
        }
        tensor->span<float>()[3] = 1;  // still there
    }
    EXPECT_EQ(leftovers(), before);
}

TEST_P(Life, SaysWhenThereAreNoMoreThreads) {
    const Leftovers before = leftovers();
    const auto refusal = [](const std::string& what) {
        return "cannot start " + what +
               ": Resource temporarily unavailable; end other programs or raise `ulimit -u`";
    };
    {
        const peal::test::NoThreads none;
        EXPECT_EQ(message_of(Fault::resource, [&] { worker_of(2); }),
                  refusal("the thread that keeps the devices"));
    }
    EXPECT_EQ(leftovers(), before);
    Worker worker = worker_of(1);
    {
        const peal::test::NoThreads none;
        const Task refused = worker.submit_host([] {});
        EXPECT_EQ(message_of(Fault::resource, [&] { refused.wait(); }),
                  "task 1 'host': " + refusal("the thread of host tasks"));
    }
    worker.submit_host([] {}).wait();
}

TEST_P(Life, CloseWaitsForAllTasks) {
    std::vector<std::int32_t> a = numbers(4, 0);
    std::vector<std::vector<std::int32_t>> b(200, std::vector<std::int32_t>(4));
    Worker worker = worker_of(2);
    for (int i = 0; i < 200; ++i) {
        worker.submit(add_kernel(), i % 2, {Tensor(a), Tensor(b[static_cast<std::size_t>(i)]), i});
    }
    worker.close();
    for (int i = 0; i < 200; ++i) EXPECT_EQ(b[static_cast<std::size_t>(i)], numbers(4, i));
}

// What has not begun by the deadline of close() does not begin any more.
void await_running(std::initializer_list<Task> tasks) {
    for (const Task& task : tasks) {
        while (task.state() != TaskState::running) std::this_thread::yield();
    }
}

TEST_P(Life, CloseGivesUpAtItsDeadline) {
    std::atomic<bool> open = false;
    Worker worker(
        {.ranks = 1, .engine = GetParam(), .close_deadline = std::chrono::milliseconds(20)});
    std::vector<std::int32_t> a(4), b(4);
    const Task host = worker.submit_host([&] { open.wait(false); }, {out(Tensor(a))});
    const Task next = worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1});
    const Domain domain = worker.allocate_domain(
        {.name = "d", .windows = {{.name = "sig", .element = Element::i32, .cells = 1}}});
    const Task held = worker.submit(wait_kernel(), 0, {domain["sig"]});
    await_running({host, held});
    const std::string left =
        "task 1 'host' is a host task that has not returned within 20 ms; the worker is closed "
        "without it, and its thread goes on";
    EXPECT_EQ(message_of(Fault::wrong, [&] { worker.close(); }), left);
    EXPECT_EQ(worker.state(), WorkerState::closed);
    EXPECT_EQ(message_of(Fault::wrong, [&] { worker.close(); }), left);
    EXPECT_EQ(message_of(Fault::wrong, [&] { held.wait(); }),
              "task 3 'hold' was ended: the worker was closed");
    EXPECT_EQ(host.state(), TaskState::running);  // it cannot be ended
    EXPECT_EQ(next.state(), TaskState::waiting);  // and uses what `next` reads
    open = true;
    open.notify_all();
    host.wait();
    EXPECT_EQ(message_of(Fault::wrong, [&] { next.wait(); }),
              "task 2 'add' was not run: the worker was closed");
    worker.close();
}

// Its thread has the scheduler and the memory of tensors until it returns.
TEST_P(Life, AHostTaskMayOutliveItsWorker) {
    std::promise<void> opens;
    std::promise<std::int32_t> seen;
    Task host;
    {
        Worker worker(
            {.ranks = 1, .engine = GetParam(), .close_deadline = std::chrono::milliseconds(20)});
        const Tensor tensor = worker.alloc<std::int32_t>(0, {4});
        host = worker.submit_host(
            [&, tensor] {
                opens.get_future().wait();
                seen.set_value(tensor.span<std::int32_t>()[0]);
            },
            {inout(tensor)});
        await_running({host});
        testing::internal::CaptureStderr();
    }
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "peal: task 1 'host' is a host task that has not returned within 20 ms; the worker "
              "is closed without it, and its thread goes on\n");
    EXPECT_EQ(host.state(), TaskState::running);
    opens.set_value();
    host.wait();
    EXPECT_EQ(seen.get_future().get(), 0);
}

TEST(EmptyTask, IsOverAndHasNoNumber) {
    const Task task;
    EXPECT_EQ(task.id(), 0U);
    EXPECT_EQ(task.name(), "");
    EXPECT_TRUE(task.is_over());
    EXPECT_EQ(task.state(), TaskState::done);
    task.wait();
}

TEST_P(Life, CloseFromAHostTask) {
    std::vector<std::int32_t> a = numbers(4, 0), b(4);
    Worker worker = worker_of(1);
    Task after;
    const Task task = worker.submit_host([&] {
        worker.close();
        worker.close();
        EXPECT_NE(worker.state(), WorkerState::closed);
        after = worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1});
    });
    task.wait();
    worker.close();
    EXPECT_EQ(worker.state(), WorkerState::closed);
    after.wait();
    EXPECT_EQ(b, numbers(4, 1));
}

TEST_P(Life, CloseFromManyThreadsDuringARun) {
    std::vector<std::int32_t> a(4);
    std::vector<std::vector<std::int32_t>> b(64, std::vector<std::int32_t>(4));
    Worker worker = worker_of(2);
    for (std::size_t i = 0; i < b.size(); ++i) {
        worker.submit(add_kernel(), static_cast<int>(i % 2), {Tensor(a), Tensor(b[i]), 1});
    }
    std::vector<std::thread> closers;
    for (int i = 0; i < 4; ++i) closers.emplace_back([&] { worker.close(); });
    for (std::thread& closer : closers) closer.join();
    EXPECT_EQ(worker.state(), WorkerState::closed);
}

TEST_P(Life, RestartFailsWhatIsNotOver) {
    Worker worker = worker_of(2);
    const Domain domain = worker.allocate_domain(
        {.name = "d", .windows = {{.name = "sig", .element = Element::i32, .cells = 2}}});
    const Task held = worker.submit(wait_kernel(), 0, {domain["sig"]});
    const Task next = worker.submit(wait_kernel(), 0, {domain["sig"]});
    worker.restart();
    EXPECT_EQ(message_of(Fault::wrong, [&] { held.wait(); }),
              "task 1 'hold' was ended: the worker was restarted");
    EXPECT_EQ(message_of(Fault::wrong, [&] { next.wait(); }),
              "task 2 'hold' was not run: the worker was restarted");
    worker.submit(ring_kernel(), 1, {domain["sig"]});
    worker.submit(wait_kernel(), 0, {domain["sig"]}).wait();
}

TEST_P(Life, MovesWithItsTasks) {
    std::vector<std::int32_t> a = numbers(4, 0), b(4);
    Worker first = worker_of(1);
    const Task task = first.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1});
    Worker second = std::move(first);
    task.wait();
    second.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 2}).wait();
    EXPECT_EQ(b, numbers(4, 2));
}

// The thread that makes a worker may end before the worker does; others allocate and submit.
TEST_P(Life, InAProgramWithThreads) {
    std::atomic<bool> stop = false;
    std::vector<std::thread> noise;
    for (int i = 0; i < 2; ++i) {
        noise.emplace_back([&] {
            while (!stop) {
                if (allocator_survives_fork()) std::vector<std::string>(50, std::string(100, 'x'));
            }
        });
    }
    std::optional<Worker> worker;
    std::thread([&] { worker.emplace(WorkerOptions{.ranks = 2, .engine = GetParam()}); }).join();
    std::vector<std::thread> users;
    std::vector<std::vector<std::int32_t>> results(4, numbers(16, 0));
    for (std::size_t u = 0; u < results.size(); ++u) {
        users.emplace_back([&, u] {
            std::vector<std::int32_t> other(16);
            for (int i = 0; i < 50; ++i) {
                worker->submit(add_kernel(), static_cast<int>(u % 2),
                               {Tensor(results[u]), Tensor(other), 1});
                worker->submit(add_kernel(), static_cast<int>(u % 2),
                               {Tensor(other), Tensor(results[u]), 1});
            }
            worker->submit_host([] {}, {inout(Tensor(results[u])), inout(Tensor(other))}).wait();
        });
    }
    for (std::thread& user : users) user.join();
    worker->restart();
    worker.reset();
    stop = true;
    for (std::thread& thread : noise) thread.join();
    for (const auto& result : results) EXPECT_EQ(result, numbers(16, 100));
}

}  // namespace life_test
}  // namespace peal::worker::test
