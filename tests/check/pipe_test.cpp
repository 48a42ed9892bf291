// SPDX-License-Identifier: Apache-2.0
// Tile processors: pipes that run beside each other, flags, draining, limits of devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/plans.hpp"

namespace peal {
namespace pipe_test {

using namespace test;  // NOLINT
using testing::ElementsAre;
using testing::HasSubstr;

// One rank loads, doubles and stores 32 bytes.
class PipeTest : public testing::Test {
protected:
    PipeTest() : plans_(1) {
        input_ = plans_.argument("input", Direction::in, 32);
        output_ = plans_.argument("output", Direction::out, 32);
        plans_.tile_bytes(64);
    }
    RankPlan rank() { return plans_.on(0); }
    void load() { rank().copy(rank().tile(0, 32), rank().in(input_, 0, 32), Pipe::load); }
    void work() {
        rank().reduce(rank().tile(32, 32), {rank().tile(0, 32), rank().tile(0, 32)}, ReduceOp::sum,
                      Element::f32, Pipe::vector);
    }
    void store() { rank().copy(rank().in(output_, 0, 32), rank().tile(32, 32), Pipe::store); }
    void hand_over(Pipe from, Pipe to, std::uint8_t event = 0) {
        rank().set_flag(from, to, event).wait_flag(from, to, event);
    }

    // Both methods agree; what the first says.
    CheckReport run(CheckOptions options = {}) {
        CheckReport report = check_one(plans_.list(), nullptr, options);
        EXPECT_EQ(report.method, CheckMethod::linear);
        options.explore = true;
        const CheckReport explored = check_one(plans_.list(), nullptr, options);
        EXPECT_EQ(explored.verdict, report.verdict);
        if (!report.violations.empty() && !explored.violations.empty()) {
            EXPECT_EQ(explored.violations[0].kind, report.violations[0].kind);
        }
        return report;
    }

    Plans plans_;
    std::uint16_t input_ = 0, output_ = 0;
};

TEST_F(PipeTest, FlagsOrderPipes) {
    load();
    hand_over(Pipe::load, Pipe::vector);
    work();
    hand_over(Pipe::vector, Pipe::store);
    store();
    EXPECT_EQ(run().verdict, Verdict::proved);
}

TEST_F(PipeTest, DrainingOrdersAll) {
    load();
    rank().drain();
    work();
    rank().drain();
    store();
    EXPECT_EQ(run().verdict, Verdict::proved);
}

TEST_F(PipeTest, DrainingOnePipeOrdersNoOther) {
    load();
    plans_.list()[0].instructions.push_back({PipeBarrier{Pipe::load}, Pipe::load, 0});
    work();
    EXPECT_EQ(run().verdict, Verdict::violated);
}

TEST_F(PipeTest, WithoutAFlagThereIsAHazard) {
    load();
    work();
    hand_over(Pipe::vector, Pipe::store);
    store();
    const CheckReport report = run();
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::pipe_hazard);
    EXPECT_EQ(report.violations[0].message,
              "rank 0 (`copy tile[0..32) <- input[0..32) on MTE2`, call 0) writes and rank 0 "
              "(`reduce sum f32 tile[32..64) <- tile[0..32), tile[0..32) on V`, call 0) reads "
              "tile@0[0..32), and nothing orders them");
    EXPECT_EQ(report.violations[0].schedule.size(), 3u);
}

// The next load may overwrite the tile that the vector unit still reads.
TEST_F(PipeTest, TheWayBackNeedsAFlagToo) {
    for (const bool way_back : {false, true}) {
        plans_.list()[0].instructions.clear();
        for (std::uint8_t i = 0; i < 2; ++i) {
            load();
            hand_over(Pipe::load, Pipe::vector, i);
            work();
            if (way_back) hand_over(Pipe::vector, Pipe::load, i);
        }
        const CheckReport report = run();
        EXPECT_EQ(report.verdict, way_back ? Verdict::proved : Verdict::violated);
        if (!way_back) {
            EXPECT_EQ(report.violations[0].kind, ViolationKind::pipe_hazard);
        }
    }
}

// A wait on the scalar unit holds back everything that is issued after it.
TEST_F(PipeTest, IssueOrder) {
    load();
    hand_over(Pipe::load, Pipe::scalar);
    work();
    hand_over(Pipe::vector, Pipe::scalar);
    store();
    EXPECT_EQ(run().verdict, Verdict::proved);
}

// Any two pipes can be tied together, also by way of units that do nothing else.
TEST_F(PipeTest, FlagsOfCubeUnitsOrderPipesToo) {
    const std::vector<Pipe> way = {Pipe::load, Pipe::cube_load, Pipe::cube, Pipe::cube_store,
                                   Pipe::vector};
    for (std::size_t missing = 0; missing < way.size(); ++missing) {
        plans_.list()[0].instructions.clear();
        load();
        for (std::size_t i = 0; i + 1 < way.size(); ++i) {
            if (i != missing) hand_over(way[i], way[i + 1]);
        }
        work();
        hand_over(Pipe::vector, Pipe::store);
        store();
        const bool is_whole = missing == way.size() - 1;
        EXPECT_EQ(run().verdict, is_whole ? Verdict::proved : Verdict::violated) << missing;
    }
}

// ---------------------------------------------------------------------------- flags

TEST_F(PipeTest, AwaitedWithoutSet) {
    load();
    rank().wait_flag(Pipe::load, Pipe::vector);
    work();
    const CheckReport report = check_one(plans_.list());
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::flag));
    EXPECT_EQ(report.violations[0].message,
              "rank 0: the flag MTE2 -> V, event 0 is awaited 1 times and set 0 times: the "
              "last wait never ends");
}

TEST_F(PipeTest, LeftSet) {
    load();
    rank().set_flag(Pipe::load, Pipe::vector);
    const CheckReport report = check_one(plans_.list());
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::flag));
    EXPECT_EQ(report.violations[0].message,
              "rank 0: the flag MTE2 -> V, event 0 is set 1 times and awaited 0 times: it is "
              "left set at the end");
}

TEST_F(PipeTest, NoSuchEvent) {
    rank().set_flag(Pipe::load, Pipe::vector, 8).wait_flag(Pipe::load, Pipe::vector, 8);
    const CheckReport report = check_one(plans_.list());
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::flag, ViolationKind::flag));
    EXPECT_EQ(report.violations[0].message,
              "rank 0: `set_flag MTE2 -> V, event 8 on MTE2`: events are numbered 0 to 7");
}

TEST_F(PipeTest, SetTwice) {
    rank().set_flag(Pipe::load, Pipe::vector).set_flag(Pipe::load, Pipe::vector);
    rank().wait_flag(Pipe::load, Pipe::vector).wait_flag(Pipe::load, Pipe::vector);
    const CheckReport report = run();
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::flag);
    EXPECT_THAT(report.violations[0].message, HasSubstr("may set its flag while it is still set"));
    EXPECT_EQ(report.violations[0].schedule.size(), 3u);
}

// Set and awaited in pairs, but the second set does not wait for the first wait.
TEST_F(PipeTest, SetTwiceWhenTheOtherPipeIsSlow) {
    hand_over(Pipe::load, Pipe::vector);
    hand_over(Pipe::load, Pipe::vector);
    const CheckReport report = run();
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::flag);
    // With an answer in between it is right.
    plans_.list()[0].instructions.clear();
    for (int i = 0; i < 2; ++i) {
        hand_over(Pipe::load, Pipe::vector);
        hand_over(Pipe::vector, Pipe::load);
    }
    EXPECT_EQ(run().verdict, Verdict::proved);
}

// The scalar unit waits for a flag that is set by an instruction it has not issued yet.
TEST_F(PipeTest, AFlagThatComesTooLate) {
    rank().wait_flag(Pipe::load, Pipe::scalar).set_flag(Pipe::load, Pipe::scalar);
    const CheckReport report = run();
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::flag);
    EXPECT_EQ(report.violations[0].message,
              "nobody can go on: rank 0 (`wait_flag MTE2 -> S, event 0 on S`, call 0)");
}

// ---------------------------------------------------------------------------- signals

// U7: the data is still in flight when the signal is raised.
Plans put(bool drained) {
    Plans plans(2);
    const std::uint16_t output = plans.argument("output", Direction::out, 32);
    const std::uint16_t data = plans.window("data", 32);
    const std::uint16_t signal = plans.signal("signal", 2, 1);
    plans.tile_bytes(32);
    RankPlan sender = plans.on(0);
    sender.fill(sender.tile(0, 32), 1);
    sender.copy(RankPlan::at(1, data, 0, 32), sender.tile(0, 32), Pipe::store);
    if (drained) sender.drain();
    sender.set(signal, 1, 0, now(1), Pipe::scalar).wait(signal, 1, now(1));
    RankPlan receiver = plans.on(1);
    receiver.wait(signal, 0, now(1));
    receiver.copy(receiver.in(output, 0, 32), receiver.in(data, 0, 32));
    receiver.set(signal, 0, 1, now(1));
    return plans;
}

TEST(PipesAndSignals, ANotifyIsNotOrderedAfterAStoreUnlessDrained) {
    EXPECT_EQ(check_one(put(true).list()).verdict, Verdict::proved);
    const CheckReport report = check_one(put(false).list());
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::data_race);
    EXPECT_EQ(report.violations[0].memory, "data@1[0..32)");
}

// U8: "I have read" is raised before the load has finished.
TEST(PipesAndSignals, ANotifyIsNotOrderedAfterALoadUnlessDrained) {
    for (const bool drained : {false, true}) {
        Plans plans(2);
        const std::uint16_t data = plans.window("data", 32);
        const std::uint16_t signal = plans.signal("signal", 2, 1);
        plans.tile_bytes(32);
        RankPlan owner = plans.on(0);
        owner.fill(owner.in(data, 0, 32), 1).set(signal, 1, 0, now(1)).wait(signal, 1, now(1));
        RankPlan reader = plans.on(1);
        reader.wait(signal, 0, now(1));
        reader.copy(reader.tile(0, 32), RankPlan::at(0, data, 0, 32), Pipe::load);
        if (drained) reader.set_flag(Pipe::load, Pipe::scalar).wait_flag(Pipe::load, Pipe::scalar);
        reader.set(signal, 0, 1, now(1));
        EXPECT_EQ(check_one(plans.list()).verdict, drained ? Verdict::proved : Verdict::violated);
    }
}

// ---------------------------------------------------------------------------- devices

TEST(Device, TileMemory) {
    Plans plans(1);
    plans.tile_bytes(200 * 1024);
    RankPlan rank = plans.on(0);
    rank.fill(rank.tile(192 * 1024, 64), 1).fill(rank.tile(40, 64), 1);
    EXPECT_EQ(check_one(plans.list()).verdict, Verdict::proved);
    CheckOptions options;
    options.device = DeviceRules::a2a3();
    const CheckReport report = check_one(plans.list(), nullptr, options);
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::tile_memory, ViolationKind::tile_memory));
    EXPECT_EQ(report.violations[0].message,
              "rank 0: `fill f32 tile[196608..196672) <- 1` needs more tile memory than the 196608 "
              "bytes of the device");
    EXPECT_EQ(
        report.violations[1].message,
        "rank 0: `fill f32 tile[40..104) <- 1` starts a tile at byte 40, which is no multiple "
        "of 32");
    options.device = DeviceRules::a5();
    EXPECT_EQ(kinds(check_one(plans.list(), nullptr, options)).size(), 1u);
}

// S4: two loads back to back. Kernels that do so run on the device, so it is an error on request.
TEST(Device, OneOutstandingLoad) {
    const auto loads = [](bool waits, bool waits_for_the_right_one) {
        Plans plans(1);
        const std::uint16_t input = plans.argument("input", Direction::in, 64);
        plans.tile_bytes(64);
        RankPlan rank = plans.on(0);
        for (std::uint8_t i = 0; i < 2; ++i) {
            const std::uint64_t at = i * std::uint64_t{32};
            if (!waits_for_the_right_one) {
                rank.set_flag(Pipe::load, Pipe::vector, i).wait_flag(Pipe::load, Pipe::vector, i);
            }
            rank.copy(rank.tile(at, 32), rank.in(input, at, 32), Pipe::load);
            if (waits && waits_for_the_right_one) {
                rank.set_flag(Pipe::load, Pipe::vector, i).wait_flag(Pipe::load, Pipe::vector, i);
            }
        }
        return plans;
    };
    CheckOptions options;
    options.device = DeviceRules::a2a3();
    const std::string message =
        "rank 0: `copy tile[32..64) <- input[32..64) on MTE2` is issued while the load of "
        "instruction 0 is outstanding: the device takes one at a time; await its flag first";
    const CheckReport fine = check_one(loads(true, true).list(), nullptr, options);
    EXPECT_EQ(fine.verdict, Verdict::proved);
    EXPECT_THAT(fine.warnings, testing::IsEmpty());
    const CheckReport warned = check_one(loads(false, true).list(), nullptr, options);
    EXPECT_EQ(warned.verdict, Verdict::proved);
    ASSERT_EQ(warned.warnings.size(), 1u);
    EXPECT_EQ(warned.warnings[0].kind, ViolationKind::pipe_hazard);
    EXPECT_EQ(warned.warnings[0].message, message);
    ASSERT_EQ(warned.warnings[0].steps.size(), 1u);
    EXPECT_EQ(warned.warnings[0].steps[0].index, 1);

    options.strict_loads = true;
    const CheckReport strict = check_one(loads(false, true).list(), nullptr, options);
    ASSERT_THAT(kinds(strict), ElementsAre(ViolationKind::pipe_hazard));
    EXPECT_EQ(strict.violations[0].message, message);
    EXPECT_THAT(strict.warnings, testing::IsEmpty());
    EXPECT_EQ(check_one(loads(true, true).list(), nullptr, options).verdict, Verdict::proved);
    options.device = DeviceRules::a5();
    EXPECT_EQ(check_one(loads(false, true).list(), nullptr, options).verdict, Verdict::proved);
}

TEST(Device, WarningsAreCounted) {
    Plans plans(1);
    const std::uint16_t input = plans.argument("input", Direction::in, 640);
    plans.tile_bytes(640);
    RankPlan rank = plans.on(0);
    for (std::uint64_t at = 0; at < 640; at += 32) {
        rank.copy(rank.tile(at, 32), rank.in(input, at, 32), Pipe::load);
    }
    CheckOptions options;
    options.device = DeviceRules::a2a3();
    EXPECT_EQ(check_one(plans.list(), nullptr, options).warnings.size(), 8u);
    options.max_violations = 3;
    EXPECT_EQ(check_one(plans.list(), nullptr, options).warnings.size(), 3u);
}

// The rows of a tile are one load, and the tile starts at the first.
TEST(Device, RowsAreOneLoad) {
    Plans plans(1);
    const std::uint16_t input = plans.argument("input", Direction::in, 96);
    plans.tile_bytes(96);
    RankPlan rank = plans.on(0);
    rank.copy(rank.tile(0, 20), rank.in(input, 0, 20), Pipe::load);
    rank.copy(rank.tile(24, 20), rank.in(input, 32, 20), Pipe::load).join();
    rank.copy(rank.tile(48, 20), rank.in(input, 64, 20), Pipe::load).join();
    CheckOptions options;
    options.device = DeviceRules::a2a3();
    options.strict_loads = true;
    EXPECT_EQ(check_one(plans.list(), nullptr, options).verdict, Verdict::proved);
    rank.copy(rank.tile(64, 20), rank.in(input, 0, 20), Pipe::load);
    const CheckReport report = check_one(plans.list(), nullptr, options);
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::pipe_hazard));
    EXPECT_THAT(report.violations[0].message,
                HasSubstr("is issued while the load of instruction 0 is outstanding"));
}

// ---------------------------------------------------------------------------- overlapping tiles

// Tiles of four rows, 128 bytes apart, that a person has placed. `columns` bytes of each row hold
// something; if that is all of them, a tile is one range.
class TilesByHand {
public:
    explicit TilesByHand(std::uint64_t columns) : plans_(1), columns_(columns) {
        input_ = plans_.argument("input", Direction::in, 512);
        output_ = plans_.argument("output", Direction::out, 512);
        plans_.tile_bytes(4096);
    }

    // Returns where the load is in the plan.
    std::size_t load(std::uint64_t tile, std::uint32_t line = 0) {
        const std::size_t at = list().size();
        move(tile, [&](RankPlan& rank, const Range& row, std::uint64_t offset) {
            rank.copy(row, rank.in(input_, offset, row.length), Pipe::load);
        });
        list()[at].line = line;
        plans_.on(0).drain();
        return at;
    }
    void store(std::uint64_t tile) {
        move(tile, [&](RankPlan& rank, const Range& row, std::uint64_t offset) {
            rank.copy(rank.in(output_, offset, row.length), row, Pipe::store);
        });
        plans_.on(0).drain();
    }

    std::vector<std::string> messages() const {
        CheckOptions options;
        options.calls = 1;
        std::vector<std::string> list;
        for (const Violation& violation : check_one(plans_.list(), nullptr, options).violations) {
            EXPECT_EQ(violation.kind, ViolationKind::tile_memory);
            list.push_back(violation.message);
        }
        return list;
    }
    Plans& plans() { return plans_; }

private:
    std::vector<Instruction>& list() { return plans_.list()[0].instructions; }

    template <class Move>
    void move(std::uint64_t tile, Move&& move) {
        RankPlan rank = plans_.on(0);
        if (columns_ == kStride) return move(rank, rank.tile(tile, 4 * kStride), 0);
        for (std::uint64_t row = 0; row < 4; ++row) {
            move(rank, rank.tile(tile + row * kStride, columns_), row * columns_);
            if (row > 0) rank.join();
        }
    }

    static constexpr std::uint64_t kStride = 128;
    Plans plans_;
    std::uint64_t columns_;
    std::uint16_t input_ = 0, output_ = 0;
};

TEST(OverlappingTiles, AreFoundWhenTheFirstOneIsRead) {
    TilesByHand tiles(128);
    tiles.load(0);
    tiles.load(256, 9);
    tiles.store(256);
    EXPECT_THAT(tiles.messages(), testing::IsEmpty());
    tiles.store(0);
    EXPECT_THAT(tiles.messages(),
                ElementsAre("rank 0: `copy output[0..512) <- tile[0..512) on MTE3` reads "
                            "tile[0..512), part of which instruction 2 (line 9) overwrote as "
                            "tile[256..768)"));
    const Violation violation = check_one(tiles.plans().list()).violations.at(0);
    EXPECT_EQ(violation.memory, "tile[0..512)");
    ASSERT_EQ(violation.steps.size(), 2u);
    EXPECT_EQ(violation.steps[0].index, 6);
    EXPECT_EQ(violation.steps[1].index, 2);
    EXPECT_EQ(violation.schedule, (std::vector<Step>{violation.steps[1], violation.steps[0]}));
}

TEST(OverlappingTiles, AreFoundRowByRowToo) {
    TilesByHand tiles(64);
    tiles.load(0);
    tiles.load(256);
    tiles.store(0);
    EXPECT_THAT(tiles.messages(),
                ElementsAre("rank 0: `copy output[0..64) <- tile[0..64) on MTE3` reads "
                            "tile[0..448), part of which instruction 5 overwrote as "
                            "tile[256..704)"));
}

TEST(OverlappingTiles, AnEarlierTileThatIsPartOfWhatIsReadIsFoundToo) {
    TilesByHand tiles(128);
    RankPlan rank = tiles.plans().on(0);
    tiles.load(256);
    rank.fill(rank.tile(0, 256), 0);
    tiles.store(0);
    EXPECT_THAT(tiles.messages(),
                ElementsAre("rank 0: `copy output[0..512) <- tile[0..512) on MTE3` reads "
                            "tile[0..512), part of which instruction 0 wrote as tile[256..768)"));
}

// One place is used for tile after tile, of one shape or another.
TEST(OverlappingTiles, AreFoundWithinOneInstruction) {
    Plans plans(1);
    plans.tile_bytes(96);
    RankPlan rank = plans.on(0);
    rank.reduce(rank.tile(0, 64), {rank.tile(0, 64), rank.tile(32, 64)}, ReduceOp::sum,
                Element::f32, Pipe::vector);
    const CheckReport report = check_one(plans.list(), nullptr);
    ASSERT_FALSE(report.violations.empty());
    EXPECT_EQ(report.violations[0].kind, ViolationKind::tile_memory);
    EXPECT_EQ(report.violations[0].message,
              "rank 0: `reduce sum f32 tile[0..64) <- tile[0..64), tile[32..96) on V`: the "
              "destination overlaps a source in part");
    EXPECT_EQ(report.violations[0].memory, "tile[32..96)");
}

// The valid part of a tile may fit where the tile does not.
TEST(Device, TilesFitWhole) {
    Plans plans(1);
    const std::uint16_t input = plans.argument("input", Direction::in, 32);
    plans.tile_bytes((192 << 10) + 32);
    RankPlan rank = plans.on(0);
    rank.copy(rank.tile((192 << 10) - 32, 32), rank.in(input, 0, 32), Pipe::load);
    CheckOptions options;
    options.device = DeviceRules::a2a3();
    const CheckReport report = check_one(plans.list(), nullptr, options);
    ASSERT_EQ(report.violations.size(), 1u);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::tile_memory);
    EXPECT_EQ(report.violations[0].message,
              "rank 0: the tiles end at byte 196640, beyond the 196608 bytes of the device");
    options.device = DeviceRules::a5();
    EXPECT_EQ(check_one(plans.list(), nullptr, options).verdict, Verdict::proved);
}

TEST(OverlappingTiles, ReuseIsNoOverlap) {
    for (const std::uint64_t columns : {64, 128}) {
        TilesByHand tiles(columns);
        for (int round = 0; round < 2; ++round) {
            tiles.load(0);
            tiles.store(0);
            tiles.load(512);
            tiles.store(512);
        }
        EXPECT_THAT(tiles.messages(), testing::IsEmpty()) << columns;
    }
}

// A tile of 128 columns is loaded whole; then 64 columns of it are loaded anew, and all is stored
// row by row. Its last row is partly of the one, partly of the other load.
TEST(OverlappingTiles, FewerColumnsOfOneTileAreNoOverlap) {
    TilesByHand tiles(128);
    tiles.load(0);
    RankPlan rank = tiles.plans().on(0);
    for (std::uint64_t row = 0; row < 4; ++row) {
        rank.copy(rank.tile(row * 128, 64), rank.in(0, row * 64, 64), Pipe::load);
        if (row > 0) rank.join();
    }
    rank.drain();
    for (std::uint64_t row = 0; row < 4; ++row) {
        rank.copy(rank.in(1, row * 128, 128), rank.tile(row * 128, 128), Pipe::store);
        if (row > 0) rank.join();
    }
    EXPECT_THAT(tiles.messages(), testing::IsEmpty());
}

// The left halves of all rows are one tile, the right halves another.
TEST(OverlappingTiles, TilesSideBySideAreNoOverlap) {
    TilesByHand tiles(64);
    tiles.load(0);
    tiles.load(64);
    tiles.store(0);
    tiles.store(64);
    EXPECT_THAT(tiles.messages(), testing::IsEmpty());
}

TEST(OverlappingTiles, PartsOfATileAreRead) {
    TilesByHand tiles(128);
    tiles.load(0);
    tiles.load(512);
    RankPlan rank = tiles.plans().on(0);
    rank.copy(rank.in(1, 0, 128), rank.tile(64, 128), Pipe::store);  // of one tile
    rank.copy(rank.in(1, 128, 384), rank.tile(0, 384), Pipe::store);
    EXPECT_THAT(tiles.messages(), testing::IsEmpty());
}

// Without pipes it was a compiler that placed the tiles.
TEST(OverlappingTiles, AreNoMatterWithoutPipes) {
    Plans plans(1);
    const std::uint16_t output = plans.argument("output", Direction::out, 64);
    plans.tile_bytes(128);
    RankPlan rank = plans.on(0);
    rank.fill(rank.tile(0, 64), 1).fill(rank.tile(32, 64), 2);
    rank.copy(rank.in(output, 0, 64), rank.tile(0, 64));
    EXPECT_EQ(check_one(plans.list()).verdict, Verdict::proved);
}

}  // namespace pipe_test
}  // namespace peal
