// SPDX-License-Identifier: Apache-2.0
// Sums that several ranks gather in one place, conversions and sums of rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/plans.hpp"
#include "check/possible.hpp"

namespace peal {
namespace accumulate_test {

using namespace test;  // NOLINT
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kBytes = 8;

// Every rank adds its input to the window of every rank: clear, meet, add, meet, take, meet.
struct Gather {
    explicit Gather(int nranks, bool clears = true) : plans(nranks) {
        input = plans.argument("input", Direction::in, kBytes);
        output = plans.argument("output", Direction::out, kBytes);
        data = plans.window("data", kBytes);
        signal = plans.signal("signal", static_cast<std::uint64_t>(3 * nranks), 1);
        for (int me = 0; me < nranks; ++me) {
            RankPlan rank = plans.on(me);
            if (clears) rank.fill(rank.in(data, 0, kBytes), 0);
            if (clears) meet(me, 0);
            for (int to = 0; to < nranks; ++to) {
                rank.accumulate(RankPlan::at(to, data, 0, kBytes), rank.in(input, 0, kBytes));
            }
            meet(me, 1);
            rank.copy(rank.in(output, 0, kBytes), rank.in(data, 0, kBytes)).from_line(12);
            meet(me, 2);
        }
    }

    void meet(int me, int round) {
        RankPlan rank = plans.on(me);
        const auto cell = [&](int of) {
            return static_cast<std::uint64_t>(round * plans.nranks() + of);
        };
        for (int peer = 0; peer < plans.nranks(); ++peer) {
            if (peer != me) rank.set(signal, peer, cell(me), now(1));
        }
        for (int peer = 0; peer < plans.nranks(); ++peer) {
            if (peer != me) rank.wait(signal, cell(peer), now(1));
        }
    }

    Meaning meaning() const {
        Meaning meaning;
        meaning.name = "allreduce";
        meaning.same_bits = true;
        std::vector<Contribution> of;
        for (int rank = 0; rank < plans.nranks(); ++rank) of.push_back({rank, input, 0});
        const auto all = std::make_shared<const std::vector<Contribution>>(of);
        for (int rank = 0; rank < plans.nranks(); ++rank) {
            meaning.outputs.push_back({rank, output, 0, kBytes, all, ReduceOp::sum, Element::f32});
        }
        return meaning;
    }

    Accumulate& addition(int rank, int to) {
        for (Instruction& instruction : plans.list()[static_cast<std::size_t>(rank)].instructions) {
            auto* accumulate = std::get_if<Accumulate>(&instruction.action);
            if (accumulate && accumulate->dst.rank == to) return *accumulate;
        }
        throw std::logic_error("there is no such addition");
    }

    Plans plans;
    std::uint16_t input = 0, output = 0, data = 0, signal = 0;
};

// Both methods say the same of it.
CheckReport both(const Gather& gather, const Meaning& meaning, int calls = 2) {
    CheckOptions options;
    options.calls = calls;
    const CheckReport report = check_one(gather.plans.list(), &meaning, options);
    EXPECT_EQ(report.method, CheckMethod::linear);
    options.explore = true;
    const CheckReport explored = check_one(gather.plans.list(), &meaning, options);
    EXPECT_EQ(explored.verdict, report.verdict);
    const std::vector<CheckStage> stages = {{&gather.plans.list(), &meaning, {}}};
    for (const CheckReport* each : {&report, &explored}) {
        for (const Violation& violation : each->violations) expect_possible(stages, violation);
    }
    if (!report.violations.empty() && !explored.violations.empty()) {
        EXPECT_EQ(explored.violations[0].kind, report.violations[0].kind);
    }
    return report;
}

// ---------------------------------------------------------------------------- races

TEST(Accumulate, AdditionsOfAllRanksDoNotClash) {
    for (int nranks = 1; nranks <= 3; ++nranks) {
        const Gather gather(nranks);
        Meaning meaning = gather.meaning();
        if (nranks == 1) meaning.outputs.clear();
        EXPECT_EQ(both(gather, meaning).verdict, Verdict::proved) << nranks;
    }
}

TEST(Accumulate, ManyRanksProveQuickly) {
    const Gather gather(32);
    const Meaning meaning = gather.meaning();
    CheckOptions options;
    options.calls = 2;
    const CheckReport report = check_one(gather.plans.list(), &meaning, options);
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
}

TEST(Accumulate, AnAdditionOfAnotherTypeClashes) {
    Gather gather(2);
    gather.addition(1, 0).element = Element::i32;
    const CheckReport report = both(gather, gather.meaning(), 1);
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::data_race));
    EXPECT_EQ(report.violations[0].message,
              "rank 1 (`accumulate i32 data@0[0..8) <- input[0..8)`, call 0) adds to and rank 0 "
              "(`accumulate f32 data[0..8) <- input[0..8)`, call 0) adds to data@0[0..8), and "
              "nothing orders them");
}

// Rank 1 does not wait: until all have cleared, or until all have added.
TEST(Accumulate, AdditionsClashWithReadsAndWrites) {
    for (const int round : {0, 1}) {
        Gather gather(2);
        std::vector<Instruction>& list = gather.plans.list()[1].instructions;
        std::erase_if(list, [&](const Instruction& instruction) {
            const auto* wait = std::get_if<Wait>(&instruction.action);
            return wait && wait->cell.index / 2 == static_cast<std::uint64_t>(round);
        });
        const CheckReport report = both(gather, gather.meaning());
        ASSERT_EQ(report.verdict, Verdict::violated) << round;
        EXPECT_EQ(report.violations[0].kind, ViolationKind::data_race) << round;
        EXPECT_THAT(report.violations[0].message, HasSubstr("adds to")) << round;
    }
}

// Reads since the last write are remembered although somebody else added in between.
TEST(Accumulate, AnAdditionClashesWithAReadBeforeAnotherAddition) {
    Plans plans(3);
    const std::uint16_t input = plans.argument("input", Direction::in, kBytes);
    const std::uint16_t output = plans.argument("output", Direction::out, kBytes);
    const std::uint16_t data = plans.window("data", kBytes);
    const std::uint16_t signal = plans.signal("signal", 2, 1);
    RankPlan reader = plans.on(0);
    reader.fill(reader.in(data, 0, kBytes), 0).set(signal, 2, 0, now(1));
    reader.copy(reader.in(output, 0, kBytes), reader.in(data, 0, kBytes));
    reader.set(signal, 1, 0, now(1));
    RankPlan ordered = plans.on(1);
    ordered.wait(signal, 0, now(1));
    ordered.accumulate(RankPlan::at(0, data, 0, kBytes), ordered.in(input, 0, kBytes));
    RankPlan other = plans.on(2);
    other.wait(signal, 0, now(1));
    other.accumulate(RankPlan::at(0, data, 0, kBytes), other.in(input, 0, kBytes));
    for (const bool explore : {false, true}) {
        CheckOptions options;
        options.calls = 1;
        options.explore = explore;
        const CheckReport report = check_one(plans.list(), nullptr, options);
        ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::data_race));
        EXPECT_THAT(report.violations[0].message, HasSubstr("rank 2 (`accumulate"));
        EXPECT_THAT(report.violations[0].message, HasSubstr("reads"));
    }
}

// ---------------------------------------------------------------------------- contents

TEST(Accumulate, AWindowThatNobodyWroteIsZeroOnlyOnce) {
    const Gather gather(2, false);
    const Meaning meaning = gather.meaning();
    EXPECT_EQ(both(gather, meaning, 1).verdict, Verdict::proved);
    const CheckReport report = both(gather, meaning, 2);
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].kind, ViolationKind::wrong_result);
    EXPECT_EQ(report.violations[0].message,
              "after call 1, output@0[0..8) is wrong: not asked for: input@0[0..8) of call 0, "
              "input@1[0..8) of call 0, last written by `copy output[0..8) <- data[0..8)` (line "
              "12)");
    EXPECT_EQ(report.violations[0].found,
              "sum in any order(input@0[0..8) of call 0, input@1[0..8) of call 0, input@0[0..8) "
              "of call 1, input@1[0..8) of call 1)");
}

// In one call, what was cleared and what nobody wrote are zeros alike, within one element too.
TEST(Accumulate, AHalfClearedElementOfAWindowIsZero) {
    Gather gather(2);
    for (Plan& plan : gather.plans.list()) {
        std::get<Map>(plan.instructions[0].action).dst = {gather.data, plan.rank, 2, 4};
    }
    const Meaning meaning = gather.meaning();
    CheckOptions options;
    options.calls = 1;
    EXPECT_EQ(check_one(gather.plans.list(), &meaning, options).verdict, Verdict::proved);
    options.calls = 2;
    EXPECT_EQ(check_one(gather.plans.list(), &meaning, options).verdict, Verdict::violated);
}

TEST(Accumulate, OtherMemoryMustHaveBeenWritten) {
    Plans plans(1);
    const std::uint16_t input = plans.argument("input", Direction::in, kBytes);
    const std::uint16_t output = plans.argument("output", Direction::out, kBytes);
    plans.tile_bytes(kBytes);
    RankPlan rank = plans.on(0);
    rank.accumulate(rank.tile(0, kBytes), rank.in(input, 0, kBytes));
    rank.accumulate(rank.in(output, 0, kBytes), rank.in(input, 0, kBytes));
    CheckOptions options;
    options.calls = 1;
    EXPECT_THAT(kinds(check_one(plans.list(), nullptr, options)),
                ElementsAre(ViolationKind::unwritten_read, ViolationKind::unwritten_read));
}

TEST(Accumulate, AMissingAdditionIsNamed) {
    Gather gather(3);
    gather.addition(2, 0).dst.length = gather.addition(2, 0).src.length = 4;
    const CheckReport report = both(gather, gather.meaning(), 1);
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations[0].message,
              "after call 0, output@0[4..8) is wrong: missing: input@2[4..8), last written by "
              "`copy output[0..8) <- data[0..8)` (line 12)");
}

// The order is open: it is neither the same everywhere nor that of the ranks.
TEST(Accumulate, AGatheredSumClaimsNoOrder) {
    const Gather gather(3);
    Meaning meaning = gather.meaning();
    meaning.same_bits = false;
    meaning.in_order = true;
    const CheckReport report = both(gather, meaning, 1);
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_THAT(report.violations[0].message, HasSubstr("is wrong: the order is open"));
}

// What is in a window that was "cleared" with anything is one of the contributions.
TEST(Clobber, IsNoEmptySum) {
    Gather gather(2);
    for (Plan& plan : gather.plans.list()) {
        std::get<Map>(plan.instructions[0].action).op = MapOp::clobber;
    }
    const CheckReport report = both(gather, gather.meaning());
    ASSERT_EQ(kinds(report)[0], ViolationKind::wrong_result);
    EXPECT_THAT(report.violations[0].message,
                HasSubstr("is wrong: not asked for: unknown(data@1[0..8) of call 0)"));
}

// ---------------------------------------------------------------------------- convert, row_sum

// Rank 1 takes what rank 0 made of its input; the meaning is a copy of the input.
Violation taken(const std::function<void(RankPlan&, const Range&, const Range&)>& make,
                std::uint64_t bytes) {
    Plans plans(1);
    const std::uint16_t input = plans.argument("input", Direction::in, 16);
    const std::uint16_t output = plans.argument("output", Direction::out, bytes);
    RankPlan rank = plans.on(0);
    make(rank, rank.in(output, 0, bytes), rank.in(input, 0, 16));
    Meaning meaning;
    meaning.outputs.push_back({0, output, 0, bytes,
                               std::make_shared<const std::vector<Contribution>>(
                                   std::vector<Contribution>{{0, input, 0}}),
                               ReduceOp::sum, Element::f32});
    CheckOptions options;
    options.calls = 1;
    const CheckReport report = check_one(plans.list(), &meaning, options);
    return report.violations.empty() ? Violation{} : report.violations[0];
}

TEST(Convert, IsNoCopy) {
    const Violation violation =
        taken([](RankPlan& rank, const Range& dst,
                 const Range& src) { rank.convert(dst, Element::f16, src, Element::f32); },
              8);
    EXPECT_EQ(violation.kind, ViolationKind::wrong_result);
    EXPECT_EQ(violation.found, "f16(input@0[0..16))");
}

TEST(RowSum, IsNoCopy) {
    const Violation violation = taken(
        [](RankPlan& rank, const Range& dst, const Range& src) { rank.row_sum(dst, src); }, 4);
    EXPECT_EQ(violation.kind, ViolationKind::wrong_result);
    EXPECT_EQ(violation.found, "row_sum(input@0[0..16))");
}

// Halves of a tile come from two inputs, and the border is within an element.
TEST(Convert, AnElementOfTwoContentsIsAContentOfItsOwn) {
    Plans plans(1);
    const std::uint16_t a = plans.argument("a", Direction::in, 16);
    const std::uint16_t b = plans.argument("b", Direction::in, 16);
    const std::uint16_t output = plans.argument("output", Direction::out, 8);
    plans.tile_bytes(16);
    RankPlan rank = plans.on(0);
    rank.copy(rank.tile(0, 6), rank.in(a, 0, 6)).copy(rank.tile(6, 10), rank.in(b, 6, 10));
    rank.convert(rank.in(output, 0, 8), Element::f16, rank.tile(0, 16), Element::f32);
    // Each element is compared with a copy, which it is not.
    const auto copied =
        std::make_shared<const std::vector<Contribution>>(std::vector<Contribution>{{0, a, 0}});
    const auto found_at = [&](std::uint64_t at, std::uint64_t bytes) {
        Meaning meaning;
        meaning.outputs.push_back({0, output, at, bytes, copied, ReduceOp::sum, Element::f16});
        CheckOptions options;
        options.calls = 1;
        return check_one(plans.list(), &meaning, options).violations.at(0).found;
    };
    EXPECT_EQ(found_at(0, 2), "f16(a@0[0..4))");
    EXPECT_EQ(found_at(2, 2), "convert(a@0[4..6), b@0[6..8))");
    EXPECT_EQ(found_at(4, 4), "f16(b@0[8..16))");
}

// ---------------------------------------------------------------------------- who wrote it

TEST(LastWriter, IsNamedAlsoOnAnotherRank) {
    Plans plans(2);
    const std::uint16_t input = plans.argument("input", Direction::in, kBytes);
    const std::uint16_t data = plans.window("data", kBytes);
    const std::uint16_t signal = plans.signal("signal", 2, 1);
    RankPlan sender = plans.on(0);
    sender.fill(RankPlan::at(1, data, 0, kBytes), 3).from_line(4);
    sender.set(signal, 1, 0, now(1)).wait(signal, 1, now(1));
    RankPlan receiver = plans.on(1);
    receiver.wait(signal, 0, now(1));
    receiver.set(signal, 0, 1, now(1));
    Meaning meaning;
    meaning.outputs.push_back({1, data, 0, kBytes,
                               std::make_shared<const std::vector<Contribution>>(
                                   std::vector<Contribution>{{0, input, 0}}),
                               ReduceOp::sum, Element::f32});
    for (const bool explore : {false, true}) {
        CheckOptions options;
        options.calls = 1;
        options.explore = explore;
        const CheckReport report = check_one(plans.list(), &meaning, options);
        ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::wrong_result));
        const Violation& violation = report.violations[0];
        EXPECT_THAT(violation.message,
                    HasSubstr(", last written by rank 0's `fill f32 data@1[0..8) <- 3` (line 4)"));
        ASSERT_EQ(violation.steps.size(), 2u);
        EXPECT_EQ(violation.steps[0].index, Step::kConsumes);
        EXPECT_EQ(violation.steps[1].rank, 0);
        EXPECT_EQ(violation.steps[1].index, 0);
    }
}

TEST(LastWriter, IsNobodyWhenTheOutputIsStillWhatTheCallerStaged) {
    Plans plans(1);
    const std::uint16_t input = plans.argument("input", Direction::in, kBytes);
    const std::uint16_t output = plans.argument("output", Direction::inout, kBytes);
    Meaning meaning;
    meaning.outputs.push_back({0, output, 0, kBytes,
                               std::make_shared<const std::vector<Contribution>>(
                                   std::vector<Contribution>{{0, input, 0}}),
                               ReduceOp::sum, Element::f32});
    CheckOptions options;
    options.calls = 1;
    const CheckReport report = check_one(plans.list(), &meaning, options);
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::wrong_result));
    EXPECT_EQ(report.violations[0].message,
              "after call 0, output@0[0..8) is wrong: missing: input@0[0..8); not asked for: "
              "output@0[0..8)");
    EXPECT_EQ(report.violations[0].steps.size(), 1u);
}

}  // namespace accumulate_test
}  // namespace peal
