// SPDX-License-Identifier: Apache-2.0
// What does not fit is found before anything is started, and said exactly.
#include <atomic>
#include <numeric>

#include "worker/kit.hpp"

namespace peal::worker::test {
namespace arguments_test {

// Threads are quicker to start, and nothing reaches them.
class Refusals : public ::testing::Test {
protected:
    Worker worker{{.ranks = 3, .engine = DeviceEngine::in_process}};
    std::vector<std::int32_t> four = std::vector<std::int32_t>(4);
    std::vector<std::int32_t> five = std::vector<std::int32_t>(5);
    std::vector<float> floats = std::vector<float>(4);
    DeviceKernel sum = allreduce(Element::f32, 4);
    Domain pair =
        worker.allocate_domain({.name = "pair", .ranks = {2, 0}, .windows = sum.windows(2)});

    std::string said(const std::function<void()>& act) const {
        return message_of(Fault::usage, act);
    }
    std::string said_to_add(Arguments arguments, int rank = 0) {
        return said([&] { worker.submit(add_kernel(), rank, std::move(arguments)); });
    }
    std::string said_to_sum(std::vector<int> ranks, Arguments arguments) {
        return said([&] {
            worker.submit_group(sum, ranks, std::vector<Arguments>(ranks.size(), arguments));
        });
    }
};

TEST_F(Refusals, ArgumentsOfTheWrongKind) {
    EXPECT_EQ(said_to_add({Tensor(four), Tensor(four)}),
              "kernel add: expected 3 arguments, for inp, out, by; found 2");
    EXPECT_EQ(said_to_add({Tensor(four), 3, 1}),
              "kernel add: parameter 'out': expected the tensor i32[n], found 3");
    EXPECT_EQ(said_to_add({pair["data"], Tensor(four), 1}),
              "kernel add: parameter 'inp': expected the tensor i32[n], found the window 'data'");
    EXPECT_EQ(said_to_add({Tensor(four), Tensor(five), 1.5}),
              "kernel add: parameter 'by': expected the number index, found 1.5");
}

TEST_F(Refusals, TensorsOfTheWrongTypeOrShape) {
    EXPECT_EQ(said_to_add({Tensor(four), Tensor(five), 1}),
              "kernel add: parameter 'out' on rank 0: expected i32[4], found i32[5]");
    EXPECT_EQ(said_to_add({Tensor(four), Tensor(floats), 1}),
              "kernel add: parameter 'out' on rank 0: expected i32[4], found f32[4]");
    EXPECT_EQ(said_to_add({Tensor(four, {2, 2}), Tensor(four), 1}),
              "kernel add: parameter 'inp': expected i32[n] with n = 4, found i32[2, 2]");
    const DeviceKernel grid = kernel("kernel grid(a: in i32[n, 2], b: out i32[n, 2]) { b = a }");
    EXPECT_EQ(said([&] {
                  worker.submit(grid, 0, {Tensor(four, {2, 2}), Tensor(four, {1, 4})});
              }),
              "kernel grid: parameter 'b': expected i32[n, 2] with n = 2, found i32[1, 4]");
    EXPECT_EQ(said([&] {
                  worker.submit(grid, 0, {Tensor(four), Tensor(five)});
              }),
              "kernel grid: the value of 'n' cannot be told from the arguments; give it with the "
              "kernel's bindings");
}

TEST_F(Refusals, MemoryThatCannotBeUsedSo) {
    std::vector<std::int32_t> other(4);
    const std::vector<std::int32_t> constant(4);
    EXPECT_EQ(said_to_add({Tensor(four), Tensor(constant), 1}),
              "kernel add: parameter 'out' on rank 0: expected memory that can be written, found "
              "const memory");
    EXPECT_EQ(said_to_add({out(Tensor(four)), Tensor(other), 1}),
              "kernel add: parameter 'inp' on rank 0: expected in or inout, since the kernel reads "
              "it, found out");
    EXPECT_EQ(said_to_add({Tensor(four), in(Tensor(other)), 1}),
              "kernel add: parameter 'out' on rank 0: expected out or inout, since the kernel "
              "writes it, found in");
    EXPECT_EQ(said_to_add({Tensor(four), Tensor(four), 1}),
              "kernel add: rank 0: arguments 'inp' and 'out' overlap in memory, and 'out' is "
              "written");
    EXPECT_EQ(said_to_add({worker.alloc<std::int32_t>(1, {4}), Tensor(other), 1}),
              "kernel add: parameter 'inp' on rank 0: expected host memory, or memory of rank 0, "
              "found memory of rank 1");
    Worker second({.ranks = 1, .engine = DeviceEngine::in_process});
    EXPECT_EQ(said_to_add({second.alloc<std::int32_t>(0, {4}), Tensor(other), 1}),
              "kernel add: parameter 'inp' on rank 0: expected memory of this worker, found memory "
              "of another one");
}

// A proof takes each argument for memory of its own.
TEST_F(Refusals, ArgumentsThatOverlap) {
    std::vector<std::int32_t> seven(7);
    const Tensor host = Tensor(seven);
    const std::string overlap =
        "kernel add: rank 0: arguments 'inp' and 'out' overlap in memory, and 'out' is written";
    EXPECT_EQ(said_to_add({host.slice(0, 4), host.slice(3, 7), 1}), overlap);
    EXPECT_EQ(said_to_add({host.slice(3, 7), host.slice(0, 4), 1}), overlap);
    const Tensor device = worker.alloc<std::int32_t>(0, {7});
    EXPECT_EQ(said_to_add({device.slice(0, 4), device.slice(3, 7), 1}), overlap);
    EXPECT_EQ(
        said([&] {
            worker.submit_group(
                add_kernel(), {0, 1},
                {{Tensor(four), host.slice(0, 4), 1}, {Tensor(four), host.slice(3, 7), 1}});
        }),
        "kernel add: argument 'out' of rank 0 and argument 'out' of rank 1 overlap in memory, "
        "and 'out' is written");
    const DeviceKernel twice =
        kernel("kernel twice(a: in i32[n], b: in i32[n], c: out i32[n]) { c = a + b }");
    std::iota(seven.begin(), seven.end(), 0);
    worker.submit(twice, 0, {host.slice(0, 4), host.slice(1, 5), Tensor(four)}).wait();
    EXPECT_EQ(four, (std::vector<std::int32_t>{1, 3, 5, 7}));
}

TEST_F(Refusals, OneWindowForTwoParameters) {
    const DeviceKernel two = kernel("kernel two(a: window f32[4], b: window f32[4]) { a = b }");
    const Domain one = worker.allocate_domain(
        {.name = "one",
         .ranks = {0, 1},
         .windows = {{.name = "data", .element = Element::f32, .shape = {4}}}});
    const Arguments both = {one["data"], one["data"]};
    const std::string same =
        "kernel two: window 'a' and window 'b' are bound to the same symmetric memory";
    EXPECT_EQ(said([&] { worker.submit_group(two, {0, 1}, {both, both}); }), same);
    EXPECT_EQ(said([&] { worker.submit(two, 0, both); }), same);
}

TEST_F(Refusals, RanksThatDoNotExist) {
    EXPECT_EQ(said_to_add({Tensor(four), Tensor(five), 1}, 3),
              "kernel add: expected ranks 0..2, found 3");
    EXPECT_EQ(said_to_sum({0, 0}, {}), "kernel allreduce: rank 0 is named twice");
    EXPECT_EQ(said_to_sum({}, {}), "kernel allreduce: expected at least one rank, found none");
    EXPECT_EQ(said([&] {
                  worker.submit_group(sum, {0, 1}, {{}});
              }),
              "kernel allreduce: expected the arguments of 2 ranks, found 1");
    EXPECT_EQ(said([&] { worker.alloc<float>(-1, {2}); }),
              "alloc: expected a rank in 0..2, found -1");
}

TEST_F(Refusals, WindowsThatDoNotFit) {
    const Arguments arguments = {Tensor(std::as_const(floats)), Tensor(std::as_const(floats)),
                                 pair["data"], pair["signal"]};
    std::vector<float> a(4), b(4);
    const Tensor in = Tensor(std::as_const(floats));
    const auto said_to = [&](std::vector<int> ranks, const DomainWindow& data,
                             const DomainWindow& signal) {
        return said([&] {
            worker.submit_group(sum, ranks,
                                {{in, Tensor(a), data, signal}, {in, Tensor(b), data, signal}});
        });
    };
    EXPECT_EQ(said_to({0, 2}, pair["data"], pair["signal"]),
              "kernel allreduce: parameter 'data' on rank 0: expected a window of a domain with "
              "the ranks 0, 2, found a window of domain 'pair', which has 2, 0");
    EXPECT_EQ(said_to({2, 0}, pair["signal"], pair["signal"]),
              "kernel allreduce: parameter 'data' on rank 2: expected a window of at least f32[4], "
              "found 'signal', 2 signals of i64, 64 bytes apart");
    const Domain small = worker.allocate_domain(
        {.name = "small",
         .ranks = {2, 0},
         .windows = {{.name = "data", .element = Element::f32, .shape = {3}},
                     {.name = "signal", .element = Element::i64, .cells = 1}}});
    EXPECT_EQ(said_to({2, 0}, small["data"], pair["signal"]),
              "kernel allreduce: parameter 'data' on rank 2: expected a window of at least f32[4], "
              "found 'data', f32[3]");
    EXPECT_EQ(said_to({2, 0}, pair["data"], small["signal"]),
              "kernel allreduce: parameter 'signal' on rank 2: expected a window of at least 2 "
              "signals of i64, 64 bytes apart, found 'signal', 1 signals of i64, 64 bytes apart");
    EXPECT_EQ(said([&] {
                  worker.submit(sum, 1, {in, Tensor(a), pair["data"], pair["signal"]});
              }),
              "kernel allreduce: rank 1 of the worker is not in domain 'pair', which has 2, 0");
    pair.release();
    EXPECT_TRUE(pair.is_released());
    EXPECT_EQ(said_to({2, 0}, pair["data"], pair["signal"]),
              "kernel allreduce: parameter 'data' on rank 2: expected a window, found a window of "
              "domain 'pair', which has been released");
}

TEST_F(Refusals, ScalarsThatDifferBetweenRanks) {
    std::vector<std::int32_t> a(4), b(4);
    EXPECT_EQ(said([&] {
                  worker.submit_group(add_kernel(), {0, 1},
                                      {{Tensor(four), Tensor(a), 1}, {Tensor(four), Tensor(b), 2}});
              }),
              "kernel add: parameter 'by': expected 1 as for rank 0, found 2");
}

TEST_F(Refusals, KernelsThatCannotBe) {
    EXPECT_EQ(said([&] { DeviceKernel(program("kernel a() {} kernel b() {}")); }),
              "expected a program of one kernel, found a, b; name one");
    EXPECT_EQ(said([&] { DeviceKernel(program("kernel a() {}"), "b"); }),
              "kernel b: the program has no such kernel");
    EXPECT_EQ(said([&] { DeviceKernel(std::vector<Plan>()); }),
              "a kernel needs the plan of at least one rank");
    Collective odd = collective(CollectiveKind::allreduce, Element::f32, 4);
    odd.recipe = "telepathy";
    EXPECT_THAT(said([&] { DeviceKernel{odd}; }),
                ::testing::StartsWith("allreduce: there is no recipe 'telepathy'"));
    const DeviceKernel two(compile(collective(CollectiveKind::barrier, Element::f32, 0), 2));
    EXPECT_EQ(said([&] { two.windows(3); }), "kernel barrier: its plans are for 2 ranks, found 3");
}

TEST_F(Refusals, TasksOfAnotherWorkerThatComeFirst) {
    Worker second({.ranks = 1, .engine = DeviceEngine::in_process});
    std::atomic<bool> open = false;
    const Task held = second.submit_host([&] { open.wait(false); });
    EXPECT_EQ(said([&] { worker.submit_host([] {}, {}, {.name = "", .after = {held}}); }),
              "task 1 'host', which must come first, belongs to another worker");
    open = true;
    open.notify_all();
    held.wait();
    worker.submit_host([] {}, {}, {.name = "", .after = {held, Task()}}).wait();
}

TEST_F(Refusals, CopiesThatCannotBe) {
    const Tensor on_device = worker.alloc<std::int32_t>(0, {4});
    EXPECT_EQ(said([&] { worker.copy(Tensor(four), Tensor(five)); }),
              "copy: expected i32[4], found i32[5]");
    EXPECT_EQ(said([&] { worker.copy(Tensor(four), Tensor(four)); }),
              "copy: two arguments overlap in memory, and one is written");
    EXPECT_EQ(said([&] { worker.copy(Tensor(four), Tensor(std::as_const(four))); }),
              "copy: expected memory that can be written, found const memory");
    EXPECT_EQ(said([&] { worker.upload(on_device, Tensor(four)); }),
              "upload: expected host memory first, then memory of a device");
    EXPECT_EQ(said([&] { worker.download(Tensor(four), on_device); }),
              "download: expected memory of a device first, then host memory");
}

TEST_F(Refusals, HostTasksThatCannotBe) {
    EXPECT_EQ(said([&] { worker.submit_host({}); }), "host task: expected a function, found none");
    EXPECT_EQ(said([&] { worker.submit_host([] {}, {Tensor(four)}); }),
              "host task: expected tensors as in(), out() or inout(), found something else");
    EXPECT_EQ(said([&] { worker.submit_host([] {}, {out(Tensor(std::as_const(four)))}); }),
              "host task: expected memory that can be written, found const memory");
}

TEST(WorkerOptions, AreCheckedFirst) {
    const auto said = [](WorkerOptions options) {
        return message_of(Fault::usage, [&] { Worker worker(options); });
    };
    EXPECT_EQ(said({}), "worker: expected 1..256 devices, found 0");
    EXPECT_EQ(said({.ranks = -1}), "worker: expected 1..256 devices, found -1");
    EXPECT_EQ(said({.ranks = 257}), "worker: expected 1..256 devices, found 257");
    EXPECT_EQ(said({.ranks = 3, .devices = {0, 1}}),
              "worker: expected 3 devices, found a list of 2");
    EXPECT_EQ(said({.devices = {4, 4}}),
              "worker: expected devices that differ and are not negative, found 4 twice");
    EXPECT_EQ(said({.devices = {4, -4}}),
              "worker: expected devices that differ and are not negative, found -4");
    EXPECT_EQ(said({.ranks = 1, .platform = "a4"}),
              "there is no platform 'a4'; choose one of host, a2a3sim, a5sim");
    EXPECT_EQ(said({.ranks = 1, .max_pending = 0}),
              "worker: expected max_pending of at least 1, found 0");
}

}  // namespace arguments_test
}  // namespace peal::worker::test
