// SPDX-License-Identifier: Apache-2.0
// What comes after what, shown with tasks that are held up until the test lets them go.
#include <atomic>

#include "worker/kit.hpp"

namespace peal::worker::test {
namespace order_test {

class Order : public OnEngines {};
INSTANTIATE_TEST_SUITE_P(Worker, Order, ::testing::ValuesIn(engines()), engine_name);

// A host task that runs until it is let go.
struct Gate {
    std::atomic<bool> open = false;
    std::function<void()> function() {
        return [this] { open.wait(false); };
    }
    void let_go() {
        open = true;
        open.notify_all();
    }
};

TEST_P(Order, AWriterWaitsForReaders) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a = numbers(8, 0), b(8), c(8);
    Gate gate;
    // The reader is held up; the writer that comes after it must not overtake (WAR).
    const Task reader = worker.submit_host(
        [&] {
            gate.open.wait(false);
            b = a;
        },
        {in(Tensor(a)), out(Tensor(b))});
    const Task writer = worker.submit(add_kernel(), 0, {Tensor(c), Tensor(a), 7});
    EXPECT_EQ(writer.state(), TaskState::waiting);
    gate.let_go();
    worker.wait();
    EXPECT_EQ(b, numbers(8, 0));
    EXPECT_EQ(a, std::vector<std::int32_t>(8, 7));
}

TEST_P(Order, DisjointSlicesAreIndependent) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a(8), b = numbers(8, 0);
    Gate gate;
    const Tensor whole(a);
    const Task held = worker.submit_host(gate.function(), {inout(whole.slice(0, 4))});
    const Task free = worker.submit(add_kernel(), 0, {Tensor(b).slice(4, 8), whole.slice(4, 8), 1});
    const Task after =
        worker.submit(add_kernel(), 0, {Tensor(b).slice(3, 5), whole.slice(3, 5), 1});
    free.wait();
    EXPECT_EQ(after.state(), TaskState::waiting);
    gate.let_go();
    worker.wait();
    EXPECT_EQ(a, (std::vector<std::int32_t>{0, 0, 0, 4, 5, 6, 7, 8}));
}

TEST_P(Order, ReadersOfTheSameBytesRunBesideEachOther) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a = numbers(4, 0), b(4);
    Gate gate;
    const Task held = worker.submit_host(gate.function(), {in(Tensor(a))});
    worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1}).wait();
    EXPECT_EQ(b, numbers(4, 1));
    gate.let_go();
}

TEST_P(Order, ExplicitDependenciesHold) {
    Worker worker = worker_of(1);
    std::vector<std::int32_t> a(4), b(4);
    Gate gate;
    const Task first = worker.submit_host(gate.function());
    const Task second =
        worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1}, {.name = "b", .after = {first}});
    EXPECT_FALSE(second.wait_for(std::chrono::milliseconds(1)));
    EXPECT_EQ(second.state(), TaskState::waiting);
    EXPECT_FALSE(worker.wait_for(std::chrono::milliseconds(1)));
    gate.let_go();
    second.wait();
    EXPECT_TRUE(worker.wait_for(std::chrono::hours(1)));
    EXPECT_EQ(second.name(), "b");
    EXPECT_EQ(second.id(), 2U);
}

TEST_P(Order, OutputsThatAreWrittenInPartKeepTheRest) {
    Worker worker = worker_of(1);
    const DeviceKernel some =
        kernel("kernel some(inp: in i32[n], out: out i32[n]) { out[0; 2] = inp[0; 2] }");
    std::vector<std::int32_t> a = numbers(4, 1), b = numbers(4, 10);
    worker.submit(some, 0, {Tensor(a), Tensor(b)}).wait();
    EXPECT_EQ(b, (std::vector<std::int32_t>{1, 2, 12, 13}));
}

TEST_P(Order, GroupsThatShareDevicesDoNotStarve) {
    constexpr int kRanks = 4;
    Worker worker = worker_of(kRanks);
    const DeviceKernel sum = allreduce(Element::i32, 4);
    const std::vector<std::vector<int>> sets = {{0, 1}, {1, 2},       {2, 3},
                                                {3, 0}, {0, 1, 2, 3}, {2, 0}};
    std::vector<Domain> domains;
    for (const auto& ranks : sets) {
        domains.push_back(worker.allocate_domain(
            {.name = "d", .ranks = ranks, .windows = sum.windows(static_cast<int>(ranks.size()))}));
    }
    std::vector<std::int32_t> ones(4, 1);
    std::vector<std::vector<std::int32_t>> results(sets.size() * 4 * 50,
                                                   std::vector<std::int32_t>(4));
    std::size_t next = 0;
    for (int round = 0; round < 50; ++round) {
        for (const Domain& domain : domains) {
            worker.submit_group(sum, domain, per_rank(domain.nranks(), [&](int) {
                                    return Arguments{Tensor(std::as_const(ones)),
                                                     Tensor(results[next++]), domain["data"],
                                                     domain["signal"]};
                                }));
            worker.submit(add_kernel(), round % kRanks,
                          {Tensor(std::as_const(ones)), Tensor(results[next++]), 1});
        }
    }
    worker.wait();
    next = 0;
    for (int round = 0; round < 50; ++round) {
        for (const Domain& domain : domains) {
            for (int r = 0; r < domain.nranks(); ++r) {
                EXPECT_EQ(results[next++], std::vector<std::int32_t>(4, domain.nranks()));
            }
            EXPECT_EQ(results[next++], std::vector<std::int32_t>(4, 2));
        }
    }
}

TEST_P(Order, SingleTasksOfARankMayWaitForEachOther) {
    Worker worker = worker_of(2);
    const DeviceKernel meet = kernel(R"(
kernel meet(sig: window i32[nranks]) {
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    advance sig by 1
}
)");
    const Domain domain = worker.allocate_domain(
        {.name = "pair", .windows = {{.name = "sig", .element = Element::i32, .cells = 2}}});
    for (int call = 0; call < 20; ++call) {
        worker.submit(meet, 0, {domain["sig"]});
        worker.submit(meet, 1, {domain["sig"]});
    }
    worker.submit_group(meet, domain, {{domain["sig"]}, {domain["sig"]}});
    worker.wait();
}

TEST_P(Order, AGroupNeedsRanksAtTheSameGeneration) {
    Worker worker = worker_of(2);
    const DeviceKernel tick = kernel(
        "kernel tick(sig: window i32[nranks]) {\n"
        "    notify sig[rank]@rank = generation(sig) + 1\n"
        "    advance sig by 1\n"
        "}");
    const Domain domain = worker.allocate_domain(
        {.name = "pair", .windows = {{.name = "sig", .element = Element::i32, .cells = 2}}});
    worker.submit(tick, 0, {domain["sig"]});
    const Task group = worker.submit_group(tick, domain, {{domain["sig"]}, {domain["sig"]}});
    EXPECT_EQ(message_of(Fault::usage, [&] { group.wait(); }),
              "task 2 'tick': signal 'sig' of domain 'pair': expected all ranks at the same "
              "generation, found 1, 0; tasks of single ranks came before, and not the same number "
              "on each");
    worker.submit(tick, 1, {domain["sig"]});
    worker.submit_group(tick, domain, {{domain["sig"]}, {domain["sig"]}}).wait();
}

}  // namespace order_test
}  // namespace peal::worker::test
