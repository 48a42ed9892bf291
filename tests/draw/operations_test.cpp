// SPDX-License-Identifier: Apache-2.0
// An operation of a kernel that is several instructions of its plan is one step of a picture.
#include <gtest/gtest.h>

#include "draw/pictures.hpp"
#include "draw/scenes.hpp"

namespace peal::draw {
namespace operations_test {

using test::fixed;
using test::now;
using test::RankPlan;
using test::Scene;

// Two pieces of 32 bytes through a tile, as a TPUT or a TGET has them: 12 instructions.
void put(RankPlan plan, const Range& to, const Range& from, bool adds = false) {
    for (std::uint64_t at = 0; at < 64; at += 32) {
        const auto piece = [&](Range range) {
            range.offset += at;
            range.length = 32;
            return range;
        };
        plan.copy(plan.tile(0, 32), piece(from), Pipe::load);
        if (at > 0) plan.join();
        plan.set_flag(Pipe::load, Pipe::store).join();
        plan.wait_flag(Pipe::load, Pipe::store).join();
        if (adds) {
            plan.accumulate(piece(to), plan.tile(0, 32), Element::f32, Pipe::store).join();
        } else {
            plan.copy(piece(to), plan.tile(0, 32), Pipe::store).join();
        }
        plan.set_flag(Pipe::store, Pipe::load).join();
        plan.wait_flag(Pipe::store, Pipe::load).join();
    }
}

// Rank 0 puts and rings at once; rank 1 reads what need not have come.
struct Overtaken {
    Overtaken() {
        inp = scene.plans.argument("inp", Direction::in, 64);
        out = scene.plans.argument("out", Direction::out, 64);
        data = scene.plans.window("data", 128);
        sig = scene.plans.signal("sig", 1, 1);
        scene.plans.tile_bytes(32);
        RankPlan sender = scene.plans.on(0), receiver = scene.plans.on(1);
        put(sender, RankPlan::at(1, data, 64, 64), sender.in(inp, 0, 64));
        sender.increase(sig, 1, 0, fixed(1), Pipe::scalar);
        receiver.wait(sig, 0, now(1));
        receiver.copy(receiver.in(out, 0, 64), receiver.in(data, 64, 64));
        for (int i = 0; i < 9; ++i) scene.step(0, 0, i);
        const auto ring = scene.step(0, 0, 12);
        scene.step(0, 1, 0, ring);
        scene.involve(0, 0, 9);
        scene.involve(0, 1, 1);
        scene.violation.kind = ViolationKind::data_race;
        scene.violation.memory = "data@1[96..128)";
    }
    std::uint16_t inp = 0, out = 0, data = 0, sig = 0;
    Scene scene{2};
};

TEST(Operations, AreOneStepButForWhatClashes) {
    EXPECT_EQ(to_terminal(Overtaken().scene.diagram()),
              R"(  rank 0                                           rank 1
  ● TPUT data@1[64..128) <- inp (9 of 12 steps)    │
  ● notify sig[0]@1 += 1 on S ────────────────────▶┃
  │                                                ● wait sig[0] >= 1
  ✗ copy data@1[96..128) <- tile on MTE3           ✗ copy out <- data[64..128)
  ╰━━━━━━━━━━ data race: data@1[96..128) ━━━━━━━━━━╯
)");
}

TEST(Operations, CanBeUnfolded) {
    const Overtaken overtaken;
    const Diagram all =
        diagram_of(overtaken.scene.violation, {{&overtaken.scene.plans.list(), nullptr, {}}},
                   Grain::instruction);
    EXPECT_EQ(to_terminal(all), R"(  rank 0                                    rank 1
  ● copy tile <- inp[0..32) on MTE2         │
  ● set_flag MTE2 -> MTE3 #0 on MTE2        │
  ● wait_flag MTE2 -> MTE3 #0 on MTE3       │
  ● copy data@1[64..96) <- tile on MTE3     │
  ● set_flag MTE3 -> MTE2 #0 on MTE3        │
  ● wait_flag MTE3 -> MTE2 #0 on MTE2       │
  ● copy tile <- inp[32..64) on MTE2        │
  ● set_flag MTE2 -> MTE3 #0 on MTE2        │
  ● wait_flag MTE2 -> MTE3 #0 on MTE3       │
  ● notify sig[0]@1 += 1 on S ─────────────▶┃
  │                                         ● wait sig[0] >= 1
  ✗ copy data@1[96..128) <- tile on MTE3    ✗ copy out <- data[64..128)
  ╰━━━━━━ data race: data@1[96..128) ━━━━━━━╯
)");
}

// The picture has what they consist of where the pointer rests.
TEST(Operations, TellTheirStepsInAPicture) {
    const Diagram diagram = Overtaken().scene.diagram();
    EXPECT_EQ(diagram.events.front().label, "TPUT data@1[64..128) <- inp (9 of 12 steps)");
    EXPECT_EQ(diagram.events.front().detail.substr(0, 118),
              "rank 0, call 0: copy tile[0..32) <- inp[0..32) on MTE2\n"
              "rank 0, call 0: set_flag MTE2 -> MTE3, event 0 on MTE2\n"
              "rank 0, ");
    EXPECT_NE(to_svg(diagram).find("TPUT data@1[64..128)"), std::string::npos);
}

std::string only_label(bool is_get, bool adds) {
    Scene scene(2);
    const auto out = scene.plans.argument("out", Direction::out, 64);
    const auto data = scene.plans.window("data", 64);
    scene.plans.tile_bytes(32);
    RankPlan plan = scene.plans.on(0);
    const Range own = plan.in(out, 0, 64), theirs = RankPlan::at(1, data, 0, 64);
    is_get ? put(plan, own, theirs, adds) : put(plan, theirs, own, adds);
    for (int i = 0; i < 12; ++i) scene.step(0, 0, i);
    return scene.diagram().events.at(0).label;
}

TEST(Operations, HaveTheirNames) {
    EXPECT_EQ(only_label(false, false), "TPUT data@1 <- out (12 steps)");
    EXPECT_EQ(only_label(true, false), "TGET out <- data@1 (12 steps)");
    EXPECT_EQ(only_label(false, true), "TPUT (adds) data@1 <- out (12 steps)");
}

// What another rank does to the same memory in between is seen in between.
TEST(Operations, DoNotMovePastWhatTouchesTheSameMemory) {
    Overtaken overtaken;
    Scene scene(2);
    scene.plans = overtaken.scene.plans;
    for (int i = 0; i < 6; ++i) scene.step(0, 0, i);
    scene.step(0, 1, 1);
    for (int i = 6; i < 12; ++i) scene.step(0, 0, i);
    const Diagram diagram = scene.diagram();
    std::vector<std::string> labels;
    for (const Event& event : diagram.events) labels.push_back(event.label);
    EXPECT_EQ(labels, (std::vector<std::string>{"TPUT data@1[64..128) <- inp (6 of 12 steps)",
                                                "copy out <- data[64..128)",
                                                "TPUT data@1[64..128) <- inp (6 of 12 steps)"}));
}

// Rows of one load.
TEST(Operations, OfOnePipe) {
    Scene scene(1);
    const auto inp = scene.plans.argument("inp", Direction::in, 64);
    scene.plans.tile_bytes(32);
    RankPlan plan = scene.plans.on(0);
    plan.copy(plan.tile(0, 16), plan.in(inp, 0, 16), Pipe::load);
    plan.copy(plan.tile(16, 16), plan.in(inp, 32, 16), Pipe::load).join();
    scene.step(0, 0, 0);
    scene.step(0, 0, 1);
    const Diagram diagram = scene.diagram();
    ASSERT_EQ(diagram.events.size(), 1U);
    EXPECT_EQ(diagram.events[0].label, "copy tile[0..16) <- inp[0..16) on MTE2, ... (2 steps)");
}

}  // namespace operations_test
}  // namespace peal::draw
