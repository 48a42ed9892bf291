// SPDX-License-Identifier: Apache-2.0
// Ranks of several lanes, carried by one thread, by several, and in any order.
#include <gtest/gtest.h>

#include <array>

#include "engine/contract.hpp"
#include "engine/hand_made.hpp"

namespace peal::engine {
namespace lane_test {

using namespace testing_plans;

constexpr std::uint64_t kBlock = 64;

// An allgather: each lane puts its part of the input into the window, and lane 0 takes all parts to
// the output when all lanes of all ranks have put theirs there. A tile of each lane's own is on the
// way. Lane 0 tells all when it has read.
std::vector<Plan> gather_by_lanes(int nranks, std::uint64_t lanes) {
    const std::uint64_t mine = lanes * kBlock, all = mine * static_cast<std::uint64_t>(nranks);
    const auto sources = static_cast<std::uint64_t>(nranks) * lanes;
    return for_all_ranks(nranks, [&](int rank) {
        PlanWriter w(rank, nranks,
                     {argument("inp", Direction::in, Element::i32, mine),
                      argument("out", Direction::out, Element::i32, all),
                      window("data", Element::i32, all), signal("sig", sources + lanes)});
        for (std::uint64_t lane = 0; lane < lanes; ++lane) {
            if (lane > 0) w.lane();
            const Range tile{kTile, rank, 0, kBlock};
            const std::uint64_t place = static_cast<std::uint64_t>(rank) * mine + lane * kBlock;
            // Every rank has read what the last call left.
            w.wait(sources + lane, {0, nranks});
            w.emit(Copy{tile, {w.kInput, rank, lane * kBlock, kBlock}});
            for (int peer = 0; peer < nranks; ++peer) {
                w.emit(Copy{{w.kWindow, peer, place, kBlock}, tile});
                w.notify(peer, static_cast<std::uint64_t>(rank) * lanes + lane, {1, 1});
            }
            if (lane > 0) continue;
            for (std::uint64_t source = 0; source < sources; ++source) w.wait(source, {1, 1});
            w.emit(Copy{{w.kOutput, rank, 0, all}, {w.kWindow, rank, 0, all}});
            for (int peer = 0; peer < nranks; ++peer) {
                for (std::uint64_t l = 0; l < lanes; ++l) {
                    w.notify(peer, sources + l, {1, 0}, NotifyOp::add);
                }
            }
        }
        Plan plan = w.finish(1);
        plan.tile_bytes = kBlock;
        return plan;
    });
}

void expect_gathers(int nranks, std::uint64_t lanes, const EngineOptions& options) {
    const std::vector<Plan> plans = gather_by_lanes(nranks, lanes);
    World world(plans);
    InProcessEngine engine(nranks, options);
    for (int call = 0; call < 3; ++call) {
        const std::size_t mine = lanes * kBlock / sizeof(std::int32_t);
        const auto number = [&](int rank, std::size_t i) {
            return 1000 * call + 100 * rank + static_cast<std::int32_t>(i);
        };
        for (int rank = 0; rank < nranks; ++rank) {
            for (std::size_t i = 0; i < mine; ++i) world.set(rank, 0, i, number(rank, i));
        }
        EXPECT_EQ(engine.run(plans, world.bindings()).instructions,
                  plans[0].instructions.size() * plans.size());
        for (int rank = 0; rank < nranks; ++rank) {
            for (std::size_t i = 0; i < mine * plans.size(); ++i) {
                const int of = static_cast<int>(i / mine);
                ASSERT_EQ(world.get<std::int32_t>(rank, 1, i), number(of, i % mine))
                    << nranks << " ranks, " << lanes << " lanes, call " << call << ", rank " << rank
                    << ", element " << i;
            }
        }
    }
}

TEST(EngineLanes, OnOneThreadOrSeveral) {
    for (const int threads : {0, 1, 2, 4, 7}) {
        for (const int nranks : {1, 2, 3}) {
            for (const std::uint64_t lanes : {1, 2, 5}) {
                expect_gathers(nranks, lanes, {threads, std::nullopt});
            }
        }
    }
}

TEST(EngineLanes, InAnyOrder) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        expect_gathers(1 + static_cast<int>(seed % 3), 1 + seed % 4, {0, seed});
    }
}

// As a rank that is one thread carries them: who has to wait is set aside while others go on.
TEST(EngineLanes, OneCoreCarriesAll) {
    struct Alone : PlainSupplier {
        static bool wait(const Core&) { return false; }
        void rang(const Core&) { ++count; }
        int count = 0;
    };
    PlanWriter w(0, 1, {argument("out", Direction::out, Element::i32, 8), signal("sig", 3)});
    const auto fill = [&](std::uint64_t at, double value) {
        return Map{MapOp::fill, Element::i32, value, {0, 0, at, 4}, {}};
    };
    w.wait(0, {1, 0}, Compare::ge, 1).emit(fill(0, 7));
    w.lane();
    w.lane()
        .wait(1, {1, 0}, Compare::ge, 1)
        .emit(fill(4, 8))
        .notify(0, 0, {1, 0}, NotifyOp::set, 1);
    w.lane().notify(0, 1, {1, 0}, NotifyOp::set, 1).wait(2, {1, 0}, Compare::ge, 1);
    const Plan plan = w.finish();
    const Tape tape(plan);
    alignas(kCacheLineBytes) std::array<std::int32_t, 2> out{};
    alignas(kCacheLineBytes) std::array<std::byte, 3 * kCacheLineBytes> cells{};
    const std::array<BoundBuffer, 3> memory = {
        BoundBuffer{reinterpret_cast<std::byte*>(out.data()), 0, 0},
        BoundBuffer{cells.data(), cells.size(), 0}, BoundBuffer{}};
    Core core;
    core.start(tape, memory);
    Alone alone;
    EXPECT_EQ(drive(core, alone), Driven::set_aside);
    EXPECT_EQ(alone.count, 2);
    EXPECT_EQ(out, (std::array<std::int32_t, 2>{7, 8}));
    EXPECT_TRUE(core.is_blocked());
    EXPECT_FALSE(core.is_done());
    EXPECT_EQ(core.lane(), 3u);
    EXPECT_EQ(core.position(), plan.instructions.size() - 1);
    detail::atomic_at<std::int32_t>(cells.data() + 2 * kCacheLineBytes).store(1);
    EXPECT_FALSE(core.is_blocked());
    EXPECT_EQ(drive(core, alone), Driven::done);
    EXPECT_TRUE(core.is_done());
}

// A plan that was left, or ended, in another lane leaves nothing to the next: a core that tells
// where it waits would tell it of a lane that the plan does not have.
TEST(EngineLanes, NothingIsLeftToTheNextPlan) {
    struct Alone : PlainSupplier {
        static bool wait(const Core&) { return false; }
        void rang(const Core&) {}
    };
    const auto waits_in_each_of = [](int lanes) {
        PlanWriter w(0, 1, {argument("out", Direction::out, Element::i32, 8), signal("sig", 3)});
        for (int lane = 0; lane < lanes; ++lane) {
            if (lane > 0) w.lane();
            w.wait(static_cast<std::uint64_t>(lane), {1, 0}, Compare::ge, 1);
        }
        return w.finish();
    };
    const Plan three = waits_in_each_of(3), one = waits_in_each_of(1);
    const Tape tape_of_three(three), tape_of_one(one);
    alignas(kCacheLineBytes) std::array<std::int32_t, 2> out{};
    alignas(kCacheLineBytes) std::array<std::byte, 3 * kCacheLineBytes> cells{};
    const std::array<BoundBuffer, 3> memory = {
        BoundBuffer{reinterpret_cast<std::byte*>(out.data()), 0, 0},
        BoundBuffer{cells.data(), cells.size(), 0}, BoundBuffer{}};
    const auto ring = [&](std::size_t cell, std::int32_t value) {
        detail::atomic_at<std::int32_t>(cells.data() + cell * kCacheLineBytes).store(value);
    };
    Core core;
    Alone alone;
    const auto expect_waits_alone = [&] {
        ring(0, 0);
        core.start(tape_of_one, memory);
        EXPECT_EQ(drive(core, alone), Driven::set_aside);
        std::vector<std::pair<std::size_t, std::size_t>> waits;
        core.for_each_lane([&](std::size_t lane, std::size_t at) { waits.emplace_back(lane, at); });
        EXPECT_EQ(waits, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 0}}));
    };
    core.start(tape_of_three, memory);
    ring(0, 1);
    EXPECT_EQ(drive(core, alone), Driven::set_aside);
    EXPECT_NE(core.lane(), 0u);
    expect_waits_alone();  // after one that was left
    core.start(tape_of_three, memory);
    for (const std::size_t cell : {0, 1, 2}) ring(cell, 1);
    EXPECT_EQ(drive(core, alone), Driven::done);
    EXPECT_NE(core.lane(), 0u);
    expect_waits_alone();  // after one that ended
}

}  // namespace lane_test
}  // namespace peal::engine
