// SPDX-License-Identifier: Apache-2.0
#include "check/term.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "check/meter.hpp"
#include "check/plans.hpp"

namespace peal::checker {
namespace term_test {

using testing::ElementsAre;

class TermTest : public testing::Test {
protected:
    TermTest() : plans_(4), stages_{{&plans_.list(), nullptr, {}}} {
        plans_.argument("input", Direction::in, 64);
        model_ = build_model(stages_, 1, MemoryOrder::drained, meter_);
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
    CheckOptions options_;
    Meter meter_{options_};
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

TEST_F(TermTest, AGatheredSumIsTheSameInEveryOrder) {
    const auto gather = [&](const std::vector<Content>& parts) {
        Content sum;
        for (const Content& part : parts) sum = terms_.gathered(Element::f32, sum, part, 0);
        return sum;
    };
    std::vector<Content> parts = {input(0), input(1), input(1, 4), input(3),
                                  terms_.fill(Element::f32, 2, 0)};
    std::sort(parts.begin(), parts.end(), [](Content a, Content b) {
        return Leaf{a.term, a.shift} < Leaf{b.term, b.shift};
    });
    const Content sum = gather(parts);
    int orders = 0;
    do {
        ASSERT_EQ(gather(parts), sum);
        ++orders;
    } while (std::next_permutation(parts.begin(), parts.end(), [](Content a, Content b) {
        return Leaf{a.term, a.shift} < Leaf{b.term, b.shift};
    }));
    EXPECT_EQ(orders, 120);
    EXPECT_TRUE(terms_[sum.term].is_open);
    parts.pop_back();
    EXPECT_NE(gather(parts), sum);
    parts.push_back(parts.front());
    EXPECT_NE(gather(parts), sum);
}

TEST_F(TermTest, AGatheredSumHasItsContributionsAndBeginsWithWhatIsThere) {
    const Content zero = terms_.fill(Element::i32, 0, 0);
    const auto add = [&](Content sum, Content part) {
        return terms_.gathered(Element::f32, sum, part, 0);
    };
    EXPECT_EQ(add(zero, input(0)), add({}, input(0)));
    EXPECT_NE(add({}, input(0)), input(0));
    EXPECT_NE(add(input(1), input(0)), sum(input(1), input(0)));
    EXPECT_EQ(add(input(1), input(0)), add(add(zero, input(0)), input(1)));
    const Content mixed = add(add(sum(input(0), input(1)), input(2)), input(3));
    EXPECT_THAT(terms_.leaves(mixed, ReduceOp::sum, Element::f32, 0, 9),
                testing::UnorderedElementsAre(Leaf{input(0).term, 0}, Leaf{input(1).term, 0},
                                              Leaf{input(2).term, 0}, Leaf{input(3).term, 0}));
    EXPECT_EQ(terms_.leaves(mixed, ReduceOp::max, Element::f32, 0, 9).size(), 1u);
    EXPECT_EQ(terms_.leaves(mixed, ReduceOp::sum, Element::i32, 0, 9).size(), 1u);
    EXPECT_TRUE(terms_[sum(mixed, input(0)).term].is_open);
    EXPECT_FALSE(terms_[sum(input(1), input(0)).term].is_open);
}

TEST_F(TermTest, ASliceOfAGatheredSumHasTheTermOfTheWhole) {
    const auto add = [&](Content sum, Content part) {
        return terms_.gathered(Element::f32, sum, part, 0);
    };
    const Content whole = add(add({}, input(1)), input(0));
    const Content half = add(add({}, input(0, 8)), input(1, 8));
    EXPECT_EQ(terms_.moved(whole, 8), half);
    EXPECT_EQ(add(terms_.moved(whole, 8), input(2, 8)), terms_.moved(add(whole, input(2)), 8));
}

TEST_F(TermTest, ConversionsOfTheSameElementsAreTheSame) {
    const auto convert = [&](Content content, std::uint64_t at = 0) {
        return terms_.converted(Element::f16, Element::f32, content, at);
    };
    EXPECT_EQ(convert(input(0)), convert(input(0)));
    EXPECT_NE(convert(input(0)), convert(input(1)));
    EXPECT_NE(convert(input(0)), input(0));
    EXPECT_NE(convert(input(0)), terms_.converted(Element::bf16, Element::f32, input(0), 0));
    EXPECT_NE(convert(input(0)), terms_.converted(Element::f16, Element::i32, input(0), 0));
    // The third element is at byte 8 before and at byte 4 after.
    EXPECT_EQ(terms_.moved(convert(input(0)), 4), convert(input(0, 8)));
    EXPECT_NE(terms_.moved(convert(input(0)), 4), convert(input(0, 4)));
    EXPECT_NE(convert(input(0)), convert(input(0, 2)));
    // Where it is written does not matter.
    EXPECT_EQ(terms_.moved(convert(input(0), 16), 16), convert(input(0), 0));
    // Constants are the same everywhere.
    const Content one = terms_.fill(Element::f32, 1, 0);
    EXPECT_EQ(convert(terms_.moved(one, 4)), convert(one));
    EXPECT_EQ(terms_.moved(convert(one), 2), convert(one));
    EXPECT_NE(terms_.moved(convert(one), 1), convert(one));
}

TEST_F(TermTest, RowSumsOfTheSameBytesAreTheSame) {
    const auto row = [&](const std::vector<Stretch>& bytes, std::uint64_t at = 0) {
        return terms_.computed(MapOp::row_sum, Element::f32, Element::f32, bytes, at);
    };
    EXPECT_EQ(row({{input(0), 16}}), row({{input(0), 16}}));
    EXPECT_NE(row({{input(0), 16}}), row({{input(0), 12}}));
    EXPECT_NE(row({{input(0), 16}}), row({{input(0, 4), 16}}));
    EXPECT_NE(row({{input(0), 8}, {input(1), 8}}), row({{input(1), 8}, {input(0), 8}}));
    EXPECT_EQ(terms_.moved(row({{input(0), 16}}, 8), 8), row({{input(0), 16}}));
}

TEST_F(TermTest, WhatIsUnknownEqualsItselfOnly) {
    const Content one = terms_.unknown(0, 0, 0, 7);
    EXPECT_EQ(one, terms_.unknown(0, 0, 0, 7));
    EXPECT_NE(one, terms_.moved(one, 4));
    EXPECT_NE(one, terms_.unknown(1, 0, 0, 7));
    EXPECT_NE(one, terms_.unknown(0, 1, 0, 7));
    EXPECT_NE(one, terms_.unknown(0, 0, 1, 7));
    EXPECT_NE(one, terms_.unknown(0, 0, 0, 8));
    EXPECT_NE(sum(one, input(0)), input(0));
    EXPECT_NE(terms_.gathered(Element::f32, one, input(0), 0),
              terms_.gathered(Element::f32, {}, input(0), 0));
    EXPECT_EQ(terms_.leaves(sum(one, input(0)), ReduceOp::sum, Element::f32, 0, 9).size(), 2u);
    EXPECT_EQ(text(one), "unknown(input@0[0..8))");
}

TEST_F(TermTest, TextOfWhatIsGatheredConvertedOrSummedUp) {
    Content sum;
    for (const RegionId rank : {2, 0, 1}) {
        sum = terms_.gathered(Element::f32, sum, input(rank), 0);
    }
    EXPECT_EQ(text(sum), "sum in any order(input[0..8) of ranks 0..2)");
    EXPECT_EQ(text(terms_.converted(Element::f16, Element::f32, input(1, 8), 0)),
              "f16(input@1[8..24))");
    EXPECT_EQ(text(terms_.computed(MapOp::row_sum, Element::f32, Element::f32,
                                   {{input(0, 4), 8}, {input(1), 4}}, 0),
                   4),
              "row_sum(input@0[4..12), input@1[0..4))");
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

}  // namespace term_test
}  // namespace peal::checker
