// SPDX-License-Identifier: Apache-2.0
// Windows that hold something when a call begins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "check/digest.hpp"
#include "check/plans.hpp"
#include "peal/error.hpp"

namespace peal {
namespace held_test {

using namespace test;  // NOLINT
using enum Held::What;

// Two ranks that meet `phases` times in a call; rank 1 reads the window of rank 0 in between.
struct Reader {
    explicit Reader(bool tells_that_it_has_read) : plans(2) {
        const std::uint16_t output = plans.argument("output", Direction::out, 8);
        data = plans.window("data", 8);
        const std::uint16_t signal = plans.signal("signal", 2, 1);
        plans.on(0).set(signal, 1, 0, now(1));
        if (tells_that_it_has_read) plans.on(0).wait(signal, 1, now(1));
        plans.on(0).copy(plans.on(0).in(output, 0, 8), RankPlan::at(0, data, 0, 8));
        plans.on(1).wait(signal, 0, now(1));
        plans.on(1).copy(plans.on(1).in(output, 0, 8), RankPlan::at(0, data, 0, 8));
        if (tells_that_it_has_read) plans.on(1).set(signal, 0, 1, now(1));
    }
    std::vector<CheckStage> holding(std::vector<Held> holds) const {
        return {{&plans.list(), nullptr, {}, std::move(holds)}};
    }

    Plans plans;
    std::uint16_t data = 0;
};

std::vector<std::string> kinds(const CheckReport& report) {
    std::vector<std::string> list;
    for (const Violation& violation : report.violations) list.emplace_back(name(violation.kind));
    return list;
}

// By both methods.
CheckReport checked(const std::vector<CheckStage>& stages) {
    CheckOptions options;
    const CheckReport report = check(stages, options);
    options.explore = true;
    EXPECT_EQ(check(stages, options).verdict, report.verdict);
    return report;
}

TEST(Held, NothingUnlessItIsSaid) {
    const Reader reader(true);
    EXPECT_THAT(kinds(checked(reader.holding({}))),
                testing::Each(std::string("read of unwritten bytes")));
}

TEST(Held, InputOfEachCallIsPutThereByTheCaller) {
    EXPECT_EQ(checked(Reader(true).holding({{"data", input}})).verdict, Verdict::proved);
    // While a peer may still read it, the caller must not put the next there.
    const CheckReport report = checked(Reader(false).holding({{"data", input}}));
    ASSERT_FALSE(report.violations.empty());
    EXPECT_EQ(report.violations[0].kind, ViolationKind::data_race);
    EXPECT_EQ(report.violations[0].message,
              "rank 1 (`copy output[0..8) <- data@0[0..8)`, call 0) reads and rank 0's caller "
              "(staging call 1) writes data@0[0..8), and nothing orders them");
}

TEST(Held, ZerosArePutThereInTheSameWay) {
    EXPECT_EQ(checked(Reader(true).holding({{"data", zeros}})).verdict, Verdict::proved);
    EXPECT_THAT(kinds(checked(Reader(false).holding({{"data", zeros}}))),
                testing::Contains("data race"));
}

// Nobody touches it between the calls.
TEST(Held, AFreshWindowIsZeroBeforeTheFirstCall) {
    for (const bool tells : {true, false}) {
        const CheckReport report = checked(Reader(tells).holding({{"data", fresh}}));
        EXPECT_EQ(report.verdict, Verdict::proved);
        EXPECT_TRUE(report.any_calls) << report.why_not_any;
    }
}

TEST(Held, ZerosAreNoContributions) {
    Plans plans(1);
    const std::uint16_t in = plans.argument("input", Direction::in, 8, Element::f32);
    const std::uint16_t out = plans.argument("output", Direction::out, 8, Element::f32);
    const std::uint16_t data = plans.window("data", 8, Element::f32);
    RankPlan rank = plans.on(0);
    const Range sum = rank.in(data, 0, 8);
    rank.reduce(sum, {sum, rank.in(in, 0, 8)}, ReduceOp::sum, Element::f32);
    rank.copy(rank.in(out, 0, 8), sum);
    Meaning meaning;
    meaning.outputs = {
        {0, out, 0, 8,
         std::make_shared<const std::vector<Contribution>>(std::vector<Contribution>{{0, in, 0}}),
         ReduceOp::sum, Element::f32, true}};
    const auto holding = [&](Held::What what) -> std::vector<CheckStage> {
        return {{&plans.list(), &meaning, {}, {{"data", what}}}};
    };
    EXPECT_EQ(checked(holding(zeros)).verdict, Verdict::proved);
    // In the second call the sum of the first is there.
    EXPECT_THAT(kinds(checked(holding(fresh))), testing::ElementsAre("wrong result"));
    EXPECT_THAT(kinds(checked(holding(input))), testing::Contains("wrong result"));
    CheckOptions once;
    once.calls = 1;
    once.any_calls = false;
    EXPECT_EQ(check(holding(fresh), once).verdict, Verdict::proved);
}

TEST(Held, IsPartOfWhatIsProved) {
    const Reader reader(true);
    std::set<std::string> digests;
    for (const auto& holds : std::vector<std::vector<Held>>{
             {}, {{"data", input}}, {{"data", zeros}}, {{"data", fresh}}}) {
        digests.insert(checker::digest(reader.holding(holds)));
    }
    EXPECT_EQ(digests.size(), 4U);
}

TEST(Held, WindowsThatThereAreEachOnce) {
    const Reader reader(true);
    const auto complaint = [&](std::vector<Held> holds) -> std::string {
        try {
            check(reader.holding(std::move(holds)));
        } catch (const Error& error) {
            EXPECT_EQ(error.fault(), Fault::usage);
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(complaint({{"output", input}}),
              "check: stage 0: 'output' should hold data, but kernel test has no such window: it "
              "has data");
    EXPECT_EQ(complaint({{"data", input}, {"data", zeros}}),
              "check: stage 0: what 'data' holds is said twice");
}

// ---------------------------------------------------------------------------- ports

TEST(PortsOfAKernel, AreWhereItsDataIs) {
    Plans plans(1);
    const std::uint16_t weights = plans.argument("weights", Direction::in, 8);
    const std::uint16_t x = plans.window("x", 8);
    const std::uint16_t y = plans.window("y", 8);
    const Plan& plan = plans.list()[0];
    const auto ports = [&](const std::vector<Held>& holds, std::string_view result) {
        const Ports found = ports_of(plan, holds, result);
        return std::pair(found.input, found.output);
    };
    EXPECT_EQ(ports({}, "y"), std::pair(weights, y));
    EXPECT_EQ(ports({{"x", input}}, ""), std::pair(x, x));
    EXPECT_EQ(ports({{"y", fresh}, {"x", input}}, "y"), std::pair(x, y));
    const auto complaint = [&](const std::vector<Held>& holds, std::string_view result) {
        try {
            ports_of(plan, holds, result);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    EXPECT_EQ(complaint({}, ""),
              "kernel test has no argument to write: its meaning cannot be checked");
    EXPECT_EQ(complaint({{"z", input}}, ""),
              "kernel test has no window 'z' to hold its input: its meaning cannot be checked");
    EXPECT_EQ(complaint({{"x", input}}, "weights"),
              "kernel test has no window or argument to write 'weights': its meaning cannot be "
              "checked");
}

}  // namespace held_test
}  // namespace peal
