// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "check/plans.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/error.hpp"

namespace peal {
namespace meaning_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "1[8..12) <- 0:4 1:4", one per output; input is buffer 0, output buffer 1.
std::vector<std::string> outputs(const Meaning& meaning) {
    std::vector<std::string> list;
    for (const Expected& output : meaning.outputs) {
        std::string text =
            fmt::format("{}[{}..{}) <-", output.rank, output.offset, output.offset + output.length);
        for (const Contribution& part : *output.of) {
            text += fmt::format(" {}:{}", part.rank, part.offset);
        }
        list.push_back(text);
    }
    return list;
}

std::vector<std::string> staged(const Meaning& meaning) {
    std::vector<std::string> list;
    for (const Staged& part : meaning.staged) {
        list.push_back(
            fmt::format("{}[{}..{})", part.rank, part.offset, part.offset + part.length));
    }
    return list;
}

Meaning meaning(CollectiveKind kind, Placement placement = Placement::separate, int root = 0) {
    Collective collective;
    collective.kind = kind;
    collective.count = 1;
    collective.root = root;
    collective.placement = placement;
    collective.counts = {0, 1, 2, 3};
    return meaning_of(collective, 2, {0, 1});
}

TEST(Meaning, OutOfPlace) {
    EXPECT_THAT(outputs(meaning(CollectiveKind::allreduce)),
                ElementsAre("0[0..4) <- 0:0 1:0", "1[0..4) <- 0:0 1:0"));
    EXPECT_THAT(outputs(meaning(CollectiveKind::reduce_scatter)),
                ElementsAre("0[0..4) <- 0:0 1:0", "1[0..4) <- 0:4 1:4"));
    EXPECT_THAT(
        outputs(meaning(CollectiveKind::allgather)),
        ElementsAre("0[0..4) <- 0:0", "0[4..8) <- 1:0", "1[0..4) <- 0:0", "1[4..8) <- 1:0"));
    EXPECT_THAT(outputs(meaning(CollectiveKind::broadcast, Placement::separate, 1)),
                ElementsAre("0[0..4) <- 1:0", "1[0..4) <- 1:0"));
    EXPECT_THAT(
        outputs(meaning(CollectiveKind::all_to_all)),
        ElementsAre("0[0..4) <- 0:0", "0[4..8) <- 1:0", "1[0..4) <- 0:4", "1[4..8) <- 1:4"));
    EXPECT_THAT(
        outputs(meaning(CollectiveKind::all_to_all_v)),
        ElementsAre("0[0..0) <- 0:0", "0[0..8) <- 1:0", "1[0..4) <- 0:0", "1[4..16) <- 1:8"));
    EXPECT_THAT(
        outputs(meaning(CollectiveKind::allgather_v)),
        ElementsAre("0[0..0) <- 0:0", "0[0..4) <- 1:0", "1[0..0) <- 0:0", "1[0..4) <- 1:0"));
    EXPECT_THAT(outputs(meaning(CollectiveKind::reduce_scatter_v)),
                ElementsAre("0[0..0) <- 0:0 1:0", "1[0..4) <- 0:0 1:0"));
    EXPECT_THAT(outputs(meaning(CollectiveKind::scan)),
                ElementsAre("0[0..4) <- 0:0", "1[0..4) <- 0:0 1:0"));
    EXPECT_THAT(outputs(meaning(CollectiveKind::exscan)), ElementsAre("1[0..4) <- 0:0"));
    EXPECT_THAT(outputs(meaning(CollectiveKind::reduce, Placement::separate, 1)),
                ElementsAre("1[0..4) <- 0:0 1:0"));
    EXPECT_THAT(outputs(meaning(CollectiveKind::gather, Placement::separate, 1)),
                ElementsAre("1[0..4) <- 0:0", "1[4..8) <- 1:0"));
    EXPECT_THAT(outputs(meaning(CollectiveKind::scatter, Placement::separate, 1)),
                ElementsAre("0[0..4) <- 1:0", "1[0..4) <- 1:4"));
    for (const CollectiveKind kind : kCollectives) EXPECT_THAT(staged(meaning(kind)), IsEmpty());
}

TEST(Meaning, InPlaceBlocksStayWhereTheyAre) {
    EXPECT_THAT(outputs(meaning(CollectiveKind::reduce_scatter, Placement::window)),
                ElementsAre("0[0..4) <- 0:0 1:0", "1[4..8) <- 0:4 1:4"));
    EXPECT_THAT(staged(meaning(CollectiveKind::reduce_scatter, Placement::window)),
                ElementsAre("0[0..8)", "1[0..8)"));
    EXPECT_THAT(
        outputs(meaning(CollectiveKind::allgather, Placement::window)),
        ElementsAre("0[0..4) <- 0:0", "0[4..8) <- 1:4", "1[0..4) <- 0:0", "1[4..8) <- 1:4"));
    EXPECT_THAT(staged(meaning(CollectiveKind::allgather, Placement::window)),
                ElementsAre("0[0..4)", "1[4..8)"));
    EXPECT_THAT(outputs(meaning(CollectiveKind::scatter, Placement::window, 1)),
                ElementsAre("0[0..4) <- 1:0", "1[4..8) <- 1:4"));
    EXPECT_THAT(staged(meaning(CollectiveKind::scatter, Placement::window, 1)),
                ElementsAre("1[0..8)"));
    EXPECT_THAT(staged(meaning(CollectiveKind::broadcast, Placement::window, 1)),
                ElementsAre("1[0..4)"));
    EXPECT_THAT(staged(meaning(CollectiveKind::allreduce, Placement::window)),
                ElementsAre("0[0..4)", "1[0..4)"));
}

TEST(Meaning, OnlyAllreducePromisesTheSameBitsEverywhere) {
    for (const CollectiveKind kind : kCollectives) {
        EXPECT_EQ(meaning(kind).same_bits, kind == CollectiveKind::allreduce) << name(kind);
        EXPECT_EQ(meaning(kind).meets, kind == CollectiveKind::barrier) << name(kind);
        EXPECT_EQ(meaning(kind).name, name(kind));
    }
}

TEST(Ports, AreFoundByDirection) {
    test::Plans plans(1, "k");
    plans.window("data", 4);
    plans.argument("a", Direction::out, 4);
    plans.argument("b", Direction::in, 4);
    Collective collective;
    EXPECT_EQ(ports_of(collective, plans.list()[0]).input, 2);
    EXPECT_EQ(ports_of(collective, plans.list()[0]).output, 1);
    collective.placement = Placement::window;
    EXPECT_EQ(ports_of(collective, plans.list()[0]).input, 0);
    EXPECT_EQ(ports_of(collective, plans.list()[0]).output, 0);
}

TEST(Ports, AreMissed) {
    test::Plans plans(1, "k");
    plans.argument("a", Direction::out, 4);
    Collective collective;
    try {
        ports_of(collective, plans.list()[0]);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), Fault::usage);
        EXPECT_STREQ(error.what(),
                     "kernel k has no argument to read: its meaning cannot be checked");
    }
    collective.placement = Placement::window;
    EXPECT_THROW(ports_of(collective, plans.list()[0]), Error);
    EXPECT_THROW(meaning_of(collective, std::vector<Plan>{}), Error);
}

}  // namespace meaning_test
}  // namespace peal
