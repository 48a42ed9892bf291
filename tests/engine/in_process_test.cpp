// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <thread>

#include "engine/hand_made.hpp"
#include "support/no_threads.hpp"

namespace peal::engine {
namespace in_process_test {

using namespace testing_plans;

constexpr int kRankCounts[] = {1, 2, 3, 16, 64};

// Inputs that differ by rank, element and call, and their sum.
std::int32_t input(int rank, std::uint64_t i, int call) {
    return rank * 1000 + static_cast<std::int32_t>(i) * 7 + call;
}
std::int32_t sum_of_inputs(int nranks, std::uint64_t i, int call) {
    std::int32_t sum = 0;
    for (int rank = 0; rank < nranks; ++rank) sum += input(rank, i, call);
    return sum;
}

void expect_allreduce(InProcessEngine& engine, const std::vector<Plan>& plans, World& world,
                      std::uint64_t count, int call) {
    const int nranks = static_cast<int>(plans.size());
    for (int rank = 0; rank < nranks; ++rank) {
        for (std::uint64_t i = 0; i < count; ++i) {
            world.set(rank, PlanWriter::kInput, i, input(rank, i, call));
        }
    }
    engine.run(plans, world.bindings());
    for (int rank = 0; rank < nranks; ++rank) {
        for (std::uint64_t i = 0; i < count; ++i) {
            ASSERT_EQ(world.get<std::int32_t>(rank, PlanWriter::kOutput, i),
                      sum_of_inputs(nranks, i, call))
                << "rank " << rank << " of " << nranks << ", element " << i << ", call " << call;
        }
    }
}

TEST(InProcess, SaysWhenThereAreNoMoreThreads) {
    const auto plans = mesh_allreduce(4, 33);
    World world(plans);
    InProcessEngine engine(4, {3, std::nullopt});
    {
        const test::NoThreads none;
        try {
            engine.run(plans, world.bindings());
            FAIL() << "nothing was thrown";
        } catch (const Error& error) {
            EXPECT_EQ(error.fault(), Fault::resource);
            EXPECT_STREQ(error.what(),
                         "cannot start thread 2 of 3 of the engine: Resource temporarily "
                         "unavailable; end other programs or raise `ulimit -u`");
        }
    }
    expect_allreduce(engine, plans, world, 33, 0);
}

TEST(InProcess, MeshAllreduceOnAnyNumberOfThreads) {
    for (const int nranks : kRankCounts) {
        for (const int threads : {0, 1, 2, 4}) {
            const auto plans = mesh_allreduce(nranks, 33);
            World world(plans);
            InProcessEngine engine(nranks, {threads, std::nullopt});
            for (int call = 0; call < 5; ++call) {
                expect_allreduce(engine, plans, world, 33, call);
            }
        }
    }
}

TEST(InProcess, MeshAllreduceOfManyBytes) {
    constexpr std::uint64_t kCount = 100'003;
    const auto plans = mesh_allreduce(4, kCount);
    for (const int threads : {0, 2, 4}) {
        World world(plans);
        InProcessEngine engine(4, {threads, std::nullopt});
        for (int call = 0; call < 2; ++call) expect_allreduce(engine, plans, world, kCount, call);
    }
}

TEST(InProcess, MeshAllreduceInManyInterleavings) {
    for (const int nranks : kRankCounts) {
        const auto plans = mesh_allreduce(nranks, 5);
        World world(plans);
        for (std::uint64_t seed = 0; seed < 40; ++seed) {
            InProcessEngine engine(nranks, {0, seed});
            for (int call = 0; call < 2; ++call) expect_allreduce(engine, plans, world, 5, call);
        }
    }
}

TEST(InProcess, TenThousandTinyRuns) {
    const auto plans = mesh_allreduce(4, 1);
    for (const int threads : {0, 2}) {
        World world(plans);
        for (int rank = 0; rank < 4; ++rank) world.set(rank, PlanWriter::kInput, 0, rank + 1);
        InProcessEngine engine(4, {threads, std::nullopt});
        for (int call = 0; call < 10'000; ++call) engine.run(plans, world.bindings());
        EXPECT_EQ(world.symmetric(PlanWriter::kSignal).generation(), 20'000);
        for (int rank = 0; rank < 4; ++rank) {
            EXPECT_EQ(world.get<std::int32_t>(rank, PlanWriter::kOutput, 0), 10);
        }
    }
}

// A token goes round three times, against the order in which a thread visits its ranks.
TEST(InProcess, TokenAgainstTheOrderOfRanks) {
    constexpr int kRanks = 16;
    constexpr int kRounds = 3;
    const auto plans = for_all_ranks(kRanks, [](int rank) {
        PlanWriter w(rank, kRanks, standard_buffers(Element::i64, 8, 8, 1));
        const int left = (rank + kRanks - 1) % kRanks;
        for (int round = 1; round <= kRounds; ++round) {
            if (rank != 0 || round > 1) w.wait(0, {rank == 0 ? round - 1 : round, 0});
            w.emit(Map{
                MapOp::add_scalar, Element::i64, 1, {w.kWindow, 0, 0, 8}, {w.kWindow, 0, 0, 8}});
            w.notify(left, 0, {round, 0});
        }
        return w.finish();
    });
    for (const int threads : {1, 2, 4}) {
        World world(plans);
        InProcessEngine engine(kRanks, {threads, std::nullopt});
        engine.run(plans, world.bindings());
        EXPECT_EQ(world.get<std::int64_t>(0, PlanWriter::kWindow, 0), kRanks * kRounds);
    }
}

// Everybody adds to one cell of rank 0, which then lets everybody go: `add`, i64 cells, and cells
// packed tightly.
TEST(InProcess, SharedCounter) {
    constexpr int kRanks = 8;
    const auto plans = for_all_ranks(kRanks, [](int rank) {
        PlanWriter w(rank, kRanks,
                     {signal("sig", 2, Element::i64, 8), window("data", Element::i64, 8)});
        w.notify(0, 1, {1LL << 40, 0}, NotifyOp::add, 0);
        if (rank == 0) {
            w.wait(1, {kRanks * (1LL << 40), kRanks * (1LL << 40)}, Compare::eq, 0);
            for (int peer = 0; peer < kRanks; ++peer) w.notify(peer, 0, {1, 1}, NotifyOp::set, 0);
        }
        w.wait(0, {1, 1}, Compare::ge, 0);
        return w.finish(1);
    });
    for (const int threads : {1, 2, 4}) {
        World world(plans);
        InProcessEngine engine(kRanks, {threads, std::nullopt});
        for (int call = 0; call < 20; ++call) engine.run(plans, world.bindings());
        EXPECT_EQ(world.get<std::int64_t>(0, 0, 1), 20 * kRanks * (1LL << 40));
        EXPECT_EQ(world.symmetric(0).generation(), 20);
    }
}

TEST(InProcess, TilesFlagsAndMaps) {
    PlanWriter w(0, 1,
                 {argument("inp", Direction::in, Element::f32, 8),
                  argument("out", Direction::out, Element::f32, 8)});
    const Range tile{kTile, 0, 64, 8};
    w.emit(Copy{tile, {0, 0, 0, 8}});
    w.emit(SetFlag{Pipe::load, Pipe::vector, 3});
    w.emit(WaitFlag{Pipe::load, Pipe::vector, 3});
    w.emit(Map{MapOp::mul_scalar, Element::f32, 2.5, tile, tile});
    w.emit(PipeBarrier{Pipe::all});
    w.emit(Copy{{1, 0, 0, 8}, tile});
    std::vector<Plan> plans = {w.finish()};
    plans[0].tile_bytes = 72;
    World world(plans);
    world.set(0, 0, 0, 2.0F);
    world.set(0, 0, 1, -4.0F);
    InProcessEngine engine(1);
    const RunReport report = engine.run(plans, world.bindings());
    EXPECT_EQ(report.instructions, 6U);
    EXPECT_GT(report.seconds, 0);
    EXPECT_EQ(world.get<float>(0, 1, 0), 5.0F);
    EXPECT_EQ(world.get<float>(0, 1, 1), -10.0F);
}

TEST(InProcess, ArgumentsAtAnyAddress) {
    const auto plans = mesh_allreduce(2, 3);
    World world(plans);
    std::vector<std::byte> memory(4 * 16 + 1);
    for (std::size_t rank = 0; rank < 2; ++rank) {
        for (std::size_t b = 0; b < 2; ++b) {
            world.bindings()[rank][b].argument =
                std::span(memory).subspan(1 + (rank * 2 + b) * 16, 13);
        }
    }
    InProcessEngine engine(2);
    expect_allreduce(engine, plans, world, 3, 0);
}

// ---------------------------------------------------------------------------- interleavings

// Every rank writes its number to the same place: what is left tells who came last.
std::int32_t last_writer(std::uint64_t seed) {
    constexpr int kRanks = 16;
    const auto plans = for_all_ranks(kRanks, [](int rank) {
        PlanWriter w(rank, kRanks, standard_buffers(Element::i32, 4, 4, 1));
        w.emit(Copy{{w.kWindow, 0, 0, 4}, {w.kInput, rank, 0, 4}});
        return w.finish();
    });
    World world(plans);
    for (int rank = 0; rank < kRanks; ++rank) world.set(rank, PlanWriter::kInput, 0, rank);
    InProcessEngine(kRanks, {0, seed}).run(plans, world.bindings());
    return world.get<std::int32_t>(0, PlanWriter::kWindow, 0);
}

TEST(InProcess, SameSeedSameInterleaving) {
    std::set<std::int32_t> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const std::int32_t last = last_writer(seed);
        EXPECT_EQ(last_writer(seed), last);
        seen.insert(last);
    }
    EXPECT_GT(seen.size(), 10U);
}

// ---------------------------------------------------------------------------- random programs

// A random sequence of messages between random ranks: the sender copies its number to a place of
// its own at the receiver and rings; the receiver waits and adds it to its number. Carried out in
// sequence it cannot fail, so in any order that respects the signals it must give the same numbers.
struct Messages {
    std::vector<Plan> plans;
    std::vector<std::int64_t> result;
};

Messages random_messages(int nranks, int messages, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto slots = static_cast<std::uint64_t>(messages);
    const std::uint64_t own = slots * 8;
    std::vector<PlanWriter> writers;
    Messages made;
    for (int rank = 0; rank < nranks; ++rank) {
        writers.emplace_back(
            rank, nranks,
            standard_buffers(Element::i64, 8, own + 8, static_cast<std::uint64_t>(nranks)));
        made.result.push_back(rank + 1);
        writers.back().emit(
            Copy{{PlanWriter::kWindow, rank, own, 8}, {PlanWriter::kInput, rank, 0, 8}});
    }
    const auto n = static_cast<std::uint64_t>(nranks);
    std::vector<std::int64_t> rung(n * n, 0);
    for (std::uint64_t slot = 0; slot < slots; ++slot) {
        const std::uint64_t from = random() % n;
        const std::uint64_t to = random() % n;
        const int sender = static_cast<int>(from);
        const int receiver = static_cast<int>(to);
        const std::int64_t value = ++rung[from * n + to];
        const Range place{PlanWriter::kWindow, receiver, slot * 8, 8};
        writers[from].emit(Copy{place, {PlanWriter::kWindow, sender, own, 8}});
        writers[from].notify(receiver, from, {value, 0});
        writers[to].wait(from, {value, 0});
        const Range sum{PlanWriter::kWindow, receiver, own, 8};
        writers[to].emit(Reduce{ReduceOp::sum, Element::i64, sum, {sum, place}});
        made.result[to] = static_cast<std::int64_t>(static_cast<std::uint64_t>(made.result[to]) +
                                                    static_cast<std::uint64_t>(made.result[from]));
    }
    for (PlanWriter& writer : writers) made.plans.push_back(writer.finish());
    return made;
}

void expect_messages(const Messages& made, const EngineOptions& options) {
    const int nranks = static_cast<int>(made.plans.size());
    World world(made.plans);
    for (int rank = 0; rank < nranks; ++rank) {
        world.set(rank, PlanWriter::kInput, 0, static_cast<std::int64_t>(rank + 1));
    }
    InProcessEngine engine(nranks, options);
    engine.run(made.plans, world.bindings());
    const std::size_t own = made.plans[0].buffers[PlanWriter::kWindow].bytes / 8 - 1;
    for (int rank = 0; rank < nranks; ++rank) {
        ASSERT_EQ(world.get<std::int64_t>(rank, PlanWriter::kWindow, own),
                  made.result[static_cast<std::size_t>(rank)]);
    }
}

TEST(InProcess, RandomMessagesGiveTheSequentialResult) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const Messages made = random_messages(2 + static_cast<int>(seed % 7), 200, seed);
        expect_messages(made, {0, seed});
        for (const int threads : {1, 2, 4}) expect_messages(made, {threads, std::nullopt});
    }
}

// ---------------------------------------------------------------------------- generations, options

TEST(InProcess, GenerationMovesOnOnlyAfterSuccess) {
    auto plans = mesh_allreduce(2, 1);
    World world(plans);
    InProcessEngine engine(2, {2, std::nullopt});
    engine.run(plans, world.bindings());
    EXPECT_EQ(world.symmetric(PlanWriter::kSignal).generation(), 2);
    plans[1].instructions.clear();
    EXPECT_THROW(engine.run(plans, world.bindings()), Error);
    EXPECT_EQ(world.symmetric(PlanWriter::kSignal).generation(), 2);
}

TEST(InProcess, UsableAfterAnError) {
    for (const int threads : {1, 2, 4}) {
        const auto good = mesh_allreduce(4, 8);
        auto bad = good;
        bad[2].instructions.resize(1);
        InProcessEngine engine(4, {threads, std::nullopt});
        for (int round = 0; round < 50; ++round) {
            World broken(bad);
            EXPECT_THROW(engine.run(bad, broken.bindings()), Error);
            World world(good);
            expect_allreduce(engine, good, world, 8, round);
        }
    }
}

TEST(InProcess, CallersTakeTurns) {
    const auto plans = mesh_allreduce(4, 8);
    InProcessEngine engine(4, {2, std::nullopt});
    const auto call_often = [&] {
        World world(plans);
        for (int call = 0; call < 50; ++call) expect_allreduce(engine, plans, world, 8, call);
    };
    std::thread other(call_often);
    call_often();
    other.join();
}

TEST(InProcess, EmptyPlansFinish) {
    const auto plans = for_all_ranks(3, [](int rank) { return PlanWriter(rank, 3, {}).finish(); });
    InProcessEngine engine(3, {2, std::nullopt});
    EXPECT_EQ(engine.run(plans, {{}, {}, {}}).instructions, 0U);
}

TEST(InProcess, RefusesBadOptions) {
    EXPECT_EQ(message_of(Fault::usage, [] { InProcessEngine engine(0); }),
              "engine: expected at least 1 rank, found 0");
    EXPECT_EQ(message_of(Fault::usage,
                         [] {
                             InProcessEngine engine(1, {-1, std::nullopt});
                         }),
              "engine: expected 0 or more threads, found -1");
}

// ---------------------------------------------------------------------------- signal overflow

Plan ring_once(NotifyOp op, Value value, Element element) {
    PlanWriter w(0, 1, {signal("sig", 1, element)});
    return w.line(2)
        .notify(0, 0, value, op, 0)
        .finish(1, std::make_shared<Source>("ring.peal",
                                            "kernel k(sig) {\n    notify sig[0] += n\n}\n"));
}

TEST(InProcess, SignalOverflowIsReported) {
    const std::string place = "   (ring.peal:2: \"notify sig[0] += n\")\n  ";
    const auto run_twice = [](const Plan& plan) {
        const std::vector<Plan> plans = {plan};
        World world(plans);
        InProcessEngine engine(1);
        engine.run(plans, world.bindings());
        engine.run(plans, world.bindings());
    };
    const auto message = [&](NotifyOp op, Value value, Element element) {
        return message_of(Fault::wrong, [&] { run_twice(ring_once(op, value, element)); });
    };
    constexpr std::int64_t kMax32 = 2147483647;
    constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(message(NotifyOp::set, {kMax32, 1}, Element::i32),
              "signal overflow: rank 0  instruction 0  notify sig[0] = generation + 2147483647" +
                  place + "2147483648 does not fit in i32");
    EXPECT_EQ(message(NotifyOp::add, {kMax32, 0}, Element::i32),
              "signal overflow: rank 0  instruction 0  notify sig[0] += 2147483647" + place +
                  "2147483647 + 2147483647 does not fit in i32");
    EXPECT_EQ(message(NotifyOp::add, {kMax64, 0}, Element::i64),
              "signal overflow: rank 0  instruction 0  notify sig[0] += 9223372036854775807" +
                  place + "9223372036854775807 + 9223372036854775807 does not fit in i64");
    EXPECT_EQ(message(NotifyOp::set, {kMax64, 1}, Element::i64),
              "signal overflow: rank 0  instruction 0  notify sig[0] = generation + "
              "9223372036854775807" +
                  place + "the value does not fit in 64 bits");
}

}  // namespace in_process_test
}  // namespace peal::engine
