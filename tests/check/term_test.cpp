// SPDX-License-Identifier: Apache-2.0
#include "check/term.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/plans.hpp"

namespace peal::checker {
namespace {

using testing::ElementsAre;

class TermTest : public testing::Test {
protected:
    TermTest() : plans_(4), stages_{{&plans_.list(), nullptr, {}}} {
        plans_.argument("input", Direction::in, 64);
        model_ = build_model(stages_, 1);
    }
    // 4-byte elements of the input of a rank, as seen from the start of a destination.
    Content input(RegionId rank, std::int64_t offset = 0) {
        return terms_.moved(terms_.input(rank, 0), offset);
    }
    Content sum(Content a, Content b, std::uint64_t at = 0) {
        return terms_.combine(ReduceOp::sum, Element::f32, a, b, at);
    }
    std::string text(Content content, std::uint64_t end = 8) {
        return text_of(terms_, model_, content, 0, end);
    }

    test::Plans plans_;
    std::vector<CheckStage> stages_;
    Model model_;
    TermTable terms_;
};

TEST_F(TermTest, EqualTermsAreOne) {
    EXPECT_EQ(sum(input(0), input(1)), sum(input(0), input(1)));
    EXPECT_NE(sum(input(0), input(1)), sum(input(1), input(0)));
    EXPECT_NE(sum(input(0), input(1)), sum(input(0), input(2)));
    EXPECT_NE(sum(input(0), input(1)),
              terms_.combine(ReduceOp::max, Element::f32, input(0), input(1), 0));
}

TEST_F(TermTest, ASliceHasTheTermOfTheWhole) {
    // The second half of a sum, and the sum of the second halves.
    const Content half = terms_.moved(sum(input(0), input(1)), 8);
    EXPECT_EQ(half, sum(input(0, 8), input(1, 8)));
    EXPECT_NE(half, sum(input(0, 8), input(1, 4)));
}

TEST_F(TermTest, ElementsThatBeginElsewhereAreOtherElements) {
    EXPECT_NE(sum(input(0), input(1), 0), sum(input(0), input(1), 2));
    EXPECT_EQ(sum(input(0), input(1), 0), sum(input(0), input(1), 4));
}

TEST_F(TermTest, FillHasNoPlaceOfItsOwn) {
    const Content fill = terms_.fill(Element::f32, 1.5, 0);
    EXPECT_EQ(terms_.moved(fill, 8), fill);
    EXPECT_NE(terms_.moved(fill, 2), fill);
    // With an input in it, the sum is where the input is.
    EXPECT_EQ(terms_.moved(sum(fill, input(0)), 8), sum(fill, input(0, 8)));
}

TEST_F(TermTest, LeavesAreTheContributionsInOrder) {
    const Content tree = sum(sum(input(0), input(1)), sum(input(2), input(3, 4)));
    const auto leaves = terms_.leaves(tree, ReduceOp::sum, Element::f32, 0, 100);
    EXPECT_THAT(leaves, ElementsAre(Leaf{input(0).term, 0}, Leaf{input(1).term, 0},
                                    Leaf{input(2).term, 0}, Leaf{input(3).term, 4}));
    EXPECT_EQ(terms_.leaves(tree, ReduceOp::max, Element::f32, 0, 100).size(), 1u);
    EXPECT_EQ(terms_.leaves(tree, ReduceOp::sum, Element::f64, 0, 100).size(), 1u);
    EXPECT_EQ(terms_.leaves(tree, ReduceOp::sum, Element::f32, 2, 100).size(), 1u);
    EXPECT_EQ(terms_.leaves(tree, ReduceOp::sum, Element::f32, 0, 2).size(), 2u);
}

TEST_F(TermTest, RoundingInBetweenIsAnotherTermWithTheSameContributions) {
    const auto add = [&](Content a, Content b) {
        return terms_.combine(ReduceOp::sum, Element::f16, a, b, 0);
    };
    const auto round = [&](Content a) { return terms_.rounded(Element::f16, a, 0); };
    const Content once = round(add(add(input(0), input(1)), input(2)));
    const Content twice = round(add(round(add(input(0), input(1))), input(2)));
    EXPECT_NE(once, twice);
    EXPECT_EQ(terms_.leaves(once, ReduceOp::sum, Element::f16, 0, 9),
              terms_.leaves(twice, ReduceOp::sum, Element::f16, 0, 9));
}

TEST_F(TermTest, Text) {
    EXPECT_EQ(text({}), "unwritten");
    EXPECT_EQ(text(input(2, 16)), "input@2[16..24)");
    EXPECT_EQ(text(sum(input(1), input(0, 4))), "sum(input@1[0..8), input@0[4..12))");
    EXPECT_EQ(text(sum(sum(sum(input(0), input(1)), input(2)), input(3))),
              "sum(input[0..8) of ranks 0..3)");
    EXPECT_EQ(text(sum(sum(input(0), input(2)), input(1))),
              "sum(input@0[0..8), input@2[0..8), input@1[0..8))");
    EXPECT_EQ(text(sum(input(0), sum(input(1), input(2)))),
              "sum(input@0[0..8), sum(input@1[0..8), input@2[0..8)))");
    EXPECT_EQ(text(terms_.mapped(MapOp::mul_scalar, Element::f32, 2, input(0), 0)),
              "input@0[0..8) * 2");
    EXPECT_EQ(text(terms_.fill(Element::f32, 0.5, 0)), "fill(0.5)");
}

TEST_F(TermTest, TextOfAGiantStaysShort) {
    Content content = input(0);
    for (int i = 0; i < 40; ++i) content = sum(content, content);
    EXPECT_LT(text(content).size(), 5000u);
}

}  // namespace
}  // namespace peal::checker
