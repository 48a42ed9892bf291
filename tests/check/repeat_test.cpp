// SPDX-License-Identifier: Apache-2.0
// Any number of calls: where it is claimed, where not and why; and cells that are taken back from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/credit_ring.hpp"
#include "check/recipes.hpp"
#include "peal/compile.hpp"
#include "peal/program.hpp"

namespace peal {
namespace repeat_test {

using namespace test;  // NOLINT
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMost = 2147483647;

void expect_any(const CheckReport& report, std::uint64_t calls_that_fit) {
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::linear);
    EXPECT_TRUE(report.any_calls);
    EXPECT_EQ(report.calls_that_fit, calls_that_fit);
    EXPECT_THAT(report.why_not_any, IsEmpty());
}

void expect_three(const CheckReport& report, const std::string& why_not) {
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_FALSE(report.any_calls);
    EXPECT_EQ(report.calls, 3);
    EXPECT_EQ(report.why_not_any, why_not);
}

TEST(AnyCalls, AreShownByTwo) {
    const Plans plans = mesh_allreduce(4, 64);
    const Meaning meaning = allreduce_meaning(plans, 64, false);
    const CheckReport report = check_one(plans.list(), &meaning);
    expect_any(report, kMost / 2);
    CheckOptions twice;
    twice.calls = 2;
    twice.any_calls = false;
    const CheckReport two = check_one(plans.list(), &meaning, twice);
    EXPECT_FALSE(two.any_calls);
    EXPECT_EQ(report.events, two.events);
}

TEST(AnyCalls, AreNotAskedForOrAre) {
    const Plans plans = mesh_allreduce(2, 8);
    for (const int calls : {1, 2, 3, 5}) {
        CheckOptions options;
        options.calls = calls;
        expect_any(check_one(plans.list(), nullptr, options), kMost / 2);
        options.any_calls = false;
        const CheckReport report = check_one(plans.list(), nullptr, options);
        EXPECT_EQ(report.calls, calls);
        EXPECT_FALSE(report.any_calls);
        EXPECT_THAT(report.why_not_any, IsEmpty());
    }
}

// Each rank hears from its left neighbour only: what it knows of the others comes round the ring,
// one rank further in each call.
TEST(AnyCalls, AreShownWhereNewsTravels) {
    for (int nranks = 2; nranks <= 9; ++nranks) {
        Plans plans(nranks);
        const std::uint16_t signal = plans.signal("signal", 1, 1);
        for (int rank = 0; rank < nranks; ++rank) {
            plans.on(rank).set(signal, (rank + 1) % nranks, 0, now(1)).wait(signal, 0, now(1));
        }
        expect_any(check_one(plans.list()), kMost);
    }
}

TEST(AnyCalls, AreNotShownWhereMemoryGrows) {
    Plans plans(1);
    const std::uint16_t input = plans.argument("input", Direction::in, 4);
    const std::uint16_t sum = plans.window("sum", 8);
    RankPlan rank = plans.on(0);
    rank.accumulate(rank.in(sum, 4, 4), rank.in(input, 0, 4));
    expect_three(check_one(plans.list()), "sum@0[4..8) keeps what earlier calls left there");
    rank.fill(rank.in(sum, 4, 4), 0);
    expect_any(check_one(plans.list()), 0);
}

// A wait that asks for what nobody brings passes while that is nothing.
TEST(AnyCalls, AreNotShownByWaitsThatAskForNothingYet) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    plans.on(0).wait(signal, 0, now(-3));
    expect_three(check_one(plans.list()),
                 "5 calls are not right: deadlock: nobody can go on: rank 0 (`wait signal[0] >= "
                 "generation - 3`, call 4) sees 0 in signal[0]@0");
    CheckOptions options;
    options.calls = 5;
    EXPECT_EQ(check_one(plans.list(), nullptr, options).verdict, Verdict::violated);
    plans.on(1).wait(signal, 0, now(-9));
    plans.list()[0].instructions.clear();
    expect_three(check_one(plans.list()), "a wait asks for nothing yet in the first calls");
}

TEST(AnyCalls, AreNotShownWhereACellSoonOverflows) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    plans.on(1).set(signal, 0, 0, now(kMost - 500));
    plans.on(0).wait(signal, 0, now(kMost - 500));
    expect_three(check_one(plans.list()), "signal[0]@0 overflows after 501 rounds of calls");
    CheckOptions options;
    options.calls = 501;
    EXPECT_EQ(check_one(plans.list(), nullptr, options).verdict, Verdict::proved);
    options.calls = 502;
    EXPECT_THAT(kinds(check_one(plans.list(), nullptr, options)),
                ElementsAre(ViolationKind::overflow));
}

TEST(AnyCalls, AreNotShownByExploring) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 0);
    plans.on(1).set(signal, 0, 0, fixed(0));
    plans.on(0).wait(signal, 0, Compare::le, fixed(0));
    expect_three(check_one(plans.list()),
                 "only the linear method shows that, and this was explored");
}

// ---------------------------------------------------------------------------- credits

// All add to a cell of each, which waits for all of them and takes back what it has seen; so often
// in each call, each time another cell.
Plans barrier_of_credits(int nranks, std::uint64_t phases, std::int64_t taken) {
    Plans plans(nranks);
    const std::uint16_t credit = plans.signal("credit", phases, 0);
    for (std::uint64_t phase = 0; phase < phases; ++phase) {
        for (int rank = 0; rank < nranks; ++rank) {
            RankPlan plan = plans.on(rank);
            for (int peer = 0; peer < nranks; ++peer) {
                if (peer != rank) plan.increase(credit, peer, phase, fixed(1));
            }
            plan.wait(credit, phase, fixed(nranks - 1));
            plan.increase(credit, rank, phase, fixed(-taken));
        }
    }
    return plans;
}

TEST(Credits, ThatAreTakenBackAreCounted) {
    Meaning meaning;
    meaning.meets = true;
    for (int nranks = 2; nranks <= 16; ++nranks) {
        const Plans plans = barrier_of_credits(nranks, 2, nranks - 1);
        expect_any(check_one(plans.list(), &meaning), 0);
    }
    expect_any(check_one(barrier_of_credits(2, 1, 1).list(), &meaning), 0);
}

// One rank may ring for the next call before another has rung for this one: their credits mix.
TEST(Credits, OfTwoCallsThatMayMixAreExplored) {
    const CheckReport report = check_one(barrier_of_credits(3, 1, 2).list());
    EXPECT_EQ(report.method, CheckMethod::exploration);
    expect_three(report, "only the linear method shows that, and this was explored");
}

TEST(Credits, MustBeTakenBackAsManyAsCame) {
    EXPECT_EQ(check_one(barrier_of_credits(2, 1, 0).list()).violations.front().kind,
              ViolationKind::stale_signal);
    const CheckReport report = check_one(barrier_of_credits(2, 1, 2).list());
    EXPECT_EQ(report.method, CheckMethod::linear);
    EXPECT_THAT(kinds(report), ElementsAre(ViolationKind::deadlock));
}

// By whoever sent it, or by a `set` that wipes the next one, too: outside of what is counted, and
// found all the same.
TEST(Credits, AreTakenBackByTheirOwnerAndByAdding) {
    for (const bool by_set : {false, true}) {
        Plans plans(2);
        const std::uint16_t credit = plans.signal("credit", 1, 0);
        for (int rank = 0; rank < 2; ++rank) {
            RankPlan plan = plans.on(rank);
            plan.increase(credit, 1 - rank, 0, fixed(1)).wait(credit, 0, fixed(1));
            if (by_set) {
                plan.set(credit, rank, 0, fixed(0));
            } else {
                plan.increase(credit, 1 - rank, 0, fixed(-1));
            }
        }
        const CheckReport report = check_one(plans.list());
        EXPECT_EQ(report.method, CheckMethod::exploration);
        EXPECT_THAT(kinds(report),
                    ElementsAre(by_set ? ViolationKind::deadlock : ViolationKind::stale_signal));
    }
}

// A push in halves, where `half` says how the turns go.
CheckReport check_halves(const std::string& half, int nranks, int calls = 3) {
    const std::string text =
        "kernel halves(inp: in i32[2], out: out i32[2], data: window i32[2, nranks, 2],\n"
        "              sig: window i32[nranks]) {\n"
        "    half = " +
        half +
        "\n"
        "    for peer in 0..nranks { data@peer[half, rank] = inp }\n"
        "    for peer in peers { notify sig[rank]@peer = generation(sig) + 3 }\n"
        "    for peer in peers { wait sig[peer] >= generation(sig) + 3 }\n"
        "    acc = data[half, 0]\n"
        "    for r in 1..nranks { acc = acc + data[half, r] }\n"
        "    out = acc\n"
        "    advance sig by 3\n"
        "}\n";
    const ir::Program program = parse(std::make_shared<const Source>("halves.peal", text));
    const std::vector<Plan> plans = compile(program, "halves", {}, nranks);
    Collective allreduce;
    allreduce.kind = CollectiveKind::allreduce;
    allreduce.element = Element::i32;
    allreduce.count = 2;
    const Meaning meaning = meaning_of(allreduce, plans);
    CheckOptions options;
    options.calls = calls;
    return check({{&plans, &meaning, {}}}, options);
}

// Rounds are compared with those of the same turns.
TEST(Turns, AreShownForAnyNumberOfCalls) {
    for (const int nranks : {2, 3, 8}) {
        for (const int calls : {1, 3, 6}) {
            const CheckReport report = check_halves("generation(sig) % 2", nranks, calls);
            expect_any(report, kMost / 3 / 2 * 2);
            EXPECT_EQ(check_halves("generation(sig) / 3 % 2", nranks, calls).any_calls, true);
        }
    }
}

TEST(Turns, ThatAreTooLongOrTooShortAreRefuted) {
    for (const char* half : {"0", "generation(sig) / 6 % 2", "(generation(sig) + 1) / 2 % 2"}) {
        const CheckReport report = check_halves(half, 2, 6);
        EXPECT_THAT(kinds(report), ElementsAre(ViolationKind::data_race)) << half;
        EXPECT_FALSE(report.any_calls) << half;
    }
}

// One call in two calls of four is right, two in a row are not: it shows in the third.
TEST(Turns, AreThoseOfTheCall) {
    const char* const half = "generation(sig) / 6 % 2";
    EXPECT_EQ(check_halves(half, 2, 1).verdict, Verdict::proved);
    const CheckReport report = check_halves(half, 2);
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_EQ(report.violations.front().memory, "data@0[0][1][0;2]");
}

TEST(Turns, ThatComeAgainTooLateAreProvedForSomeCalls) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    const std::uint16_t input = plans.argument("input", Direction::in, 1, Element::u8);
    const std::uint16_t data = plans.window("data", 2, Element::u8);
    std::vector<Plan> list = plans.list();
    for (Plan& plan : list) {
        plan.turns = {signal, 2000, 2, {{data, {0, 1}}}};
        plan.instructions.push_back(
            {Copy{Range(data, plan.rank, 0, 1, 1), Range(input, plan.rank, 0, 1)}});
    }
    expect_three(check_one(list), "memory is where it was after 4000 calls only");
}

TEST(Credits, OfARingAreCounted) {
    const ir::Program program = parse(std::make_shared<const Source>("ring.peal", kCreditRing));
    Bindings bindings;
    bindings.integers["k"] = 2;
    for (const int nranks : {2, 3, 4, 8, 16}) {
        const std::vector<Plan> plans = compile(program, "ring", bindings, nranks);
        Collective allreduce;
        allreduce.kind = CollectiveKind::allreduce;
        allreduce.count = 2 * static_cast<std::uint64_t>(nranks);
        const Meaning meaning = meaning_of(allreduce, plans);
        expect_any(check({{&plans, &meaning, {}}}), 0);
    }
}

}  // namespace repeat_test
}  // namespace peal
