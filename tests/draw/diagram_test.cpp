// SPDX-License-Identifier: Apache-2.0
#include "draw/diagram.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "draw/layout.hpp"
#include "draw/scenes.hpp"

namespace peal::draw {
namespace diagram_test {

using test::fixed;
using test::now;
using test::overwritten_window;
using test::ring_deadlock;
using test::Scene;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> labels(const Diagram& diagram) {
    std::vector<std::string> list;
    for (const Event& event : diagram.events) list.push_back(event.label);
    return list;
}

std::size_t clashes(const Diagram& diagram) {
    return static_cast<std::size_t>(std::count_if(diagram.events.begin(), diagram.events.end(),
                                                  [](const Event& e) { return e.clash; }));
}

TEST(Diagram, ShowsWhoDoesWhatInWhichCall) {
    const Diagram diagram = overwritten_window(2).diagram();
    EXPECT_EQ(diagram.title, "data race: data@1[0..64)");
    EXPECT_THAT(diagram.rails, ElementsAre(Rail{0}, Rail{1}));
    EXPECT_THAT(
        labels(diagram),
        ElementsAre("call 0", "caller stages", "copy data <- inp", "notify sig[0]@1 += 1", "call 0",
                    "caller stages", "copy data <- inp", "notify sig[1]@0 += 1", "wait sig[1] >= 1",
                    "wait sig[0] >= 1", "sum out <- data@0..1", "caller consumes", "call 1",
                    "caller stages", "sum out <- data@0..1", "copy data <- inp"));
    EXPECT_EQ(diagram.events[3].detail, "rank 0, call 0: notify sig[0]@1 += 1");
}

// A rank of several lanes is a group of rails; what its caller does is on the first of them, above
// or below all that the lanes do.
TEST(Diagram, LanesOfARankStandSideBySide) {
    Scene scene(2);
    const auto data = scene.plans.window("data", 8);
    const auto out = scene.plans.argument("out", Direction::out, 8);
    const auto sig = scene.plans.signal("sig", 1, 1);
    scene.plans.on(0).fill({data, 0, 0, 8}, 1);
    scene.plans.next_lane(0).set(sig, 0, 0, now(1));
    scene.plans.next_lane(0).wait(sig, 0, now(1)).copy({out, 0, 0, 8}, {data, 0, 0, 8});
    scene.step(0, 0, Step::kStages);
    const std::int32_t rung = scene.step(0, 0, 1);
    scene.step(0, 0, 2, rung);
    scene.step(0, 0, 0);
    scene.step(0, 0, 3);
    scene.involve(0, 0, 0);
    scene.involve(0, 0, 3);
    const Diagram diagram = scene.diagram();
    EXPECT_THAT(diagram.rails, ElementsAre(Rail{0, 0}, Rail{0, 1}, Rail{0, 2}));
    EXPECT_THAT(diagram.idle, ElementsAre(1));
    std::vector<std::pair<std::size_t, std::size_t>> places;
    for (const Event& event : diagram.events) places.emplace_back(event.row, event.rail);
    EXPECT_THAT(places, ElementsAre(std::pair(0u, 0u), std::pair(1u, 1u), std::pair(2u, 2u),
                                    std::pair(3u, 0u), std::pair(3u, 2u)));
    EXPECT_EQ(rails_text(diagram.rails), "rank 0, lanes 0..2");
    EXPECT_EQ(rails_text({{0}, {1}, {2, 1}, {2, 4}}), "ranks 0, 1; rank 2, lanes 1, 4");
}

TEST(Diagram, WhatClashesIsMarkedAndSharesTheLastRow) {
    for (int nranks = 2; nranks <= 8; ++nranks) {
        const Diagram diagram = overwritten_window(nranks).diagram();
        EXPECT_EQ(clashes(diagram), 2u);
        for (const Event& event : diagram.events) {
            EXPECT_EQ(event.clash, event.row + 1 == diagram.rows) << event.label;
        }
    }
}

TEST(Diagram, ArrowsLeadFromANotifyDownToTheWaitItReleases) {
    for (int nranks = 2; nranks <= 8; ++nranks) {
        const Diagram diagram = overwritten_window(nranks).diagram();
        EXPECT_EQ(diagram.arrows.size(), 2u * static_cast<std::size_t>(nranks - 1));
        for (const Arrow& arrow : diagram.arrows) {
            EXPECT_EQ(diagram.events[arrow.from].kind, EventKind::notify);
            EXPECT_EQ(diagram.events[arrow.to].kind, EventKind::wait);
            EXPECT_LT(diagram.events[arrow.from].row, diagram.events[arrow.to].row);
        }
    }
}

TEST(Diagram, NothingIsDrawnTwiceInOnePlaceOrUnderAnArrow) {
    for (int nranks = 2; nranks <= 8; ++nranks) {
        const Diagram diagram = overwritten_window(nranks).diagram();
        std::set<std::pair<std::size_t, std::size_t>> taken;
        for (const Event& event : diagram.events) {
            EXPECT_TRUE(taken.emplace(event.row, event.rail).second) << event.label;
        }
        for (const Arrow& arrow : diagram.arrows) {
            const Event& from = diagram.events[arrow.from];
            const std::size_t target = diagram.events[arrow.to].rail;
            for (std::size_t rail = std::min(from.rail, target);
                 rail <= std::max(from.rail, target); ++rail) {
                EXPECT_EQ(taken.contains({from.row, rail}), rail == from.rail);
            }
        }
    }
}

TEST(Diagram, AStepComesBelowThoseItConflictsWith) {
    Scene scene(3);
    const auto a = scene.plans.window("a", 64);
    const auto b = scene.plans.window("b", 64);
    for (int rank = 0; rank < 3; ++rank) {
        test::RankPlan plan = scene.plans.on(rank);
        plan.copy(plan.in(b, 0, 64), plan.at(0, a, 0, 64));
        plan.copy(plan.at(0, a, 0, 64), plan.in(b, 0, 64));
    }
    for (const auto& [rank, index] : {std::pair{1, 0}, {2, 0}, {0, 1}, {1, 1}}) {
        scene.step(0, rank, index);
    }
    std::vector<std::size_t> rows;
    for (const Event& event : scene.diagram().events) rows.push_back(event.row);
    EXPECT_THAT(rows, ElementsAre(0, 0, 1, 2));  // two reads, then one write after the other
}

TEST(Diagram, ABlockedWaitSaysWhatItSees) {
    Scene scene(2);
    const auto sig = scene.plans.signal("sig", 1, 1);
    scene.plans.on(0).increase(sig, 1, 0, fixed(1));
    scene.plans.on(1).wait(sig, 0, now(2));
    scene.step(0, 0, 0);
    scene.involve(0, 1, 0);
    scene.violation.kind = ViolationKind::deadlock;
    const Diagram diagram = scene.diagram();
    EXPECT_THAT(labels(diagram), ElementsAre("notify sig[0]@1 += 1", "wait sig[0] >= 2, sees 1"));
    EXPECT_TRUE(diagram.events[1].blocked);
    EXPECT_TRUE(diagram.events[1].clash);
    EXPECT_THAT(diagram.arrows, IsEmpty());
    EXPECT_EQ(diagram.title, "deadlock");
}

TEST(Diagram, ABlockedFlagIsNeverSet) {
    Scene scene(1);
    scene.plans.on(0).wait_flag(Pipe::load, Pipe::vector, 2);
    scene.involve(0, 0, 0);
    EXPECT_THAT(labels(scene.diagram()), ElementsAre("wait_flag MTE2 -> V #2 on V, never set"));
}

TEST(Diagram, ValuesFollowTheGenerationThatStagesShare) {
    Scene first(2, "first"), second(2, "second");
    const auto own = first.plans.signal("sig", 1, 2);
    first.plans.on(0).wait(own, 0, now(1));
    second.plans.signal("other", 1, 7);
    const auto same = second.plans.signal("flags", 1, 3);
    second.plans.on(0).set(same, 1, 0, now(1)).wait(same, 0, now(1));
    Violation violation;
    violation.schedule = {{0, 0, 0, 0, -1}, {1, 1, 0, 0, -1}, {3, 1, 0, 0, -1}};
    const Diagram diagram = diagram_of(
        violation,
        {{&first.plans.list(), nullptr, {}}, {&second.plans.list(), nullptr, {"unshared", "sig"}}});
    EXPECT_THAT(labels(diagram),
                ElementsAre("call 0: first", "wait sig[0] >= 1", "call 1: second",
                            "notify flags[0]@1 = 3", "call 3: second", "notify flags[0]@1 = 8"));
}

TEST(Diagram, RanksThatTakeNoPartHaveNoLane) {
    Scene scene(6);
    const auto data = scene.plans.window("data", 64);
    scene.plans.on(3).fill({data, 3, 0, 128}, 0);
    scene.step(0, 3, 0);
    scene.involve(0, 3, 0);
    scene.violation.kind = ViolationKind::out_of_range;
    const Diagram diagram = scene.diagram();
    EXPECT_THAT(diagram.rails, ElementsAre(Rail{3}));
    EXPECT_THAT(diagram.idle, ElementsAre(0, 1, 2, 4, 5));
    EXPECT_EQ(diagram.rows, 1u);
    EXPECT_EQ(clashes(diagram), 1u);
}

TEST(Diagram, RanksInWords) {
    EXPECT_EQ(ranks_text({4}), "rank 4");
    EXPECT_EQ(ranks_text({0, 1}), "ranks 0, 1");
    EXPECT_EQ(ranks_text({0, 1, 2, 4, 6, 7, 8, 9}), "ranks 0..2, 4, 6..9");
}

TEST(Channels, ArrowsBesideEachOtherDoNotMeet) {
    const Diagram diagram = overwritten_window(8).diagram();
    const std::vector<std::size_t> channels = arrow_channels(diagram);
    for (std::size_t i = 0; i < channels.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            const Arrow &a = diagram.arrows[i], &b = diagram.arrows[j];
            const auto row = [&](std::size_t event) { return diagram.events[event].row; };
            const bool same_rail = diagram.events[a.to].rail == diagram.events[b.to].rail;
            const bool beside = row(a.from) <= row(b.to) && row(b.from) <= row(a.to);
            EXPECT_FALSE(same_rail && beside && channels[i] == channels[j]);
        }
    }
    EXPECT_EQ(*std::max_element(channels.begin(), channels.end()), 6u);  // seven peers ring rank 7
}

}  // namespace diagram_test
}  // namespace peal::draw
