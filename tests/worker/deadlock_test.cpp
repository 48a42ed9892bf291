// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "peal/compile.hpp"
#include "worker/kit.hpp"

namespace peal::worker::test {
namespace deadlock_test {

class Deadlocks : public OnEngines {};
INSTANTIATE_TEST_SUITE_P(Worker, Deadlocks, ::testing::ValuesIn(engines()), engine_name);

Domain pair(Worker& worker) {
    return worker.allocate_domain(
        {.name = "pair", .windows = {{.name = "sig", .element = Element::i32, .cells = 2}}});
}

const DeviceKernel& crossed() {
    static const DeviceKernel kKernel = kernel(
        "kernel crossed(sig: window i32[nranks]) {\n"
        "    wait sig[1 - rank] >= 1\n"
        "    notify sig[rank]@(1 - rank) += 1\n"
        "}");
    return kKernel;
}

TEST_P(Deadlocks, ARingOfTasksIsShownWithEverybodysPlace) {
    Worker worker({.ranks = 3, .engine = GetParam()});
    const Domain domain =
        worker.allocate_domain({.name = "pair",
                                .ranks = {0, 2},
                                .windows = {{.name = "sig", .element = Element::i32, .cells = 2}}});
    std::vector<std::int32_t> a = numbers(4, 0), b(4);
    const Task left = worker.submit(crossed(), 0, {domain["sig"]}, {.name = "left"});
    const Task right = worker.submit(crossed(), 2, {domain["sig"]}, {.name = "right"});
    const Task behind = worker.submit(add_kernel(), 0, {Tensor(a), Tensor(b), 1});
    const std::string report =
        "deadlock: no device can go on\n"
        "  rank 0  task 1 'left'  instruction 0  wait sig[1] >= 1   "
        "(test.peal:2: \"wait sig[1 - rank] >= 1\")\n"
        "          sees 0; still to ring it: task 2 'right' on rank 2 at instruction 1 (now at 0)\n"
        "  rank 1  idle\n"
        "  rank 2  task 2 'right'  instruction 0  wait sig[0] >= 1   "
        "(test.peal:2: \"wait sig[1 - rank] >= 1\")\n"
        "          sees 0; still to ring it: task 1 'left' on rank 0 at instruction 1 (now at 0)";
    EXPECT_EQ(message_of(Fault::wrong, [&] { right.wait(); }), report);
    EXPECT_EQ(message_of(Fault::wrong, [&] { left.wait(); }), report);
    EXPECT_EQ(message_of(Fault::wrong, [&] { behind.wait(); }), report);
    EXPECT_EQ(worker.state(), WorkerState::failed);
    EXPECT_EQ(message_of(Fault::wrong, [&] { worker.submit_host([] {}); }),
              "the worker has failed and must be restarted: " + report);
}

// Lane 0 waits for lane 1, and that for what nobody rings.
DeviceKernel crossed_lanes() {
    CompileOptions options;
    options.lanes = 2;
    const ir::Program text = program(
        "kernel crossed(sig: window i32[nranks]) {\n"
        "    wait sig[lane] >= 1\n"
        "    if lane == 1 { notify sig[0] = 1 }\n"
        "}");
    return DeviceKernel(compile(text, "crossed", {}, 2, options));
}

TEST_P(Deadlocks, EachLaneIsShown) {
    Worker worker = worker_of(2);
    const Domain domain = pair(worker);
    const Task task = worker.submit(crossed_lanes(), 0, {domain["sig"]}, {.name = "both"});
    EXPECT_EQ(
        message_of(Fault::wrong, [&] { task.wait(); }),
        "deadlock: no device can go on\n"
        "  rank 0  task 1 'both'  lane 0  instruction 0  wait sig[0] >= 1   "
        "(test.peal:2: \"wait sig[lane] >= 1\")\n"
        "          sees 0; still to ring it: task 1 'both' on rank 0, lane 1 at instruction 2 "
        "(now at 1)\n"
        "  rank 0  task 1 'both'  lane 1  instruction 1  wait sig[1] >= 1   "
        "(test.peal:2: \"wait sig[lane] >= 1\")\n"
        "          sees 0; nobody is left to ring it\n"
        "  rank 1  idle");
}

TEST_P(Deadlocks, ARestartedWorkerHasFreshWindows) {
    Worker worker = worker_of(2);
    const Domain domain = pair(worker);
    const Tensor resident = worker.alloc<std::int32_t>(1, {4});
    std::vector<std::int32_t> a = numbers(4, 0), b(4);
    worker.upload(Tensor(a), resident);
    worker.submit(ring_kernel(), 0, {domain["sig"]});
    worker.submit(wait_kernel(), 0, {domain["sig"]});
    worker.wait();
    const Task stuck = worker.submit(wait_kernel(), 0, {domain["sig"]});
    EXPECT_THROW(stuck.wait(), Error);
    EXPECT_EQ(worker.state(), WorkerState::failed);
    worker.restart();
    EXPECT_EQ(worker.state(), WorkerState::ready);
    for (const int rank : {0, 1}) {
        for (const std::uint8_t byte : domain.view("sig", rank).span<std::uint8_t>()) {
            EXPECT_EQ(byte, 0);
        }
    }
    worker.submit(ring_kernel(), 0, {domain["sig"]});
    worker.submit(wait_kernel(), 0, {domain["sig"]}).wait();
    worker.submit(add_kernel(), 1, {resident, Tensor(b), 1}).wait();
    EXPECT_EQ(b, numbers(4, 1));
}

TEST_P(Deadlocks, ATaskThatNobodyRings) {
    Worker worker = worker_of(1);
    const Domain domain = worker.allocate_domain(
        {.name = "one", .windows = {{.name = "sig", .element = Element::i32, .cells = 1}}});
    worker.submit(wait_kernel(), 0, {domain["sig"]});
    EXPECT_EQ(message_of(Fault::wrong, [&] { worker.wait(); }),
              "deadlock: no device can go on\n"
              "  rank 0  task 1 'hold'  instruction 0  wait sig[0] >= 1   "
              "(test.peal:3: \"wait sig[rank] >= generation(sig) + 1\")\n"
              "          sees 0; nobody is left to ring it");
    worker.wait();  // it was told
}

// The one that would ring it stands behind the one that waits.
TEST_P(Deadlocks, ATaskBehindItself) {
    Worker worker = worker_of(1);
    const Domain domain = worker.allocate_domain(
        {.name = "one",
         .windows = {{.name = "sig", .element = Element::i32, .cells = 1},
                     {.name = "other", .element = Element::i32, .cells = 1}}});
    const DeviceKernel two = kernel(
        "kernel two(sig: window i32[nranks], other: window i32[nranks]) "
        "{\n wait sig[0] >= 1\n notify other[0]@rank = 1\n}");
    const Task waits = worker.submit(wait_kernel(), 0, {domain["sig"]}, {.name = "waits"});
    worker.submit(ring_kernel(), 0, {domain["sig"]}, {.name = "rings"});
    EXPECT_THAT(message_of(Fault::wrong, [&] { waits.wait(); }),
                ::testing::HasSubstr(
                    "sees 0; still to ring it: task 2 'rings' on rank 0 at instruction 0 (not "
                    "started)"));
}

// A host task that is still to run may submit what is missing.
TEST_P(Deadlocks, AreNotReportedWhileAHostTaskMayHelp) {
    Worker worker = worker_of(2);
    const Domain domain = pair(worker);
    const Task waits = worker.submit(wait_kernel(), 1, {domain["sig"]});
    worker.submit_host([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        worker.submit(ring_kernel(), 0, {domain["sig"]});
    });
    waits.wait();
    worker.wait();
    EXPECT_EQ(worker.state(), WorkerState::ready);
}

TEST_P(Deadlocks, AreNotReportedBeforeTheProgramWaits) {
    Worker worker = worker_of(2);
    const Domain domain = pair(worker);
    const Task waits = worker.submit(wait_kernel(), 1, {domain["sig"]});
    while (waits.state() != TaskState::running) std::this_thread::yield();
    worker.submit(ring_kernel(), 0, {domain["sig"]});
    waits.wait();
}

TEST_P(Deadlocks, CloseFindsThemToo) {
    Worker worker = worker_of(2);
    const Domain domain = pair(worker);
    const Task waits = worker.submit(wait_kernel(), 1, {domain["sig"]});
    worker.close();
    EXPECT_THAT(message_of(Fault::wrong, [&] { waits.wait(); }),
                ::testing::StartsWith("deadlock: no device can go on"));
}

}  // namespace deadlock_test
}  // namespace peal::worker::test
