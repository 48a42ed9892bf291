// SPDX-License-Identifier: Apache-2.0
// Kernels of .peal programs on a communicator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/outcomes.hpp"
#include "peal/program.hpp"

namespace peal::comm {
namespace {

using test::told_by;

const char* const kExample = PEAL_SOURCE_DIR "/examples/mesh_allreduce.peal";
constexpr std::int64_t kSize = 100;

Kernel mesh(Communicator& comm, std::int64_t n = kSize) {
    Bindings bindings;
    bindings.integers["n"] = n;
    return comm.kernel(parse_file(kExample), "mesh_allreduce", bindings);
}

// What the example needs.
struct Arguments {
    explicit Arguments(Communicator& comm)
        : data(comm.window<float>(kSize)),
          signals(comm.signals(static_cast<std::uint64_t>(comm.nranks()))) {}
    std::vector<float> input = std::vector<float>(kSize);
    std::vector<float> output = std::vector<float>(kSize);
    Window<float> data;
    WindowMemory signals;
};

TEST(Kernel, RunsCallAfterCallAmongOtherCalls) {
    for (const int nranks : {1, 2, 3, 5}) {
        Communicator::threads(nranks, [](Communicator& comm) {
            const Kernel kernel = mesh(comm);
            Arguments the(comm);
            const int p = comm.nranks();
            for (int call = 0; call < 50; ++call) {
                std::fill(the.input.begin(), the.input.end(),
                          static_cast<float>(call + comm.rank()));
                comm.run(kernel, the.input, the.output, the.data, the.signals);
                const auto sum = static_cast<float>(p * call + p * (p - 1) / 2);
                ASSERT_THAT(the.output, testing::Each(sum)) << "call " << call;
                comm.allreduce(the.output, ReduceOp::max);
                ASSERT_EQ(the.output[0], sum);
            }
        });
    }
}

TEST(Kernel, RunsInProcesses) {
    EXPECT_EQ(Communicator::fork(2,
                                 [](Communicator& comm) {
                                     const Kernel kernel = mesh(comm);
                                     Arguments the(comm);
                                     std::fill(the.input.begin(), the.input.end(), 2.0f);
                                     for (int call = 0; call < 3; ++call) {
                                         comm.run(kernel, the.input, the.output, the.data,
                                                  the.signals);
                                         if (the.output.back() != 4) throw std::range_error("sum");
                                     }
                                 }),
              0);
}

// On one rank: what it is told.
std::string complaint(const std::function<void(Communicator&, const Kernel&, Arguments&)>& run) {
    std::string message;
    Communicator::threads(1, [&](Communicator& comm) {
        Arguments the(comm);
        const Kernel kernel = mesh(comm);
        message = told_by([&] { run(comm, kernel, the); });
        comm.run(kernel, the.input, the.output, the.data, the.signals);  // nothing is broken
    });
    return message;
}

TEST(Kernel, SaysWhichArgumentDoesNotFit) {
    const auto with = [](auto arguments) {
        return complaint([&](Communicator& comm, const Kernel& kernel, Arguments& the) {
            arguments(the, [&](auto&&... list) { comm.run(kernel, list...); });
        });
    };
    EXPECT_EQ(with([](Arguments& the, auto run) { run(the.input, the.output, the.data); }),
              "kernel mesh_allreduce: expected 4 arguments, found 3");
    EXPECT_EQ(
        with([](Arguments& the, auto run) { run(the.data, the.output, the.data, the.signals); }),
        "kernel mesh_allreduce: 'inp' is private memory, found a window");
    EXPECT_EQ(
        with([](Arguments& the, auto run) { run(the.input, the.output, the.output, the.signals); }),
        "kernel mesh_allreduce: 'data' is a window, found private memory");
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  std::vector<double> other(kSize);
                  run(other, the.output, the.data, the.signals);
              }),
              "kernel mesh_allreduce: 'inp' is of f32, found f64");
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  std::vector<float> other(7);
                  run(the.input, other, the.data, the.signals);
              }),
              "kernel mesh_allreduce: 'out' has 100 elements, found 7");
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  const std::vector<float> constant(kSize);
                  run(the.input, constant, the.data, the.signals);
              }),
              "kernel mesh_allreduce: 'out' is written, found memory that is const");
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  run(Memory{nullptr, kSize, Element::f32}, the.output, the.data, the.signals);
              }),
              "kernel mesh_allreduce: 'inp' is a null pointer");
    EXPECT_EQ(
        with([](Arguments& the, auto run) {
            std::vector<float> longer(kSize + 1);
            const Memory odd{reinterpret_cast<std::byte*>(longer.data()) + 2, kSize, Element::f32};
            run(the.input, odd, the.data, the.signals);
        }),
        "kernel mesh_allreduce: 'out' is not aligned to 4 bytes, the size of f32");
}

TEST(Kernel, SaysWhichWindowIsTooSmall) {
    EXPECT_EQ(complaint([](Communicator& comm, const Kernel& kernel, Arguments& the) {
                  const Window<float> small = comm.window<float>(kSize - 1);
                  comm.run(kernel, the.input, the.output, small, the.signals);
              }),
              "kernel mesh_allreduce: 'data' needs 400 bytes, found a window of 396");
}

TEST(Kernel, BelongsToItsCommunicator) {
    EXPECT_EQ(complaint([](Communicator& comm, const Kernel& kernel, Arguments& the) {
                  Communicator part = comm.split(0);
                  part.run(kernel, the.input, the.output, the.data, the.signals);
              }),
              "kernel mesh_allreduce: it was compiled for another communicator");
    EXPECT_EQ(complaint([](Communicator& comm, const Kernel& kernel, Arguments& the) {
                  const Window<float> other = comm.split(0).window<float>(kSize);
                  comm.run(kernel, the.input, the.output, other, the.signals);
              }),
              "the window belongs to another communicator");
}

TEST(Kernel, MustBeTheSameEverywhere) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        Arguments the(comm);
        const std::int64_t n = comm.rank() == 0 ? kSize : kSize - 1;
        the.input.resize(static_cast<std::size_t>(n));
        the.output.resize(static_cast<std::size_t>(n));
        comm.run(mesh(comm, n), the.input, the.output, the.data, the.signals);
    });
    EXPECT_THAT(messages, testing::Each(testing::MatchesRegex(
                              "the ranks made different calls:\n  rank 0: kernel [0-9a-f]+\n"
                              "  rank 1: kernel [0-9a-f]+")));
}

}  // namespace
}  // namespace peal::comm
