// SPDX-License-Identifier: Apache-2.0
// Memory is bytes, arithmetic is elements: what is made of parts of several elements is none of
// them, and what a number means for a reduction counts, not how it was written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "check/plans.hpp"

namespace peal {
namespace element_test {

using namespace test;  // NOLINT
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// One rank with inputs a, b and c, an output and tiles, eight bytes each.
class Elements : public ::testing::Test {
protected:
    Elements() {
        a_ = plans_.argument("a", Direction::in, 8);
        b_ = plans_.argument("b", Direction::in, 8);
        c_ = plans_.argument("c", Direction::in, 8);
        out_ = plans_.argument("out", Direction::out, 8);
        plans_.tile_bytes(64);
    }

    Range a(std::uint64_t offset = 0, std::uint64_t length = 8) { return at(a_, offset, length); }
    Range b(std::uint64_t offset = 0, std::uint64_t length = 8) { return at(b_, offset, length); }
    Range c(std::uint64_t offset = 0, std::uint64_t length = 8) { return at(c_, offset, length); }
    Range out(std::uint64_t offset = 0, std::uint64_t length = 8) {
        return at(out_, offset, length);
    }
    Range at(std::uint16_t buffer, std::uint64_t offset, std::uint64_t length) {
        return rank_.in(buffer, offset, length);
    }
    Range tile(std::uint64_t number, std::uint64_t offset = 0, std::uint64_t length = 8) {
        return rank_.tile(8 * number + offset, length);
    }

    // out is the combination of these inputs.
    void expect(std::vector<std::uint16_t> inputs, Element element, ReduceOp op = ReduceOp::sum) {
        std::vector<Contribution> of;
        for (const std::uint16_t input : inputs) of.push_back({0, input, 0});
        meaning_.name = "test";
        meaning_.outputs = {{0, out_, 0, 8,
                             std::make_shared<const std::vector<Contribution>>(std::move(of)), op,
                             element, true}};
    }

    // By both methods, which must agree.
    std::vector<ViolationKind> found() {
        CheckOptions options;
        options.calls = 2;
        report_ = check_one(plans_.list(), &meaning_, options);
        options.explore = true;
        EXPECT_EQ(check_one(plans_.list(), &meaning_, options).verdict, report_.verdict);
        return kinds(report_);
    }

    Plans plans_{1};
    RankPlan rank_ = plans_.on(0);
    Meaning meaning_;
    CheckReport report_;
    std::uint16_t a_ = 0, b_ = 0, c_ = 0, out_ = 0;
};

TEST_F(Elements, PutTogetherFromPartsOfTwoAreNoSumOfBoth) {
    // X has three bytes of each element of a and one of b, Y the others.
    for (const std::uint64_t element : {0, 4}) {
        rank_.copy(tile(0, element, 3), a(element, 3))
            .copy(tile(0, element + 3, 1), b(element + 3, 1));
        rank_.copy(tile(1, element, 3), b(element, 3))
            .copy(tile(1, element + 3, 1), a(element + 3, 1));
    }
    rank_.reduce(out(), {tile(0), tile(1)});
    expect({a_, b_}, Element::f32);
    EXPECT_THAT(found(), ElementsAre(ViolationKind::wrong_result));
    EXPECT_THAT(report_.violations[0].message,
                HasSubstr("after call 0, out@0[0..4) is wrong: missing: a@0[0..4) of call 0, "
                          "b@0[0..4) of call 0; not asked for: bytes of (a@0[0..3) of call 0, "
                          "b@0[3..4) of call 0)"));
}

TEST_F(Elements, PutTogetherAreNoSumOfBothWhenTheyAreIntegersEither) {
    rank_.copy(tile(0, 0, 6), a(0, 6)).copy(tile(0, 6, 2), b(6, 2));
    rank_.copy(tile(1, 0, 6), b(0, 6)).copy(tile(1, 6, 2), a(6, 2));
    rank_.reduce(out(), {tile(0), tile(1)}, ReduceOp::sum, Element::i32);
    expect({a_, b_}, Element::i32);
    EXPECT_THAT(found(), ElementsAre(ViolationKind::wrong_result));
}

TEST_F(Elements, PutTogetherAreNotWhatIsAccumulated) {
    const std::uint16_t window = plans_.window("window", 8);
    const Range sum = at(window, 0, 8);
    rank_.copy(tile(0, 0, 2), a(0, 2)).copy(tile(0, 2, 6), b(2, 6));
    rank_.copy(tile(1, 0, 2), b(0, 2)).copy(tile(1, 2, 6), a(2, 6));
    rank_.fill(sum, 0).accumulate(sum, tile(0)).accumulate(sum, tile(1)).copy(out(), sum);
    expect({a_, b_}, Element::f32);
    EXPECT_THAT(found(), ElementsAre(ViolationKind::wrong_result));
}

TEST_F(Elements, WhatIsAddedToPutTogetherIsNotWhatIsAddedToEach) {
    rank_.copy(tile(0, 0, 2), a(0, 2)).copy(tile(0, 2, 6), b(2, 6));
    rank_.map(MapOp::add_scalar, tile(1), tile(0), 1);
    rank_.copy(tile(2, 0, 2), b(0, 2)).copy(tile(2, 2, 6), a(2, 6));
    rank_.map(MapOp::add_scalar, tile(3), tile(2), 1);
    // Halves of X + 1 and of Y + 1 are not a + 1: an overflow of the low half is lost.
    rank_.copy(tile(4, 0, 2), tile(1, 0, 2)).copy(tile(4, 2, 6), tile(3, 2, 6));
    rank_.map(MapOp::add_scalar, tile(5), a(), 1);
    rank_.reduce(out(), {tile(4), b()});
    expect({a_, b_}, Element::f32);
    EXPECT_THAT(found(), ElementsAre(ViolationKind::wrong_result));
}

TEST_F(Elements, OfTwoOrdersAreNoSum) {
    rank_.reduce(tile(0), {a(), b(), c()});
    rank_.reduce(tile(1), {b(), c()}).reduce(tile(1), {a(), tile(1)});
    rank_.copy(out(0, 2), tile(0, 0, 2))
        .copy(out(2, 2), tile(1, 2, 2))
        .copy(out(4, 4), tile(0, 4, 4));
    expect({a_, b_, c_}, Element::f32);
    EXPECT_THAT(found(), ElementsAre(ViolationKind::wrong_result));
    EXPECT_THAT(report_.violations[0].message, HasSubstr("out@0[0..4) is wrong"));
}

TEST_F(Elements, OfTwoOrdersAreTheSumOfIntegers) {
    rank_.reduce(tile(0), {a(), b(), c()}, ReduceOp::sum, Element::i32);
    rank_.reduce(tile(1), {b(), c()}, ReduceOp::sum, Element::i32);
    rank_.reduce(tile(1), {a(), tile(1)}, ReduceOp::sum, Element::i32);
    rank_.copy(out(0, 2), tile(0, 0, 2))
        .copy(out(2, 2), tile(1, 2, 2))
        .copy(out(4, 4), tile(0, 4, 4));
    expect({a_, b_, c_}, Element::i32);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(Elements, CopiedInPartsAreWholeAgain) {
    rank_.copy(tile(0, 0, 1), a(0, 1)).copy(tile(0, 1, 4), a(1, 4)).copy(tile(0, 5, 3), a(5, 3));
    rank_.reduce(tile(1), {tile(0), b()});
    rank_.copy(out(3, 5), tile(1, 3, 5)).copy(out(0, 3), tile(1, 0, 3));
    expect({a_, b_}, Element::f32);
    EXPECT_THAT(found(), IsEmpty());
}

// A reduction of one source changes no byte, whatever its element is.
TEST_F(Elements, OfOneSourceAreCopied) {
    rank_.reduce(tile(0), {a(), b(), c()}, ReduceOp::sum, Element::i32);
    rank_.reduce(tile(1), {c(), b(), a()}, ReduceOp::sum, Element::i32);
    rank_.copy(tile(2, 0, 2), tile(0, 0, 2)).copy(tile(2, 2, 6), tile(1, 2, 6));
    rank_.reduce(out(), {tile(2)}, ReduceOp::sum, Element::i32);
    expect({a_, b_, c_}, Element::i32);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(Elements, HalfWrittenAreUnwritten) {
    rank_.reduce(tile(0), {a(), b()}).copy(out(0, 6), tile(0, 0, 6));
    expect({a_, b_}, Element::f32);
    EXPECT_THAT(found(), ElementsAre(ViolationKind::unwritten_read));
}

// ---------------------------------------------------------------------------- neutral elements

struct Neutral {
    ReduceOp op;
    Element element;
    double number;
    bool is_neutral;
};

class NeutralElements : public Elements, public ::testing::WithParamInterface<Neutral> {};

TEST_P(NeutralElements, AreNoContributions) {
    const auto& [op, element, number, is_neutral] = GetParam();
    rank_.fill(tile(0), number, element);
    for (const Range& input : {a(), b()}) rank_.reduce(tile(0), {tile(0), input}, op, element);
    rank_.copy(out(), tile(0));
    expect({a_, b_}, element, op);
    for (const bool in_order : {false, true}) {
        meaning_.in_order = in_order;
        EXPECT_EQ(found().empty(), is_neutral)
            << in_order << (report_.violations.empty() ? "" : report_.violations[0].message);
    }
    if (!is_neutral) {
        EXPECT_THAT(report_.violations[0].message, HasSubstr("not asked for: fill("));
    }
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

INSTANTIATE_TEST_SUITE_P(
    All, NeutralElements,
    ::testing::Values(Neutral{ReduceOp::sum, Element::f32, 0, true},
                      Neutral{ReduceOp::sum, Element::f16, -0.0, true},
                      Neutral{ReduceOp::sum, Element::i32, 0, true},
                      Neutral{ReduceOp::sum, Element::f32, 1, false},
                      Neutral{ReduceOp::prod, Element::f64, 1, true},
                      Neutral{ReduceOp::prod, Element::i16, 1, true},
                      Neutral{ReduceOp::prod, Element::f32, 0, false},
                      Neutral{ReduceOp::max, Element::f32, -kInfinity, true},
                      Neutral{ReduceOp::max, Element::bf16, 0, false},
                      Neutral{ReduceOp::max, Element::i32, -2147483648.0, true},
                      Neutral{ReduceOp::max, Element::i32, -2147483647.0, false},
                      Neutral{ReduceOp::max, Element::u8, 0, true},
                      Neutral{ReduceOp::max, Element::u64, 0, true},
                      Neutral{ReduceOp::max, Element::u32, 1, false},
                      Neutral{ReduceOp::min, Element::u16, 65535, true},
                      Neutral{ReduceOp::min, Element::u32, 4294967295.0, true},
                      Neutral{ReduceOp::min, Element::u32, 2147483647, false},
                      Neutral{ReduceOp::min, Element::u64, 0x1p63, false},
                      Neutral{ReduceOp::max, Element::i8, 0, false},
                      Neutral{ReduceOp::min, Element::f32, kInfinity, true},
                      Neutral{ReduceOp::min, Element::f32, -kInfinity, false},
                      Neutral{ReduceOp::min, Element::i16, 32767, true}));

// 255 is the greatest u8, also where it was written as an i8.
TEST_F(Elements, AreNeutralHoweverTheirBytesWereWritten) {
    rank_.fill(tile(0), -1, Element::i8)
        .reduce(tile(0), {tile(0), a()}, ReduceOp::min, Element::u8);
    rank_.reduce(out(), {tile(0), b()}, ReduceOp::min, Element::u8);
    expect({a_, b_}, Element::u8, ReduceOp::min);
    EXPECT_THAT(found(), IsEmpty());

    plans_.list()[0].instructions.clear();
    rank_.fill(tile(0, 0, 3), 0, Element::i8).fill(tile(0, 3, 5), 0, Element::u8);
    rank_.reduce(tile(0), {tile(0), a()}).reduce(out(), {tile(0), b()});
    expect({a_, b_}, Element::f32);
    EXPECT_THAT(found(), IsEmpty());
}

TEST_F(Elements, AreNotNeutralWhenTheyDoNotLineUp) {
    rank_.fill(rank_.tile(1, 12), 1);  // its bytes are 1s seen from byte 1 on
    rank_.reduce(tile(2), {rank_.tile(0 + 4, 8), a()}, ReduceOp::prod)
        .reduce(out(), {tile(2), b()}, ReduceOp::prod);
    expect({a_, b_}, Element::f32, ReduceOp::prod);
    EXPECT_THAT(found(), ElementsAre(ViolationKind::wrong_result));
}

TEST_F(Elements, OfOneContributionMayBeAddedToZeroInAReductionButNotInACopy) {
    rank_.fill(tile(0), 0).reduce(out(), {tile(0), a()});
    expect({a_}, Element::f32);
    EXPECT_THAT(found(), IsEmpty());
    meaning_.outputs[0].reduces = false;
    EXPECT_THAT(found(), ElementsAre(ViolationKind::wrong_result));
}

// ---------------------------------------------------------------------------- counts and orders

TEST_F(Elements, OfAMaximumMayBeCountedTwice) {
    for (const ReduceOp op : {ReduceOp::max, ReduceOp::min, ReduceOp::sum, ReduceOp::prod}) {
        plans_.list()[0].instructions.clear();
        rank_.reduce(tile(0), {a(), b()}, op).reduce(out(), {tile(0), a(), tile(0)}, op);
        expect({a_, b_}, Element::f32, op);
        const bool may = op == ReduceOp::max || op == ReduceOp::min;
        EXPECT_EQ(found().empty(), may) << name(op);
    }
}

// Two ranks that add in another order get the same bits if they are integers.
TEST(Orders, MatterToFloatingNumbersOnly) {
    for (const Element element : kElements) {
        Plans plans(2);
        const std::uint64_t bytes = 8;
        const std::uint16_t input = plans.argument("input", Direction::in, bytes);
        const std::uint16_t output = plans.argument("output", Direction::out, bytes);
        const std::uint16_t data = plans.window("data", bytes);
        const std::uint16_t signal = plans.signal("signal", 2, 1);
        for (int me = 0; me < 2; ++me) {
            RankPlan rank = plans.on(me);
            const int peer = 1 - me;
            rank.copy(rank.in(data, 0, bytes), rank.in(input, 0, bytes));
            rank.set(signal, peer, 0, now(1)).wait(signal, 0, now(1));
            rank.reduce(rank.in(output, 0, bytes),
                        {rank.in(data, 0, bytes), RankPlan::at(peer, data, 0, bytes)},
                        ReduceOp::sum, element);
            rank.set(signal, peer, 1, now(1)).wait(signal, 1, now(1));
        }
        Meaning meaning;
        meaning.same_bits = true;
        const auto all = std::make_shared<const std::vector<Contribution>>(
            std::vector<Contribution>{{0, input, 0}, {1, input, 0}});
        for (int rank = 0; rank < 2; ++rank) {
            meaning.outputs.push_back({rank, output, 0, bytes, all, ReduceOp::sum, element, true});
        }
        EXPECT_EQ(check_one(plans.list(), &meaning).verdict == Verdict::proved, !is_float(element))
            << name(element);
    }
}

}  // namespace element_test
}  // namespace peal
