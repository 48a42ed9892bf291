// SPDX-License-Identifier: Apache-2.0
// A wait that can never be met is reported at once, in full, whoever carries the ranks.
#include <gtest/gtest.h>

#include "engine/hand_made.hpp"

namespace peal::engine {
namespace deadlock_test {

using namespace testing_plans;

std::vector<EngineOptions> every_way_to_run() {
    return {{0, std::nullopt}, {1, std::nullopt}, {2, std::nullopt}, {4, std::nullopt}, {0, 7}};
}

void expect_deadlock(const std::vector<Plan>& plans, const std::string& report) {
    for (const EngineOptions& options : every_way_to_run()) {
        for (int round = 0; round < 20; ++round) {
            World world(plans);
            InProcessEngine engine(static_cast<int>(plans.size()), options);
            EXPECT_EQ(message_of(Fault::wrong, [&] { engine.run(plans, world.bindings()); }),
                      report);
        }
    }
}

PlanWriter writer(int rank, int nranks) {
    return PlanWriter(rank, nranks, {signal("sig", static_cast<std::uint64_t>(nranks))});
}

SourcePtr mesh_source() {
    return std::make_shared<Source>("mesh.peal",
                                    "kernel mesh(sig: window i32[nranks]) {\n"
                                    "    for peer in peers { notify sig[rank]@peer += 1 }\n"
                                    "    for peer in peers { wait sig[peer] >= 1 }\n"
                                    "}\n");
}

TEST(Deadlock, OneRankWaitsForNobody) {
    expect_deadlock({writer(0, 1).wait(0, {1, 0}, Compare::ge, 0).finish()},
                    "deadlock: no rank can go on\n"
                    "  rank 0  instruction 0  wait sig[0] >= 1\n"
                    "          sees 0; nobody is left to ring it");
}

TEST(Deadlock, RankRingsItselfTooLate) {
    auto w = writer(0, 1);
    w.notify(0, 0, {1, 0}, NotifyOp::set, 0).wait(0, {2, 0}, Compare::ge, 0);
    w.notify(0, 0, {2, 0}, NotifyOp::set, 0);
    expect_deadlock({w.finish()},
                    "deadlock: no rank can go on\n"
                    "  rank 0  instruction 1  wait sig[0] >= 2\n"
                    "          sees 1; still to ring it: rank 0 at instruction 2 (now at 1)");
}

TEST(Deadlock, LanesAreNamed) {
    auto w = writer(0, 2);
    w.notify(1, 0, {1, 0}, NotifyOp::set, 0).lane().wait(1, {1, 0}, Compare::ge, 0);
    w.lane().wait(0, {1, 0}, Compare::ge, 0).notify(0, 1, {1, 0}, NotifyOp::set, 0);
    auto other = writer(1, 2);
    other.lane().wait(0, {1, 0}, Compare::ge, 0).lane();
    expect_deadlock({w.finish(), other.finish()},
                    "deadlock: no rank can go on\n"
                    "  rank 0  lane 1  instruction 1  wait sig[1] >= 1\n"
                    "          sees 0; still to ring it: rank 0, lane 2 at instruction 3 (now at "
                    "2)\n"
                    "  rank 0  lane 2  instruction 2  wait sig[0] >= 1\n"
                    "          sees 0; nobody is left to ring it\n"
                    "  rank 1  finished");
}

TEST(Deadlock, PeerIsFinishedAndNeverRang) {
    const auto plans = for_all_ranks(2, [](int rank) {
        auto w = writer(rank, 2);
        w.line(3);
        if (rank == 0) w.wait(1, {1, 0}, Compare::ge, 0);
        return w.finish(0, mesh_source());
    });
    expect_deadlock(plans,
                    "deadlock: no rank can go on\n"
                    "  rank 0  instruction 0  wait sig[1] >= 1   (mesh.peal:3: \"for peer in peers "
                    "{ wait sig[peer] >= 1 }\")\n"
                    "          sees 0; nobody is left to ring it\n"
                    "  rank 1  finished");
}

TEST(Deadlock, PeerRangOnceTooLittle) {
    const auto plans = for_all_ranks(2, [](int rank) {
        auto w = writer(rank, 2);
        if (rank == 0) w.wait(1, {2, 0}, Compare::eq, 0);
        if (rank == 1) w.notify(0, 1, {1, 0}, NotifyOp::add, 0);
        return w.finish();
    });
    expect_deadlock(plans,
                    "deadlock: no rank can go on\n"
                    "  rank 0  instruction 0  wait sig[1] == 2\n"
                    "          sees 1; no notify is left; already rung by rank 1 at instruction 0 "
                    "(finished)\n"
                    "  rank 1  finished");
}

TEST(Deadlock, CycleOfThree) {
    const auto plans = for_all_ranks(3, [](int rank) {
        auto w = writer(rank, 3);
        const int left = (rank + 2) % 3;
        w.line(3).wait(static_cast<std::uint64_t>(left), {1, 0}, Compare::ge, 0);
        w.line(2).notify((rank + 1) % 3, static_cast<std::uint64_t>(rank), {1, 0}, NotifyOp::add,
                         0);
        return w.finish(0, mesh_source());
    });
    const std::string line = "   (mesh.peal:3: \"for peer in peers { wait sig[peer] >= 1 }\")\n";
    expect_deadlock(plans,
                    "deadlock: no rank can go on\n"
                    "  rank 0  instruction 0  wait sig[2] >= 1" +
                        line +
                        "          sees 0; still to ring it: rank 2 at instruction 1 (now at 0)\n"
                        "  rank 1  instruction 0  wait sig[0] >= 1" +
                        line +
                        "          sees 0; still to ring it: rank 0 at instruction 1 (now at 0)\n"
                        "  rank 2  instruction 0  wait sig[1] >= 1" +
                        line +
                        "          sees 0; still to ring it: rank 1 at instruction 1 (now at 0)");
}

// Eleven ranks: numbers are aligned, and long lists of ranks are cut.
TEST(Deadlock, ManyRanksWaitForOneThatIsStuck) {
    constexpr int kRanks = 11;
    const auto plans = for_all_ranks(kRanks, [](int rank) {
        auto w = writer(rank, kRanks);
        if (rank == 0) {
            w.wait(0, {10, 0}, Compare::ge, 0);
            for (int peer = 1; peer < kRanks; ++peer) {
                w.notify(peer, 0, {1, 0}, NotifyOp::set, 0);
            }
        } else {
            w.wait(0, {1, 0}, Compare::ge, 0).notify(0, 0, {1, 0}, NotifyOp::add, 0);
        }
        return w.finish();
    });
    std::string report =
        "deadlock: no rank can go on\n"
        "  rank  0  instruction 0  wait sig[0] >= 10\n"
        "           sees 0; still to ring it: rank 1 at instruction 1 (now at 0), rank 2 at "
        "instruction 1 (now at 0), rank 3 at instruction 1 (now at 0) and 7 more";
    for (int rank = 1; rank < kRanks; ++rank) {
        report += "\n  rank " + std::string(rank < 10 ? " " : "") + std::to_string(rank) +
                  "  instruction 0  wait sig[0] >= 1\n"
                  "           sees 0; still to ring it: rank 0 at instruction " +
                  std::to_string(rank) + " (now at 0)";
    }
    expect_deadlock(plans, report);
}

TEST(Deadlock, WaitFlagWithoutSetFlag) {
    auto w = writer(0, 1);
    w.emit(SetFlag{Pipe::load, Pipe::vector, 0});
    w.emit(WaitFlag{Pipe::load, Pipe::vector, 0});
    w.emit(WaitFlag{Pipe::load, Pipe::vector, 0});
    expect_deadlock({w.finish()},
                    "deadlock: no rank can go on\n"
                    "  rank 0  instruction 2  wait_flag MTE2 -> V, event 0\n"
                    "          no set_flag came before it");
}

// The value shown is the one of this call, not the formula.
TEST(Deadlock, ValuesAreThoseOfTheCall) {
    auto plans = mesh_allreduce(2, 1);
    World world(plans);
    InProcessEngine engine(2);
    engine.run(plans, world.bindings());
    plans[1].instructions.resize(1);
    EXPECT_EQ(message_of(Fault::wrong, [&] { engine.run(plans, world.bindings()); }),
              "deadlock: no rank can go on\n"
              "  rank 0  instruction 2  wait sig[1] >= 3\n"
              "          sees 2; nobody is left to ring it\n"
              "  rank 1  finished");
}

// Each rings the other and goes on only if it was not rung itself. In no order of these steps do
// both go on. On real memory both can, if a rank may look at its own cell before its ring has left
// the core: then there would be no deadlock.
TEST(OneOrderOfCells, TwoThatRingAndThenLookDoNotBothLookFirst) {
    for (const Element element : {Element::i32, Element::i64}) {
        Buffer cells = signal("sig", 1);
        cells.element = element;
        const auto plans = for_all_ranks(2, [&](int rank) {
            PlanWriter w(rank, 2, {cells});
            w.notify(1 - rank, 0, {1, 0}, NotifyOp::set, 0).wait(0, {0, 0}, Compare::eq, 0);
            return w.finish();
        });
        InProcessEngine engine(2, {2, std::nullopt});
        for (int round = 0; round < 300; ++round) {
            World world(plans);
            EXPECT_NE(message_of(Fault::wrong, [&] { engine.run(plans, world.bindings()); }),
                      "no error");
        }
    }
}

}  // namespace deadlock_test
}  // namespace peal::engine
