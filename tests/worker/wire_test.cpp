// SPDX-License-Identifier: Apache-2.0
#include "worker/wire.hpp"

#include <gtest/gtest.h>

#include "peal/collective.hpp"
#include "peal/compile.hpp"

namespace peal::worker {
namespace wire_test {

TEST(Wire, PlansComeBackAsTheyWere) {
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            Collective collective;
            collective.kind = kind;
            collective.recipe = recipe.name;
            collective.count = 96;
            collective.counts.assign(table_entries(kind, 4), 5);
            for (const Plan& plan : compile(collective, 4)) {
                const Plan again = plan_from_bytes(to_bytes(plan));
                EXPECT_EQ(again, plan) << name(kind) << " " << recipe.name;
            }
        }
    }
}

TEST(Wire, KeepsEveryKindOfInstruction) {
    Plan plan;
    plan.kernel = "all kinds";
    plan.buffers.resize(1);
    plan.buffers[0].name = "x";
    plan.buffers[0].bytes = 64;
    plan.advance = {0};
    plan.tile_bytes = 192;
    const Range here{0, 0, 0, 8}, there{0, 0, 8, 8};
    const Action actions[] = {
        Copy{here, there},
        Reduce{ReduceOp::max, Element::i8, here, {there, here}},
        Accumulate{Element::f32, here, there},
        Map{MapOp::convert, Element::f16, 1.5, here, there, Element::f32},
        Notify{NotifyOp::add, {0, 1, 2}, {3, 4}},
        Wait{Compare::eq, {0, 1, 2}, {-3, 4}},
        SetFlag{Pipe::load, Pipe::vector, 5},
        WaitFlag{Pipe::load, Pipe::vector, 5},
        PipeBarrier{Pipe::all},
        Fence{7},
        Evict{here},
    };
    std::uint32_t line = 0;
    for (const Action& action : actions) {
        ++line;
        const auto group = static_cast<std::uint16_t>(line % 3);
        plan.instructions.push_back({action, Pipe::vector, line, line % 2 == 0, 0, group});
    }
    EXPECT_EQ(plan.instructions.size(), std::variant_size_v<Action>);
    plan.lanes = {2, 2, 7};
    EXPECT_EQ(plan_from_bytes(to_bytes(plan)), plan);
}

}  // namespace wire_test
}  // namespace peal::worker
