// SPDX-License-Identifier: Apache-2.0
// Kernels of .peal programs, and plans of any origin, on a communicator.
#include <atomic>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/outcomes.hpp"
#include "peal/compile.hpp"
#include "peal/program.hpp"

namespace peal::comm {
namespace kernel_test {

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

// A prepared kernel asks in each run whose turn it is, also where other runs came in between.
TEST(Kernel, TakesTurns) {
    const ir::Program program = parse_file(PEAL_SOURCE_DIR "/examples/halves_allreduce.peal");
    Communicator::threads(3, [&](Communicator& comm) {
        Bindings bindings;
        bindings.integers["n"] = kSize;
        const Kernel kernel = comm.kernel(program, "halves_allreduce", bindings);
        const auto p = static_cast<std::uint64_t>(comm.nranks());
        Window<float> data = comm.window<float>(2 * p * kSize);
        WindowMemory signals = comm.signals(p);
        std::vector<float> input(kSize), output(kSize);
        PreparedKernel prepared = comm.prepare(kernel, input, output, data, signals);
        for (int call = 0; call < 20; ++call) {
            std::fill(input.begin(), input.end(), static_cast<float>(call + comm.rank()));
            if (call % 3 == 0) {
                comm.run(kernel, input, output, data, signals);
            } else {
                prepared.run();
            }
            ASSERT_THAT(output, testing::Each(static_cast<float>(3 * call + 3))) << call;
            const std::uint64_t half = static_cast<std::uint64_t>(call) % 2 * p * kSize;
            ASSERT_EQ(data[half], static_cast<float>(call)) << call;
        }
    });
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
        "kernel mesh_allreduce: argument 'inp': expected private memory, found a window of 400 "
        "bytes");
    EXPECT_EQ(
        with([](Arguments& the, auto run) { run(the.input, the.output, the.output, the.signals); }),
        "kernel mesh_allreduce: window 'data': expected a window of at least f32[100], found "
        "private memory");
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  std::vector<double> other(kSize);
                  run(other, the.output, the.data, the.signals);
              }),
              "kernel mesh_allreduce: argument 'inp': expected f32[100], found f64[100]");
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  std::vector<float> other(7);
                  run(the.input, other, the.data, the.signals);
              }),
              "kernel mesh_allreduce: argument 'out': expected f32[100], found f32[7]");
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  const std::vector<float> constant(kSize);
                  run(the.input, constant, the.data, the.signals);
              }),
              "kernel mesh_allreduce: argument 'out': expected memory that can be written, found "
              "const memory");
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  run(Memory{nullptr, kSize, Element::f32}, the.output, the.data, the.signals);
              }),
              "kernel mesh_allreduce: argument 'inp': expected f32[100], found a null pointer");
    EXPECT_EQ(
        with([](Arguments& the, auto run) {
            std::vector<float> longer(kSize + 1);
            const Memory odd{reinterpret_cast<std::byte*>(longer.data()) + 2, kSize, Element::f32};
            run(the.input, odd, the.data, the.signals);
        }),
        "kernel mesh_allreduce: argument 'out': expected memory that is aligned to 4 bytes, the "
        "size of f32, found memory that is not");
}

// A proof takes each argument for memory of its own.
TEST(Kernel, ArgumentsAreApart) {
    const auto with = [](auto arguments) {
        std::vector<std::string> told;
        told.push_back(complaint([&](Communicator& comm, const Kernel& kernel, Arguments& the) {
            arguments(the, [&](auto&&... list) { comm.run(kernel, list...); });
        }));
        told.push_back(complaint([&](Communicator& comm, const Kernel& kernel, Arguments& the) {
            arguments(the, [&](auto&&... list) { comm.prepare(kernel, list...); });
        }));
        EXPECT_EQ(told[0], told[1]);
        return told[0];
    };
    const std::string overlap =
        "kernel mesh_allreduce: rank 0: arguments 'inp' and 'out' overlap in memory, and 'out' is "
        "written";
    EXPECT_EQ(
        with([](Arguments& the, auto run) { run(the.input, the.input, the.data, the.signals); }),
        overlap);
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  std::vector<float> both(2 * kSize - 1);
                  run(Memory{both.data() + kSize - 1, kSize, Element::f32},
                      Memory{both.data(), kSize, Element::f32}, the.data, the.signals);
              }),
              overlap);
    EXPECT_EQ(
        with([](Arguments& the, auto run) {
            run(Memory{the.data.on(0), kSize, Element::f32}, the.output, the.data, the.signals);
        }),
        "kernel mesh_allreduce: rank 0: argument 'inp' and window 'data' overlap in memory, "
        "and 'data' is written");
    EXPECT_EQ(
        with([](Arguments& the, auto run) { run(the.input, the.output, the.data, the.data); }),
        "kernel mesh_allreduce: window 'data' and signal 'sig' are bound to the same "
        "symmetric memory");
    EXPECT_EQ(with([](Arguments& the, auto run) {
                  std::vector<float> both(2 * kSize);
                  run(Memory{both.data() + kSize, kSize, Element::f32},
                      Memory{both.data(), kSize, Element::f32}, the.data, the.signals);
              }),
              "");
}

// What is only read may be given twice.
TEST(Kernel, InputsMayOverlap) {
    const ir::Program program = parse(std::make_shared<const Source>(
        "twice.peal", "kernel twice(a: in f32[n], b: in f32[n], c: out f32[n]) { c = a + b }"));
    Bindings bindings;
    bindings.integers["n"] = 3;
    Communicator::threads(1, [&](Communicator& comm) {
        const std::vector<float> input = {1, 2, 3};
        std::vector<float> output(3);
        comm.run(comm.kernel(program, "twice", bindings), input, input, output);
        EXPECT_THAT(output, testing::ElementsAre(2, 4, 6));
    });
}

TEST(Kernel, SaysWhichWindowIsTooSmall) {
    EXPECT_EQ(complaint([](Communicator& comm, const Kernel& kernel, Arguments& the) {
                  const Window<float> small = comm.window<float>(kSize - 1);
                  comm.run(kernel, the.input, the.output, small, the.signals);
              }),
              "kernel mesh_allreduce: window 'data': expected a window of at least 400 bytes, "
              "found a window of 396 bytes");
}

TEST(Kernel, BelongsToItsCommunicator) {
    EXPECT_EQ(complaint([](Communicator& comm, const Kernel& kernel, Arguments& the) {
                  Communicator part = comm.split(0);
                  part.run(kernel, the.input, the.output, the.data, the.signals);
              }),
              "kernel mesh_allreduce: it was made for another communicator");
    EXPECT_EQ(complaint([](Communicator& comm, const Kernel& kernel, Arguments& the) {
                  const Window<float> other = comm.split(0).window<float>(kSize);
                  comm.run(kernel, the.input, the.output, other, the.signals);
              }),
              "the window belongs to another communicator");
}

std::vector<Plan> mesh_plans(int nranks) {
    Bindings bindings;
    bindings.integers["n"] = kSize;
    return compile(parse_file(kExample), "mesh_allreduce", bindings, nranks);
}

// The same plans with packed cells of i32 and pipes, as a PTO kernel has them.
std::vector<Plan> tile_plans(int nranks) {
    std::vector<Plan> plans = mesh_plans(nranks);
    for (Plan& plan : plans) {
        plan.kernel = "packed_mesh";
        plan.buffers.back().cell_stride = sizeof(std::int32_t);
        const std::vector<Instruction> instructions = std::exchange(plan.instructions, {});
        for (Instruction instruction : instructions) {
            const bool is_sync = std::holds_alternative<Notify>(instruction.action) ||
                                 std::holds_alternative<Wait>(instruction.action);
            instruction.pipe = is_sync ? Pipe::scalar : Pipe::store;
            plan.instructions.push_back(instruction);
            plan.instructions.push_back({.action = PipeBarrier{Pipe::all}});
        }
    }
    return plans;
}

TEST(Kernel, RunsPlansOfAnyOrigin) {
    for (const int nranks : {1, 2, 3}) {
        Communicator::threads(nranks, [](Communicator& comm) {
            const Kernel kernel = comm.kernel(tile_plans(comm.nranks()));
            Arguments the(comm);
            const WindowMemory packed =
                comm.signals(static_cast<std::uint64_t>(comm.nranks()), sizeof(std::int32_t));
            EXPECT_EQ(packed.bytes(), 4u * static_cast<unsigned>(comm.nranks()));
            for (int call = 0; call < 5; ++call) {
                std::fill(the.input.begin(), the.input.end(), static_cast<float>(call));
                comm.run(kernel, the.input, the.output, the.data, packed);
                ASSERT_THAT(the.output, testing::Each(static_cast<float>(comm.nranks() * call)));
            }
        });
    }
}

TEST(Kernel, PlansMustBeThoseOfItsRanks) {
    Communicator::threads(2, [](Communicator& comm) {
        EXPECT_EQ(told_by([&] { comm.kernel(mesh_plans(3)); }),
                  "kernel: expected the plans of 2 ranks, found 3");
        std::vector<Plan> swapped = mesh_plans(2);
        std::swap(swapped[0], swapped[1]);
        EXPECT_NE(told_by([&] { comm.kernel(swapped); }), "");
    });
}

TEST(Kernel, PlansMustBeTheSameEverywhere) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        std::vector<Plan> plans = mesh_plans(2);
        for (Plan& plan : plans) plan.kernel = "disagreed";
        if (comm.rank() == 1) plans[0].instructions.pop_back();
        Arguments the(comm);
        comm.run(comm.kernel(plans), the.input, the.output, the.data, the.signals);
    });
    EXPECT_THAT(messages, testing::Each(testing::StartsWith("the ranks made different calls:")));
}

// Runs in a row and other calls between them; more runs than there are slots for turns.
TEST(PreparedKernel, RunsCallAfterCall) {
    for (const int nranks : {1, 2, 3, 5}) {
        Communicator::threads(nranks, [](Communicator& comm) {
            const Kernel kernel = mesh(comm);
            Arguments the(comm);
            PreparedKernel prepared =
                comm.prepare(kernel, the.input, the.output, the.data, the.signals);
            const int p = comm.nranks();
            for (int call = 0; call < 100; ++call) {
                std::fill(the.input.begin(), the.input.end(),
                          static_cast<float>(call + comm.rank()));
                prepared.run();
                const auto sum = static_cast<float>(p * call + p * (p - 1) / 2);
                ASSERT_THAT(the.output, testing::Each(sum)) << "call " << call;
                if (call % 7 == 0) {
                    comm.allreduce(the.output, ReduceOp::max);
                    ASSERT_EQ(the.output[0], sum);
                }
                if (call % 10 == 0) {
                    comm.run(kernel, the.input, the.output, the.data, the.signals);
                    ASSERT_THAT(the.output, testing::Each(sum));
                }
            }
        });
    }
}

TEST(PreparedKernel, MustBeTheSameEverywhere) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        Arguments the(comm);
        const std::int64_t n = comm.rank() == 0 ? kSize : kSize - 1;
        the.input.resize(static_cast<std::size_t>(n));
        the.output.resize(static_cast<std::size_t>(n));
        comm.prepare(mesh(comm, n), the.input, the.output, the.data, the.signals);
    });
    EXPECT_THAT(messages, testing::Each(testing::StartsWith("the ranks made different calls:")));
}

// A rank that runs what the others do not is noticed at the next call, or by whoever waits.
TEST(PreparedKernel, RunsAreCounted) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        Arguments the(comm);
        PreparedKernel prepared =
            comm.prepare(mesh(comm), the.input, the.output, the.data, the.signals);
        if (comm.rank() == 0) prepared.run();
        comm.barrier();
    });
    EXPECT_THAT(messages,
                testing::Each(testing::MatchesRegex(
                    "the ranks made different calls:\n  rank 0: kernel mesh_allreduce of program "
                    "[0-9a-f]+, n=100, in windows 1, 2\n"
                    "  rank 1: barrier")));
}

// ---- kernels that cannot end

const char* const kStuck = "kernel stuck(sig: window i32[nranks]) {\n    wait sig[0] >= 1\n}\n";

Kernel stuck(Communicator& comm) {
    return comm.kernel(parse(std::make_shared<Source>("stuck.peal", kStuck)), "stuck", {});
}

// Rank 0 says that it is in the kernel, and waits for what never comes.
const char* const kLeft =
    "kernel left(sig: window i32[nranks]) {\n"
    "    if rank == 0 { notify sig[1]@1 = 1 }\n"
    "    wait sig[0] >= 1\n"
    "}\n";

TEST(Kernel, ADeadPeerIsReportedWithTheWaitThatItLeftBehind) {
    std::string message;
    const auto body = [&](Communicator& comm) {
        const WindowMemory signals = comm.signals(2);
        const Kernel kernel =
            comm.kernel(parse(std::make_shared<Source>("left.peal", kLeft)), "left", {});
        PreparedKernel prepared = comm.prepare(kernel, signals);
        if (comm.rank() == 0) {
            message = told_by([&] { prepared.run(); });
            return;
        }
        auto* cell = reinterpret_cast<std::int32_t*>(signals.on(1) + kCacheLineBytes);
        while (std::atomic_ref(*cell).load(std::memory_order_acquire) == 0) {
            std::this_thread::yield();
        }
        throw std::range_error("mine");
    };
    EXPECT_THROW(Communicator::threads(2, body), std::range_error);
    EXPECT_THAT(message,
                testing::MatchesRegex("rank 1 died; rank 0 was in kernel left \\(call [0-9]+\\)\n"
                                      "    instruction 1  wait sig\\[0\\] >= 1"
                                      "   \\(left.peal:3: \"wait sig\\[0\\] >= 1\"\\)\n    sees 0; "
                                      "nobody rings it"));
}

// One thread carries the lanes of its rank: who has to wait is set aside while others go on. Lane 2
// of each rank lets lane 1 go on, and that lets go of lane 0 of the peer.
std::vector<Plan> lanes_in_turn(bool is_stuck) {
    std::vector<Plan> plans(2);
    for (std::int32_t rank = 0; rank < 2; ++rank) {
        Plan& plan = plans[static_cast<std::size_t>(rank)];
        plan.kernel = is_stuck ? "stuck" : "lanes";
        plan.rank = rank;
        plan.nranks = 2;
        Buffer& signal = plan.buffers.emplace_back();
        signal.name = "sig";
        signal.kind = BufferKind::signal;
        signal.direction = Direction::inout;
        signal.element = Element::i32;
        signal.cells = 3;
        plan.advance = {1};
        const auto add = [&](Action action) { plan.instructions.push_back({std::move(action)}); };
        add(Wait{Compare::ge, {0, rank, 0}, {1, 1}});
        plan.lanes = {1, 3};
        add(Wait{Compare::ge, {0, rank, 1}, {1, 1}});
        add(Notify{NotifyOp::set, {0, 1 - rank, 0}, {1, 1}});
        add(Notify{NotifyOp::set, {0, rank, is_stuck ? 2u : 1u}, {1, 1}});
    }
    return plans;
}

TEST(Kernel, CarriesTheLanesOfItsRank) {
    Communicator::threads(2, [](Communicator& comm) {
        const WindowMemory signals = comm.signals(3);
        PreparedKernel prepared = comm.prepare(comm.kernel(lanes_in_turn(false)), signals);
        for (int call = 0; call < 200; ++call) prepared.run();
    });
}

TEST(Kernel, ADeadlockNamesTheLanes) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        const WindowMemory signals = comm.signals(3);
        comm.prepare(comm.kernel(lanes_in_turn(true)), signals).run();
    });
    const std::string first = "\n    lane 0  instruction 0  wait sig\\[0\\] >= 1\n    sees 0[^\n]*";
    const std::string second =
        "\n    lane 1  instruction 1  wait sig\\[1\\] >= 1\n    sees 0[^\n]*";
    const std::string standing =
        fmt::format("in kernel stuck \\(call [0-9]+\\)({0}{1}|{1}{0})", first, second);
    const auto told = testing::MatchesRegex(
        fmt::format("deadlock: no rank can go on:\n  rank 0: {0}\n  rank 1: {0}", standing));
    EXPECT_THAT(messages, testing::Each(told));
}

TEST(Kernel, ADeadlockNamesTheWait) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        const WindowMemory signals = comm.signals(2);
        comm.prepare(stuck(comm), signals).run();
    });
    const std::string standing =
        "in kernel stuck \\(call [0-9]+\\)\n    instruction 0  wait sig\\[0\\] >= 1"
        "   \\(stuck.peal:2: \"wait sig\\[0\\] >= 1\"\\)\n    sees 0; nobody rings it";
    const auto told = testing::MatchesRegex(
        fmt::format("deadlock: no rank can go on:\n  rank 0: {0}\n  rank 1: {0}", standing));
    EXPECT_THAT(messages, testing::Each(told));
    EXPECT_EQ(messages[0], messages[1]);
}

TEST(Kernel, MustBeTheSameEverywhere) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        Arguments the(comm);
        const std::int64_t n = comm.rank() == 0 ? kSize : kSize - 1;
        the.input.resize(static_cast<std::size_t>(n));
        the.output.resize(static_cast<std::size_t>(n));
        comm.run(mesh(comm, n), the.input, the.output, the.data, the.signals);
    });
    EXPECT_THAT(
        messages,
        testing::Each(testing::MatchesRegex(
            "the ranks made different calls:\n  rank 0: kernel mesh_allreduce of program "
            "[0-9a-f]+, n=100, in windows 1, 2\n"
            "  rank 1: kernel mesh_allreduce of program [0-9a-f]+, n=99, in windows 1, 2")));
}

// Of programs that have the same name and the same values, the digests tell that they differ.
TEST(Kernel, MustBeOfTheSameProgramEverywhere) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        const WindowMemory signals = comm.signals(2);
        const std::string body = comm.rank() == 0 ? "advance sig by 1" : "advance sig by 2";
        const ir::Program program = parse(std::make_shared<const Source>(
            "k.peal", "kernel k(sig: window i32[nranks]) {\n" + body + "\n}\n"));
        comm.run(comm.kernel(program, "k", {}), signals);
    });
    const std::string& message = messages[0];
    EXPECT_EQ(message, messages[1]);
    EXPECT_THAT(message,
                testing::MatchesRegex("the ranks made different calls:\n"
                                      "  rank 0: kernel k of program [0-9a-f]+, in window 1\n"
                                      "  rank 1: kernel k of program [0-9a-f]+, in window 1"));
    const auto digest_at = [&](std::size_t from) {
        return message.substr(message.find("program ", from) + 8, 7);
    };
    EXPECT_NE(digest_at(0), digest_at(message.find("rank 1")));
}

// What a program was compiled from is not known of plans; of them there are digests, too.
TEST(Kernel, OfPlansMustBeTheSameEverywhere) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        Arguments the(comm);
        Bindings bindings;
        bindings.integers["n"] = comm.rank() == 0 ? kSize : kSize - 1;
        the.input.resize(static_cast<std::size_t>(bindings.integers["n"]));
        the.output.resize(static_cast<std::size_t>(bindings.integers["n"]));
        const Kernel kernel =
            comm.kernel(compile(parse_file(kExample), "mesh_allreduce", bindings, comm.nranks()));
        comm.run(kernel, the.input, the.output, the.data, the.signals);
    });
    EXPECT_THAT(messages, testing::Each(testing::MatchesRegex(
                              "the ranks made different calls:\n  rank 0: kernel mesh_allreduce of "
                              "plans [0-9a-f]+, in windows 1, 2\n"
                              "  rank 1: kernel mesh_allreduce of plans [0-9a-f]+, in windows 1, "
                              "2")));
}

TEST(Kernel, MustBeOnTheSameWindowsEverywhere) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        Arguments the(comm), other(comm);
        const WindowMemory& data = comm.rank() == 0 ? the.data : other.data;
        comm.run(mesh(comm), the.input, the.output, data, the.signals);
    });
    EXPECT_THAT(messages, testing::Each(testing::MatchesRegex(
                              "the ranks made different calls:\n  rank 0: kernel mesh_allreduce of "
                              "program [0-9a-f]+, n=100, in windows 1, 2\n"
                              "  rank 1: kernel mesh_allreduce of program [0-9a-f]+, n=100, in "
                              "windows 3, 2")));
}

// What is wrong with rank 1's plan is no business of rank 0's.
TEST(Kernel, EachRankCompilesItsOwnPlan) {
    const std::vector<std::string> messages = test::told(2, [](Communicator& comm) {
        const char* const text =
            "kernel beyond(inp: in f32[4], out: out f32[2]) {\n"
            "    out = inp[3 * rank; 2]\n"
            "}\n";
        comm.kernel(parse(std::make_shared<Source>("beyond.peal", text)), "beyond", {});
    });
    EXPECT_EQ(messages[0], "");
    EXPECT_EQ(messages[1],
              "beyond.peal:2:5: error: tile.load: elements 3..5 leave 'inp', which has 4 (kernel "
              "beyond, rank 1 of 2)\n    2 |     out = inp[3 * rank; 2]\n"
              "      |     ^~~~~~~~~~~~~~~~~~~~~~");
}

}  // namespace kernel_test
}  // namespace peal::comm
