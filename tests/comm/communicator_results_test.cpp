// SPDX-License-Identifier: Apache-2.0
// Every collective gives what it must: by element type, operation, length, number of ranks and
// place of the data, in threads and in processes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <tuple>

#include "comm/attempt.hpp"
#include "comm/profile_variable.hpp"

namespace peal::comm {
namespace communicator_results_test {

using test::Attempt;
using test::Ranks;
using test::Task;
using test::task_of;

constexpr std::uint64_t kLengths[] = {0, 1, 3, 7, 12, 13, 100, 1000, 5000};

template <class... T, class Act>
void for_each_of(const Act& act) {
    (act(T{}), ...);
}
template <class Act>
void for_each_type(const Act& act) {
    for_each_of<f16, bf16, float, double, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>(act);
}

class CommunicatorResults : public testing::TestWithParam<std::tuple<Ranks, int>> {
protected:
    static void on_ranks(const std::function<void(Communicator&)>& body) {
        test::run_ranks(std::get<0>(GetParam()), std::get<1>(GetParam()), body);
    }
};

TEST_P(CommunicatorResults, OfEveryTypeAndOperation) {
    on_ranks([](Communicator& comm) {
        std::size_t turn = 0;
        for_each_type([&]<class T>(T) {
            for (Task task : {task_of(CollectiveKind::allreduce, comm.nranks(), 0, 5),
                              task_of(CollectiveKind::reduce_scatter, comm.nranks(), 0, 6),
                              task_of(CollectiveKind::reduce, comm.nranks(), 0, 7),
                              task_of(CollectiveKind::scan, comm.nranks(), 0, 8),
                              task_of(CollectiveKind::exscan, comm.nranks(), 0, 9)}) {
                task.with_negatives = !std::is_unsigned_v<T>;
                for (const ReduceOp op : kReduceOps) {
                    task.op = op;
                    task.count = kLengths[1 + (++turn % 7)];
                    test::attempt<T>(comm, task);
                }
            }
        });
    });
}

// A variable is a vector of one.
TEST_P(CommunicatorResults, OfVariables) {
    on_ranks([](Communicator& comm) {
        const int ranks = comm.nranks();
        float loss = 0.5F;
        comm.allreduce(loss);
        EXPECT_EQ(loss, 0.5F * static_cast<float>(ranks));
        const auto mine = static_cast<std::uint64_t>(comm.rank()) + (std::uint64_t{1} << 63);
        std::uint64_t largest = 0;
        comm.allreduce(mine, largest, ReduceOp::max);
        EXPECT_EQ(largest, static_cast<std::uint64_t>(ranks - 1) + (std::uint64_t{1} << 63));
        std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
        comm.allgather(mine, all);
        EXPECT_EQ(all.back(), largest);
        std::uint32_t chosen = comm.rank() == 0 ? 0xffffffff : 0;
        comm.broadcast(chosen);
        EXPECT_EQ(chosen, 0xffffffff);
    });
}

TEST_P(CommunicatorResults, OfEveryTypeAndLength) {
    on_ranks([](Communicator& comm) {
        unsigned seed = 0;
        for_each_type([&]<class T>(T) {
            for (const CollectiveKind kind : kCollectives) {
                for (const std::uint64_t count : kLengths) {
                    if (++seed % 7 > 2) continue;  // all come up, not with every type
                    Task task = task_of(kind, comm.nranks(), count, seed);
                    task.with_negatives = !std::is_unsigned_v<T>;
                    test::attempt<T>(comm, task);
                }
            }
        });
    });
}

// Twice in each window: it is free when a call returns.
TEST_P(CommunicatorResults, InWindows) {
    on_ranks([](Communicator& comm) {
        unsigned seed = 0;
        for_each_type([&]<class T>(T) {
            for (const CollectiveKind kind : kCollectives) {
                if (!Attempt<T>::works_in_window(kind)) continue;
                for (const std::uint64_t count : {0, 13, 1000}) {
                    if (++seed % 2 != 0) continue;  // with every other type
                    Task task = task_of(kind, comm.nranks(), count, seed / 2);
                    task.with_negatives = !std::is_unsigned_v<T>;
                    const Window<T> window = comm.window<T>(Attempt<T>::window_size(task));
                    Attempt<T>(comm, task).in_window(window);
                    ++task.seed;
                    Attempt<T>(comm, task).in_window(window);
                }
            }
        });
    });
}

// A rule may name recipes that have no form on windows: they take a rank's part for private data.
TEST_P(CommunicatorResults, InWindowsThatAreStaged) {
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            if (!Attempt<float>::works_in_window(kind)) continue;
            if (offers(kind, recipe.name, Placement::window)) continue;
            const test::ProfileWith profile(
                {kind, Where::window, kMaxRanks, Rule::kAny, std::string(recipe.name), 0, false});
            on_ranks([&](Communicator& comm) {
                for (const std::uint64_t count : {0, 1, 13, 1000}) {
                    Task task = task_of(kind, comm.nranks(), count, 3);
                    const auto window = comm.window<float>(Attempt<float>::window_size(task));
                    const std::string taken = comm.recipe(call::in_window(kind, window));
                    if (count > 0 && taken != recipe.name) {
                        throw std::runtime_error("expected " + std::string(recipe.name) +
                                                 ", found " + taken);
                    }
                    for (; task.seed < 6; ++task.seed) Attempt<float>(comm, task).in_window(window);
                }
            });
        }
    }
}

TEST_P(CommunicatorResults, OfLongVectors) {
    on_ranks([](Communicator& comm) {
        // The reference takes most of the time.
        const std::vector<std::uint64_t> counts = comm.nranks() <= 2
                                                      ? std::vector<std::uint64_t>{70001, 300000}
                                                      : std::vector<std::uint64_t>{70001};
        for (const std::uint64_t count : counts) {
            for (const CollectiveKind kind : kCollectives) {
                const Task task = task_of(kind, comm.nranks(), count, 3);
                test::attempt<float>(comm, task);
                if (!Attempt<float>::works_in_window(kind)) continue;
                Attempt<float>(comm, task)
                    .in_window(comm.window<float>(Attempt<float>::window_size(task)));
            }
        }
    });
}

// Where the order of additions matters, it is the same for everybody.
TEST_P(CommunicatorResults, AreTheSameBitsOnEveryRank) {
    on_ranks([](Communicator& comm) {
        std::mt19937 random(static_cast<unsigned>(comm.rank()));
        for (const std::size_t count : {3, 100, 1000, 20000, 100003}) {
            std::vector<float> sum(count);
            for (float& x : sum) x = std::ldexp(static_cast<float>(random()), random() % 40);
            comm.allreduce(sum);
            std::vector<float> everybodys(count * static_cast<std::size_t>(comm.nranks()));
            comm.allgather(sum, everybodys);
            for (int rank = 0; rank < comm.nranks(); ++rank) {
                const float* other = &everybodys[static_cast<std::size_t>(rank) * count];
                if (std::memcmp(other, sum.data(), count * sizeof(float)) != 0) {
                    throw std::runtime_error(fmt::format("rank {} has other sums", rank));
                }
            }
        }
    });
}

// The named forms, as a program would write them.
TEST_P(CommunicatorResults, ByTheNamesOfTheCollectives) {
    on_ranks([](Communicator& comm) {
        const int p = comm.nranks();
        const auto blocks = static_cast<std::size_t>(p);
        const auto expect = [&](bool holds, const char* what) {
            if (!holds) throw std::runtime_error(fmt::format("rank {}: {}", comm.rank(), what));
        };
        const int root = p - 1;
        std::vector<int> one = {comm.rank() + 1};
        std::vector<int> all(blocks, 0), ranks(blocks), result(1);
        std::iota(ranks.begin(), ranks.end(), 1);

        comm.allgather(one, all);
        expect(all == ranks, "allgather");
        comm.allreduce(one, result, ReduceOp::max);
        expect(result[0] == p, "allreduce");
        comm.reduce(one, result, ReduceOp::sum, root);
        expect(comm.rank() != root || result[0] == p * (p + 1) / 2, "reduce");
        comm.scatter(ranks, result, root);
        expect(result == one, "scatter");
        std::fill(all.begin(), all.end(), 0);
        comm.gather(one, all, root);
        expect(comm.rank() != root || all == ranks, "gather");
        comm.reduce_scatter(ranks, result, ReduceOp::sum);
        expect(result[0] == p * (comm.rank() + 1), "reduce_scatter");
        comm.all_to_all(ranks, all);
        expect(all == std::vector<int>(blocks, comm.rank() + 1), "all_to_all");
        const std::vector<std::int64_t> counts(blocks * blocks, 1);
        std::fill(all.begin(), all.end(), 0);
        comm.all_to_all_v(ranks, all, counts);
        expect(all == std::vector<int>(blocks, comm.rank() + 1), "all_to_all_v");
        const std::vector<std::int64_t> ones(blocks, 1);
        comm.allgather_v(one, all, ones);
        expect(all == ranks, "allgather_v");
        comm.reduce_scatter_v(ranks, result, ones, ReduceOp::sum);
        expect(result[0] == p * (comm.rank() + 1), "reduce_scatter_v");
        comm.scan(one, result, ReduceOp::sum);
        expect(result[0] == (comm.rank() + 1) * (comm.rank() + 2) / 2, "scan");
        comm.exscan(result, ReduceOp::max);
        expect(comm.rank() == 0 || result[0] == comm.rank() * (comm.rank() + 1) / 2, "exscan");
        comm.broadcast(one, root);
        expect(one[0] == p, "broadcast");
        comm.barrier();
    });
}

std::string case_name(const testing::TestParamInfo<std::tuple<Ranks, int>>& info) {
    const bool threads = std::get<0>(info.param) == Ranks::threads;
    return fmt::format("{}{}", std::get<1>(info.param), threads ? "threads" : "processes");
}

INSTANTIATE_TEST_SUITE_P(All, CommunicatorResults,
                         testing::Combine(testing::Values(Ranks::threads, Ranks::processes),
                                          testing::Values(1, 2, 3, 5)),
                         case_name);

}  // namespace communicator_results_test
}  // namespace peal::comm
