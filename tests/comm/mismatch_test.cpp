// SPDX-License-Identifier: Apache-2.0
// Ranks that do not call the same: all are told what each called.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "comm/outcomes.hpp"

namespace peal::comm {
namespace mismatch_test {

using test::told;
using test::told_by;
using testing::Each;

using Body = std::function<void(Communicator&)>;

struct Mismatch {
    std::string name;
    Body first, second;  // what rank 0 and what rank 1 calls
    std::string first_text, second_text;
};

template <class T = float>
Body allreduce(std::size_t n, ReduceOp op = ReduceOp::sum) {
    return [=](Communicator& comm) {
        std::vector<T> x(n);
        comm.allreduce(x, op);
    };
}

template <class T = float>
Body rooted(CollectiveKind kind, std::size_t n, int root) {
    return [=](Communicator& comm) {
        std::vector<T> x(n);
        comm.run(call::in_place(kind, x, ReduceOp::sum, root));
    };
}

Body exchange(std::vector<std::int64_t> counts) {
    return [=](Communicator& comm) {
        const auto r = static_cast<std::size_t>(comm.rank());
        const std::vector<float> input(static_cast<std::size_t>(counts[2 * r] + counts[2 * r + 1]));
        std::vector<float> output(static_cast<std::size_t>(counts[r] + counts[2 + r]));
        comm.all_to_all_v(input, output, counts);
    };
}

void barrier(Communicator& comm) { comm.barrier(); }
void make_window(Communicator& comm) { comm.window<float>(4); }

std::vector<Mismatch> mismatches() {
    constexpr auto kReduce = CollectiveKind::reduce, kBroadcast = CollectiveKind::broadcast;
    return {
        {"Collective", allreduce(4), barrier, "allreduce of 4 f32, sum", "barrier"},
        {"Count", allreduce(4), allreduce(5), "allreduce of 4 f32, sum", "allreduce of 5 f32, sum"},
        {"LargeAndSmallCount", allreduce(300000), allreduce(1), "allreduce of 300000 f32, sum",
         "allreduce of 1 f32, sum"},
        {"LargeCounts", allreduce(300000), allreduce(300001), "allreduce of 300000 f32, sum",
         "allreduce of 300001 f32, sum"},
        {"NothingAndSomething", allreduce(0), allreduce(1), "allreduce of 0 f32, sum",
         "allreduce of 1 f32, sum"},
        {"Type", allreduce(4), allreduce<std::int32_t>(4), "allreduce of 4 f32, sum",
         "allreduce of 4 i32, sum"},
        {"Operation", allreduce(4), allreduce(4, ReduceOp::max), "allreduce of 4 f32, sum",
         "allreduce of 4 f32, max"},
        {"RootOfAReduce", rooted(kReduce, 3, 0), rooted(kReduce, 3, 1),
         "reduce of 3 f32, sum, root 0", "reduce of 3 f32, sum, root 1"},
        {"RootOfABroadcast", rooted(kBroadcast, 3, 0), rooted(kBroadcast, 3, 1),
         "broadcast of 3 f32, root 0", "broadcast of 3 f32, root 1"},
        {"RootOfALargeBroadcast", rooted(kBroadcast, 300000, 0), rooted(kBroadcast, 300000, 1),
         "broadcast of 300000 f32, root 0", "broadcast of 300000 f32, root 1"},
        {"ScanAndExscan",
         [](Communicator& comm) {
             std::vector<float> x(3);
             comm.scan(x);
         },
         [](Communicator& comm) {
             std::vector<float> x(3);
             comm.exscan(x, ReduceOp::max);
         },
         "scan of 3 f32, sum", "exscan of 3 f32, max"},
        {"RootedAndNot", rooted(kBroadcast, 3, 0), allreduce(3), "broadcast of 3 f32, root 0",
         "allreduce of 3 f32, sum"},
        {"WindowSize", make_window, [](Communicator& comm) { comm.window<float>(5); },
         "window of 16 bytes", "window of 20 bytes"},
        {"WindowAndCall", make_window, barrier, "window of 16 bytes", "barrier"},
        {"SplitAndCall", [](Communicator& comm) { comm.split(0); }, barrier, "split", "barrier"},
    };
}

class CallsThatDiffer : public testing::TestWithParam<Mismatch> {};

// A rank that waits for nobody hears of it in a later call; the barriers are that call.
TEST_P(CallsThatDiffer, AreToldToAll) {
    const Mismatch& the = GetParam();
    const std::string expected = "the ranks made different calls:\n  rank 0: " + the.first_text +
                                 "\n  rank 1: " + the.second_text;
    EXPECT_THAT(told(2,
                     [&](Communicator& comm) {
                         comm.barrier();
                         (comm.rank() == 0 ? the.first : the.second)(comm);
                         comm.barrier();
                         comm.barrier();
                     }),
                Each(expected));
}

TEST_P(CallsThatDiffer, AreToldAlsoIfTheyWereStarted) {
    const Mismatch& the = GetParam();
    EXPECT_THAT(told(2,
                     [&](Communicator& comm) {
                         std::vector<float> x(10);
                         Pending before = comm.start_allreduce(x);
                         (comm.rank() == 0 ? the.first : the.second)(comm);
                         Pending after = comm.start_barrier();
                         after.wait();
                     }),
                Each("the ranks made different calls:\n  rank 0: " + the.first_text +
                     "\n  rank 1: " + the.second_text));
}

INSTANTIATE_TEST_SUITE_P(All, CallsThatDiffer, testing::ValuesIn(mismatches()),
                         [](const auto& info) { return info.param.name; });

TEST(DifferentCalls, InTheCountsOfAnExchange) {
    const std::vector<std::string> messages = told(2, [](Communicator& comm) {
        exchange(comm.rank() == 0 ? std::vector<std::int64_t>{1, 2, 3, 4}
                                  : std::vector<std::int64_t>{1, 2, 4, 4})(comm);
    });
    EXPECT_THAT(messages, Each("the ranks made different calls:\n"
                               "  rank 0: all_to_all_v of f32, counts [1 2] [3 4]\n"
                               "  rank 1: all_to_all_v of f32, counts [1 2] [4 4]"));
}

// As those that were called once are written over, so are they told.
TEST(DifferentCalls, InTheCountsOfTheLastOfMany) {
    const std::vector<std::string> messages = told(2, [](Communicator& comm) {
        for (std::int64_t n = 1; n <= 20; ++n) {
            const std::int64_t mine = n == 20 && comm.rank() == 1 ? 21 : n;
            std::vector<float> given(static_cast<std::size_t>(comm.rank() == 0 ? mine : 3));
            std::vector<float> all(static_cast<std::size_t>(mine) + 3);
            comm.allgather_v(given, all, std::vector<std::int64_t>{mine, 3});
        }
    });
    EXPECT_THAT(messages, Each("the ranks made different calls:\n"
                               "  rank 0: allgather_v of f32, counts 20 3\n"
                               "  rank 1: allgather_v of f32, counts 21 3"));
}

// What is longer than what is kept of it ends in dots.
TEST(DifferentCalls, InCountsThatAreLong) {
    constexpr std::size_t kRanks = 8, kCount = 1000, kKept = 240;
    const std::vector<std::string> messages = told(kRanks, [](Communicator& comm) {
        std::vector<std::int64_t> counts(kRanks * kRanks, kCount);
        if (comm.rank() == 7) counts.back() = 999;
        const std::vector<float> given(comm.rank() == 7 ? 8 * kCount - 1 : 8 * kCount);
        std::vector<float> got(given.size());
        comm.all_to_all_v(given, got, counts);
    });
    std::string all;
    for (std::size_t row = 0; row < kRanks; ++row) {
        all += std::string(row == 0 ? "" : " ") + "[1000 1000 1000 1000 1000 1000 1000 1000]";
    }
    const std::string line = "all_to_all_v of f32, counts " + all.substr(0, kKept - 3) + "...\n";
    EXPECT_THAT(messages, Each(testing::HasSubstr(line)));  // of who has called by then
}

TEST(DifferentCalls, InAWindowAndInPrivateMemory) {
    EXPECT_THAT(told(2,
                     [](Communicator& comm) {
                         const Window<float> window = comm.window<float>(4);
                         if (comm.rank() == 0)
                             comm.allreduce(window);
                         else
                             allreduce(4)(comm);
                     }),
                Each("the ranks made different calls:\n  rank 0: allreduce of 4 f32, sum, in "
                     "window 1\n  rank 1: allreduce of 4 f32, sum"));
}

TEST(DifferentCalls, InWindowsOfOneSize) {
    const std::string expected =
        "the ranks made different calls:\n  rank 0: allreduce of 4 f32, sum, in window 1\n"
        "  rank 1: allreduce of 4 f32, sum, in window 2";
    EXPECT_THAT(told(2,
                     [](Communicator& comm) {
                         const Window<float> first = comm.window<float>(4);
                         const Window<float> second = comm.window<float>(4);
                         comm.allreduce(comm.rank() == 0 ? first : second);
                         comm.barrier();
                     }),
                Each(expected));
    EXPECT_THAT(told(2,
                     [](Communicator& comm) {
                         const Window<float> first = comm.window<float>(4);
                         const Window<float> second = comm.window<float>(4);
                         comm.prepare_allreduce(comm.rank() == 0 ? first : second).run();
                         comm.barrier();
                     }),
                Each(expected));
}

// Among many: who was slow may have come too late to be quoted.
TEST(DifferentCalls, AmongManyAreToldToAll) {
    for (int odd = 0; odd < 5; ++odd) {
        const std::vector<std::string> messages = told(5, [&](Communicator& comm) {
            for (int i = 0; i < 20; ++i) comm.barrier();
            allreduce(comm.rank() == odd ? 8 : 7)(comm);
        });
        for (const std::string& message : messages) {
            std::string pattern = "the ranks made different calls:";
            for (int rank = 0; rank < 5; ++rank) {
                pattern += "\n  rank " + std::to_string(rank) +
                           ": (has not called yet|allreduce of " + (rank == odd ? "8" : "7") +
                           " f32, sum)";
            }
            EXPECT_THAT(message, testing::MatchesRegex(pattern));
        }
    }
}

TEST(BrokenCommunicator, RefusesFurtherCalls) {
    const std::string why =
        "the ranks made different calls:\n  rank 0: allreduce of 1 f32, sum\n  rank 1: allreduce "
        "of 2 f32, sum";
    const std::string refusal = "the communicator is broken: " + why;
    told(2, [&](Communicator& comm) {
        std::vector<float> x(1);
        Prepared prepared = comm.prepare_allreduce(x);
        const auto differ = [&] { allreduce(comm.rank() == 0 ? 1 : 2)(comm); };
        EXPECT_EQ(told_by(differ), why);
        EXPECT_EQ(told_by([&] { comm.barrier(); }), refusal);
        EXPECT_EQ(told_by([&] { comm.start_barrier(); }), refusal);
        EXPECT_EQ(told_by([&] { prepared.run(); }), refusal);
        EXPECT_EQ(told_by([&] { prepared.start(); }), refusal);
        EXPECT_EQ(told_by([&] { comm.window<float>(1); }), refusal);
        EXPECT_EQ(told_by([&] { comm.split(0); }), refusal);
    });
}

TEST(BrokenCommunicator, LeavesOthersAlone) {
    told(2, [&](Communicator& comm) {
        Communicator part = comm.split(0);
        EXPECT_NE(told_by([&] { allreduce(comm.rank() == 0 ? 1 : 2)(part); }), "");
        std::vector<int> one = {1};
        comm.allreduce(one);
        EXPECT_EQ(one[0], 2);
    });
}

TEST(BrokenCommunicator, FailsEveryCallThatWasStarted) {
    told(2, [&](Communicator& comm) {
        std::vector<float> x(comm.rank() == 0 ? 1 : 2), y(3);
        std::vector<Pending> calls;
        const auto start = [&] {
            calls.push_back(comm.start_allreduce(x));
            calls.push_back(comm.start_allreduce(y));
        };
        std::string first = told_by(start);
        for (Pending& call : calls) EXPECT_NE(first + told_by([&] { call.wait(); }), "");
        EXPECT_THAT(told_by([&] { comm.barrier(); }),
                    testing::StartsWith("the communicator is broken: the ranks made different"));
    });
}

}  // namespace mismatch_test
}  // namespace peal::comm
