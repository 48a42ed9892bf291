// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "engine/hand_made.hpp"
#include "engine/kernels/kernels.hpp"
#include "engine/kernels/scalar.hpp"

namespace peal::engine {
namespace accumulate_test {

using namespace testing_plans;

// Alone, it is the sum of two, to the bit.
TEST(Accumulate, AddsAsAReductionDoes) {
    std::mt19937_64 random(1);
    for (const Element element : kElements) {
        for (const std::size_t count : {0, 1, 7, 1000}) {
            std::vector<std::uint64_t> dst(count + 1), src(count + 1);
            for (std::uint64_t& word : dst) word = random();
            for (std::uint64_t& word : src) word = random();
            std::vector<std::uint64_t> expected = dst;
            const std::array<const void*, 2> sources = {dst.data(), src.data()};
            scalar::reduce(element, ReduceOp::sum, expected.data(), sources, count);
            kernels::accumulate(element, dst.data(), src.data(), count);
            ASSERT_EQ(dst, expected) << name(element) << ' ' << count;
        }
    }
}

// Ones of every type, as their bits.
std::uint64_t one(Element element) {
    switch (element) {
        case Element::f16: return 0x3c00;
        case Element::bf16: return 0x3f80;
        case Element::f32: return 0x3f800000;
        case Element::f64: return 0x3ff0000000000000;
        default: return 1;
    }
}

// Whole numbers up to 200 are exact in every type, so nothing may be lost. (Integers of 8 bits
// wrap, and so does what is expected of them.)
TEST(Accumulate, NothingIsLostBetweenThreads) {
    constexpr int kThreads = 4, kRounds = 50;
    constexpr std::size_t kCount = 33;
    for (const Element element : kElements) {
        const std::size_t size = bytes_of(element);
        alignas(64) std::array<std::byte, 8 * kCount> sum{};
        std::array<std::byte, 8 * kCount> ones{};
        const std::uint64_t bits = one(element);
        for (std::size_t i = 0; i < kCount; ++i) std::memcpy(ones.data() + i * size, &bits, size);
        std::vector<std::thread> threads;
        for (int t = 0; t < kThreads; ++t) {
            threads.emplace_back([&] {
                for (int round = 0; round < kRounds; ++round) {
                    kernels::accumulate(element, sum.data(), ones.data(), kCount);
                }
            });
        }
        for (std::thread& thread : threads) thread.join();
        const double total = kThreads * kRounds;
        std::array<std::byte, 8 * kCount> expected{};
        scalar::convert(element, Element::i64, expected.data(),
                        std::vector<std::int64_t>(kCount, static_cast<std::int64_t>(total)).data(),
                        kCount);
        EXPECT_EQ(sum, expected) << name(element);
    }
}

// ---------------------------------------------------------------------------- in plans

// Every rank adds its input to the window of every rank; one cell counts who has.
std::vector<Plan> gather(int nranks, std::uint64_t count, Element element) {
    const std::uint64_t bytes = count * bytes_of(element);
    return for_all_ranks(nranks, [&](int rank) {
        PlanWriter w(rank, nranks, standard_buffers(element, bytes, bytes, 1));
        for (int to = 0; to < nranks; ++to) {
            w.emit(Accumulate{element, {w.kWindow, to, 0, bytes}, {w.kInput, rank, 0, bytes}});
            w.notify(to, 0, {1, 0}, NotifyOp::add);
        }
        w.wait(0, {nranks, 0});
        w.emit(Copy{{w.kOutput, rank, 0, bytes}, {w.kWindow, rank, 0, bytes}});
        return w.finish(nranks);
    });
}

TEST(Accumulate, AllRanksAddToAllWindows) {
    for (const int nranks : {1, 2, 5, 16}) {
        for (const int threads : {0, 1, 2}) {
            constexpr std::uint64_t kCount = 200;
            const std::vector<Plan> plans = gather(nranks, kCount, Element::f32);
            World world(plans);
            float expected = 0;
            for (int rank = 0; rank < nranks; ++rank) {
                const auto number = static_cast<float>(1 << rank);
                expected += number;
                for (std::uint64_t i = 0; i < kCount; ++i) {
                    world.set(rank, PlanWriter::kInput, i, number);
                }
            }
            InProcessEngine engine(nranks, {threads, std::nullopt});
            engine.run(plans, world.bindings());
            for (int rank = 0; rank < nranks; ++rank) {
                for (std::uint64_t i = 0; i < kCount; ++i) {
                    ASSERT_EQ(world.get<float>(rank, PlanWriter::kOutput, i), expected);
                }
            }
        }
    }
}

// Tiles and arguments have one rank only; an argument may be at any address.
TEST(Accumulate, PrivateMemoryIsAddedToAtAnyAddress) {
    constexpr std::uint64_t kBytes = 40;
    PlanWriter w(0, 1, standard_buffers(Element::i32, kBytes, 4, 1));
    w.emit(Copy{{kTile, 0, 0, kBytes}, {w.kInput, 0, 0, kBytes}});
    w.emit(Accumulate{Element::i32, {kTile, 0, 0, kBytes}, {w.kInput, 0, 0, kBytes}});
    w.emit(Accumulate{Element::i32, {w.kOutput, 0, 0, kBytes}, {kTile, 0, 0, kBytes}});
    Plan plan = w.finish();
    plan.tile_bytes = kBytes;
    const std::vector<Plan> plans = {plan};
    World world(plans);
    std::vector<std::byte> odd(kBytes + 1);
    world.bindings()[0][PlanWriter::kOutput].argument = std::span(odd).subspan(1);
    for (int i = 0; i < 10; ++i) {
        world.set(0, PlanWriter::kInput, static_cast<std::size_t>(i), i);
        world.set(0, PlanWriter::kOutput, static_cast<std::size_t>(i), 100);
    }
    InProcessEngine(1).run(plans, world.bindings());
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(world.get<std::int32_t>(0, PlanWriter::kOutput, static_cast<std::size_t>(i)),
                  100 + 2 * i);
    }
}

// Who takes what is left for a number is seen to be wrong.
TEST(Clobber, LeavesNoNumber) {
    PlanWriter w(0, 1, standard_buffers(Element::f32, 64, 4, 1));
    w.emit(Map{MapOp::clobber, Element::f32, 0, {w.kOutput, 0, 0, 60}, {}});
    const std::vector<Plan> plans = {w.finish()};
    World world(plans);
    for (std::size_t i = 0; i < 16; ++i) world.set(0, PlanWriter::kOutput, i, 1.0F);
    InProcessEngine(1).run(plans, world.bindings());
    for (std::size_t i = 0; i < 15; ++i) {
        EXPECT_TRUE(std::isnan(world.get<float>(0, PlanWriter::kOutput, i))) << i;
    }
    EXPECT_EQ(world.get<float>(0, PlanWriter::kOutput, 15), 1.0F);
}

// Also what is no number, which a conversion to f32 and back would change.
TEST(Reduce, OfOneSourceKeepsEveryBit) {
    PlanWriter w(0, 1, standard_buffers(Element::f16, 64, 4, 1));
    w.emit(Reduce{ReduceOp::sum, Element::f16, {w.kOutput, 0, 0, 64}, {{w.kInput, 0, 0, 64}}});
    w.emit(Reduce{ReduceOp::sum, Element::f16, {w.kOutput, 0, 0, 64}, {{w.kOutput, 0, 0, 64}}});
    const std::vector<Plan> plans = {w.finish()};
    World world(plans);
    const auto bits = [](std::size_t i) { return static_cast<std::uint16_t>(0x7c01 + 37 * i); };
    for (std::size_t i = 0; i < 32; ++i) world.set(0, PlanWriter::kInput, i, bits(i));
    InProcessEngine(1).run(plans, world.bindings());
    for (std::size_t i = 0; i < 32; ++i) {
        EXPECT_EQ(world.get<std::uint16_t>(0, PlanWriter::kOutput, i), bits(i)) << i;
    }
}

TEST(Convert, AndRowSumInPlans) {
    PlanWriter w(0, 1, standard_buffers(Element::f32, 64, 4, 1));
    w.emit(Map{MapOp::convert, Element::i16, 0, {kTile, 0, 0, 32}, {w.kInput, 0, 0, 64}});
    w.emit(Map{
        MapOp::convert, Element::f32, 0, {w.kOutput, 0, 0, 60}, {kTile, 0, 0, 30}, Element::i16});
    w.emit(Map{MapOp::row_sum, Element::f32, 0, {w.kOutput, 0, 60, 4}, {w.kInput, 0, 0, 64}});
    Plan plan = w.finish();
    plan.tile_bytes = 32;
    const std::vector<Plan> plans = {plan};
    World world(plans);
    for (std::size_t i = 0; i < 16; ++i) {
        world.set(0, PlanWriter::kInput, i, static_cast<float>(i) + 0.5F);
    }
    InProcessEngine(1).run(plans, world.bindings());
    for (std::size_t i = 0; i < 15; ++i) {
        const std::size_t even = (i + 1) / 2 * 2;
        EXPECT_EQ(world.get<float>(0, PlanWriter::kOutput, i), static_cast<float>(even)) << i;
    }
    EXPECT_EQ(world.get<float>(0, PlanWriter::kOutput, 15), 128.0F);
}

}  // namespace accumulate_test
}  // namespace peal::engine
