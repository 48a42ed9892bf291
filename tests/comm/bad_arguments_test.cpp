// SPDX-License-Identifier: Apache-2.0
// Calls that cannot be are refused before anything happens; the communicator stays usable.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/outcomes.hpp"

namespace peal::comm {
namespace bad_arguments_test {

using test::told_by;

constexpr Element kF32 = Element::f32;

// On two ranks. The reason for which the call is refused; then another call is made.
std::string refusal(const std::function<void(Communicator&)>& act) {
    const std::vector<std::string> messages = test::told(2, [&](Communicator& comm) {
        const std::string message = told_by([&] { act(comm); });
        std::vector<int> one = {1};
        comm.allreduce(one);
        EXPECT_EQ(one[0], 2);
        throw Error(Fault::usage, message);
    });
    EXPECT_EQ(messages[0], messages[1]);
    return messages[0];
}

// Of a call between buffers of these many elements.
std::string refusal(CollectiveKind kind, std::size_t inputs, std::size_t outputs) {
    return refusal([=](Communicator& comm) {
        const std::vector<float> input(inputs);
        std::vector<float> output(outputs);
        comm.run(call::between(kind, input, output));
    });
}

TEST(BadArguments, Sizes) {
    using enum CollectiveKind;
    EXPECT_EQ(refusal(allreduce, 3, 4), "allreduce: output: expected f32[3], found f32[4]");
    EXPECT_EQ(refusal(allreduce, 3, 0), "allreduce: output: expected f32[3], found f32[0]");
    EXPECT_EQ(refusal(reduce_scatter, 5, 2),
              "reduce_scatter: input: expected f32[4], found f32[5]");
    EXPECT_EQ(refusal(allgather, 2, 5), "allgather: output: expected f32[4], found f32[5]");
    EXPECT_EQ(refusal(all_to_all, 4, 6), "all_to_all: output: expected f32[4], found f32[6]");
    EXPECT_EQ(refusal(all_to_all, 3, 3),
              "all_to_all: the buffer must hold a block per rank: 3 elements do not divide by 2 "
              "ranks");
}

TEST(BadArguments, SizesInPlace) {
    for (const CollectiveKind kind :
         {CollectiveKind::reduce_scatter, CollectiveKind::allgather, CollectiveKind::all_to_all}) {
        EXPECT_EQ(
            refusal([=](Communicator& comm) {
                std::vector<float> x(5);
                comm.run(call::in_place(kind, x));
            }),
            std::string(name(kind)) +
                ": the buffer must hold a block per rank: 5 elements do not divide by 2 ranks");
    }
    EXPECT_EQ(refusal([](Communicator& comm) { comm.allgather(comm.window<float>(3)); }),
              "allgather: the buffer must hold a block per rank: 3 elements do not divide by 2 "
              "ranks");
}

TEST(BadArguments, TooManyElements) {
    EXPECT_EQ(refusal([](Communicator& comm) {
                  float x = 0;
                  comm.allreduce(Memory{&x, std::uint64_t{1} << 43, kF32});
              }),
              "allreduce: 8796093022208 elements are too many");
}

TEST(BadArguments, NullPointers) {
    std::vector<float> x(4);
    const Memory null{nullptr, 4, kF32};
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.allreduce(null); }),
              "allreduce: the buffer: expected f32[4], found a null pointer");
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.allreduce(null, x); }),
              "allreduce: input: expected f32[4], found a null pointer");
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.allreduce(x, null); }),
              "allreduce: output: expected f32[4], found a null pointer");
    EXPECT_EQ(refusal([](Communicator& comm) { comm.allreduce(Memory{nullptr, 0, kF32}); }), "");
}

TEST(BadArguments, Alignment) {
    std::vector<float> x(4), y(3);
    const Memory odd{reinterpret_cast<std::byte*>(x.data()) + 1, 3, kF32};
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.allreduce(odd); }),
              "allreduce: the buffer: expected memory that is aligned to 4 bytes, the size of f32, "
              "found memory that is not");
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.allreduce(odd, y); }),
              "allreduce: input: expected memory that is aligned to 4 bytes, the size of f32, "
              "found memory that is not");
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.allreduce(y, odd); }),
              "allreduce: output: expected memory that is aligned to 4 bytes, the size of f32, "
              "found memory that is not");
}

TEST(BadArguments, Overlap) {
    std::vector<float> x(8);
    const std::span<float> all(x);
    const std::string partly = ": input and output overlap, but not as an in-place call needs it";
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.allreduce(all.first(4), all.subspan(2, 4)); }),
              "allreduce" + partly);
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.allgather(all.subspan(1, 4), all); }),
              "allgather" + partly);
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.reduce_scatter(all, all.subspan(2, 4)); }),
              "reduce_scatter" + partly);
    const std::vector<std::int64_t> counts(4, 2);
    EXPECT_EQ(
        refusal([&](Communicator& comm) { comm.all_to_all_v(all.first(4), all.first(4), counts); }),
        "all_to_all_v: input and output overlap; there is no in-place form");
}

// Where the compiler knows both, it refuses them (tests/comm/misuse).
TEST(BadArguments, ElementsThatDiffer) {
    const std::vector<float> input(2);
    std::vector<double> output(2);
    EXPECT_EQ(refusal([&](Communicator& comm) { comm.allreduce(input, Memory(output)); }),
              "allreduce: input is f32, but output is f64");
}

TEST(BadArguments, Roots) {
    for (const int root : {-1, 2}) {
        const std::string found = ": root must be 0..1, found " + std::to_string(root);
        std::vector<float> x(2), y(4);
        EXPECT_EQ(refusal([&](Communicator& comm) { comm.broadcast(x, root); }),
                  "broadcast" + found);
        EXPECT_EQ(refusal([&](Communicator& comm) { comm.reduce(x, ReduceOp::sum, root); }),
                  "reduce" + found);
        EXPECT_EQ(refusal([&](Communicator& comm) { comm.gather(x, y, root); }), "gather" + found);
        EXPECT_EQ(refusal([&](Communicator& comm) { comm.scatter(y, x, root); }),
                  "scatter" + found);
    }
}

TEST(BadArguments, CountsOfAnExchange) {
    const auto exchange = [](std::vector<std::int64_t> counts) {
        return refusal([=](Communicator& comm) {
            std::vector<float> input(2), output(2);
            comm.all_to_all_v(input, output, counts);
        });
    };
    EXPECT_EQ(exchange({1, 1, 1}),
              "all_to_all_v: counts must have 4 entries (one for each pair of 2 ranks), found 3");
    EXPECT_EQ(exchange({}),
              "all_to_all_v: counts must have 4 entries (one for each pair of 2 ranks), found 0");
    EXPECT_EQ(exchange({3, -1, -1, 3}), "all_to_all_v: counts must not be negative, found -1");
    EXPECT_EQ(exchange({1, 2, 2, 1}), "all_to_all_v: input: expected f32[3], found f32[2]");
}

TEST(BadArguments, CountsOfPieces) {
    const auto gather = [](std::vector<std::int64_t> counts) {
        return refusal([=](Communicator& comm) {
            std::vector<float> input(2), output(3);
            comm.allgather_v(input, output, counts);
        });
    };
    EXPECT_EQ(gather({2, 1, 1}),
              "allgather_v: counts must have 2 entries (one for each of 2 ranks), found 3");
    EXPECT_EQ(gather({2, -1}), "allgather_v: counts must not be negative, found -1");
    EXPECT_EQ(gather({2, 2}), "allgather_v: output: expected f32[4], found f32[3]");
    EXPECT_EQ(refusal([](Communicator& comm) {
                  std::vector<float> all(4);
                  const std::vector<std::int64_t> counts = {2, 2};
                  comm.allgather_v(std::span(all).subspan(1, 2), all, counts);
              }),
              "allgather_v: input and output overlap, but not as an in-place call needs it");
}

TEST(BadArguments, DistancesOfSignals) {
    for (const std::uint64_t stride : {0, 3, 65}) {
        EXPECT_EQ(refusal([=](Communicator& comm) { comm.signals(4, stride); }),
                  "signals: expected cells a multiple of 4 bytes apart, the size of i32, found " +
                      std::to_string(stride) + " bytes");
    }
    EXPECT_EQ(refusal([](Communicator& comm) { EXPECT_EQ(comm.signals(4, 4).bytes(), 16U); }), "");
}

TEST(BadArguments, WindowsOfOthers) {
    EXPECT_EQ(refusal([](Communicator& comm) {
                  Communicator part = comm.split(0);
                  part.allreduce(comm.window<float>(4));
              }),
              "the window belongs to another communicator");
    // Though its number is the same, and the line, and the address.
    EXPECT_EQ(refusal([](Communicator& comm) {
                  Communicator part = comm.split(0);
                  Window<float> window = comm.window<float>(4);
                  for (int i = 0; i < 3; ++i) {
                      if (i == 2) window = part.window<float>(4);
                      comm.allreduce(window);
                  }
              }),
              "the window belongs to another communicator");
    EXPECT_EQ(refusal([](Communicator& comm) {
                  Communicator part = comm.split(0);
                  const Window<float> window = part.window<float>(0);
                  for (int i = 0; i < 2; ++i) {
                      Call call = call::allreduce(window);
                      if (i == 0) call.window = nullptr;
                      comm.run(call);
                  }
              }),
              "the window belongs to another communicator");
    EXPECT_EQ(refusal([](Communicator& comm) { comm.window<float>(4).on(2); }),
              "window: rank must be 0..1, found 2");
}

TEST(BadArguments, WindowsThatDoNotFit) {
    EXPECT_EQ(refusal([](Communicator& comm) { comm.window<double>(std::uint64_t{1} << 40); }),
              "window: 1099511627776 x 8 bytes are too many");
    std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        const auto ask = [&] { comm.window<double>(std::uint64_t{1} << 38); };
        const std::string message = told_by(ask);
        comm.barrier();
        throw Error(Fault::usage, message);
    });
    EXPECT_THAT(messages[0],
                testing::MatchesRegex("cannot share 4.0 TiB of memory: .*ask for less"));
    EXPECT_EQ(messages[1], "window: rank 0 found no memory for it");
}

}  // namespace bad_arguments_test
}  // namespace peal::comm
