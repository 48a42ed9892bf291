// SPDX-License-Identifier: Apache-2.0
// Each kind of violation, made by hand: what is said, and the interleaving that shows it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "check/possible.hpp"
#include "check/recipes.hpp"
#include "peal/error.hpp"

namespace peal {
namespace violation_test {

using namespace test;  // NOLINT
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Both methods find it, in the same words; the schedules are possible.
Violation find(const std::vector<CheckStage>& stages, CheckOptions options = {}) {
    CheckReport report = check(stages, options);
    EXPECT_EQ(report.verdict, Verdict::violated);
    if (report.violations.empty()) return {};
    options.explore = true;
    const CheckReport explored = check(stages, options);
    EXPECT_EQ(explored.verdict, Verdict::violated);
    if (!explored.violations.empty()) {
        EXPECT_EQ(explored.violations[0].kind, report.violations[0].kind)
            << explored.violations[0].message;
        expect_possible(stages, explored.violations[0]);
    }
    for (const Violation& violation : report.violations) expect_possible(stages, violation);
    return report.violations[0];
}

Violation find(const Plans& plans, const Meaning* meaning = nullptr,
               const CheckOptions& options = {}) {
    return find({{&plans.list(), meaning, {}}}, options);
}

std::vector<std::string> texts(const Violation& violation, const Plans& plans) {
    std::vector<std::string> list;
    for (const Step& step : violation.schedule) {
        list.push_back(to_text(step, {{&plans.list(), nullptr, {}}}));
    }
    return list;
}

// Rank 0 writes its window, rank 1 reads it; with a signal in between or not.
struct Pair {
    explicit Pair(bool ordered) : plans(2) {
        const std::uint16_t input = plans.argument("input", Direction::in, 8);
        const std::uint16_t output = plans.argument("output", Direction::out, 8);
        data = plans.window("data", 8);
        signal = plans.signal("signal", 2, 1);
        RankPlan writer = plans.on(0);
        RankPlan reader = plans.on(1);
        writer.copy(writer.in(data, 0, 8), writer.in(input, 0, 8));
        if (ordered) {
            writer.set(signal, 1, 0, now(1));
            reader.wait(signal, 0, now(1));
        }
        reader.copy(reader.in(output, 0, 8), RankPlan::at(0, data, 0, 8));
    }
    Plans plans;
    std::uint16_t data = 0, signal = 0;
};

TEST(Violation, DataRace) {
    const Pair pair(false);
    const Violation violation = find(pair.plans);
    EXPECT_EQ(violation.kind, ViolationKind::data_race);
    EXPECT_EQ(violation.message,
              "rank 0 (`copy data[0..8) <- input[0..8)`, call 0) writes and rank 1 (`copy "
              "output[0..8) <- data@0[0..8)`, call 0) reads data@0[0..8), and nothing orders them");
    EXPECT_EQ(violation.memory, "data@0[0..8)");
    EXPECT_THAT(texts(violation, pair.plans),
                ElementsAre("rank 0, call 0: the caller stages its input",
                            "rank 1, call 0: the caller stages its input",
                            "rank 0, call 0: copy data[0..8) <- input[0..8)",
                            "rank 1, call 0: copy output[0..8) <- data@0[0..8)"));
    EXPECT_EQ(violation.steps.size(), 2u);
}

// The reader is told when it may read, but the writer is not told when it may write again.
TEST(Violation, RaceWithTheNextCall) {
    const Pair pair(true);
    const Violation violation = find(pair.plans);
    EXPECT_EQ(violation.kind, ViolationKind::data_race);
    const std::vector<std::string> schedule = texts(violation, pair.plans);
    EXPECT_EQ(schedule.size(), 9u);
    EXPECT_THAT(schedule, Contains("rank 0, call 1: copy data[0..8) <- input[0..8)"));
    EXPECT_THAT(schedule, Contains("rank 1, call 0: copy output[0..8) <- data@0[0..8)"));
    // The wait shows which notify released it.
    for (const Step& step : violation.schedule) {
        const bool is_wait = step.rank == 1 && step.index == 0;
        EXPECT_EQ(step.released_by >= 0, is_wait);
        if (is_wait) {
            const Step& notify = violation.schedule[static_cast<std::size_t>(step.released_by)];
            EXPECT_EQ(notify.rank, 0);
            EXPECT_EQ(notify.index, 1);
        }
    }
    CheckOptions once;
    once.calls = 1;
    EXPECT_EQ(check_one(pair.plans.list(), nullptr, once).verdict, Verdict::proved);
}

TEST(Violation, RangesThatDoNotMeetDoNotRace) {
    Plans plans(2);
    const std::uint16_t data = plans.window("data", 8);
    for (int rank = 0; rank < 2; ++rank) {
        plans.on(rank).fill({data, 0, rank == 0 ? 0u : 4u, 4}, 1);
    }
    EXPECT_EQ(check_one(plans.list()).verdict, Verdict::proved);
    plans.list()[1].instructions[0].action = Map{MapOp::fill, Element::f32, 1, {data, 0, 3, 4}, {}};
    EXPECT_EQ(find(plans).memory, "data@0[3..4)");
}

TEST(Violation, Deadlock) {
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    plans.on(0).wait(signal, 0, now(1)).set(signal, 1, 0, now(1));
    plans.on(1).wait(signal, 0, now(1)).set(signal, 0, 0, now(1));
    const Violation violation = find(plans);
    EXPECT_EQ(violation.kind, ViolationKind::deadlock);
    EXPECT_EQ(violation.message,
              "nobody can go on: rank 0 (`wait signal[0] >= generation + 1`, call 0) sees 0 in "
              "signal[0]@0; rank 1 (`wait signal[0] >= generation + 1`, call 0) sees 0 in "
              "signal[0]@1");
    EXPECT_THAT(texts(violation, plans),
                ElementsAre("rank 0, call 0: the caller stages its input",
                            "rank 1, call 0: the caller stages its input"));
}

TEST(Violation, StaleSignal) {
    // S8: the wait assumes that the cell starts at zero.
    const Plans plans = mesh_barrier(2, NotifyOp::add, fixed(1), Compare::ge, fixed(1), 0);
    const Meaning meaning = barrier_meaning(plans);
    const CheckReport report = check_one(plans.list(), &meaning);
    EXPECT_THAT(kinds(report), Contains(ViolationKind::stale_signal));
    EXPECT_THAT(kinds(report), Contains(ViolationKind::wrong_result));
    EXPECT_THAT(kinds(report), Contains(ViolationKind::signal_state));
    for (const Violation& violation : report.violations) {
        expect_possible({{&plans.list(), &meaning, {}}}, violation);
        if (violation.kind == ViolationKind::stale_signal) {
            EXPECT_EQ(violation.found, "1");
            EXPECT_THAT(violation.message,
                        HasSubstr("in call 1: it holds 1, left by an earlier call"));
        }
    }
    CheckOptions once;
    once.calls = 1;
    EXPECT_EQ(check_one(plans.list(), &meaning, once).verdict, Verdict::proved);
}

TEST(Violation, AnEntryWaitOnTheLastCallIsNotStale) {
    // On entry, ask for what the previous call ended with.
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 1);
    for (int me = 0; me < 2; ++me) {
        plans.on(me).wait(signal, 0, now(0)).set(signal, 1 - me, 0, now(1)).wait(signal, 0, now(1));
    }
    EXPECT_EQ(check_one(plans.list()).verdict, Verdict::proved);
}

TEST(Violation, UnwrittenRead) {
    Plans plans(1);
    const std::uint16_t output = plans.argument("output", Direction::out, 8);
    const std::uint16_t data = plans.window("data", 8);
    RankPlan rank = plans.on(0);
    rank.fill(rank.in(data, 0, 4), 1).copy(rank.in(output, 0, 8), rank.in(data, 0, 8));
    const Violation violation = find(plans);
    EXPECT_EQ(violation.kind, ViolationKind::unwritten_read);
    EXPECT_EQ(violation.message,
              "rank 0 (`copy output[0..8) <- data[0..8)`, call 0) reads data@0[4..8), which nobody "
              "wrote");
}

TEST(Violation, OutputsOfAnEarlierCallAreGone) {
    Plans plans(1);
    const std::uint16_t input = plans.argument("input", Direction::in, 8);
    const std::uint16_t output = plans.argument("output", Direction::out, 8);
    RankPlan rank = plans.on(0);
    rank.copy(rank.in(output, 0, 4), rank.in(input, 0, 4));
    const Meaning meaning = allreduce_meaning(plans, 8, false);
    const Violation violation = find(plans, &meaning);
    EXPECT_EQ(violation.kind, ViolationKind::unwritten_read);
    EXPECT_EQ(violation.message, "after call 0, output@0[4..8) was written by nobody");
}

TEST(Violation, OutOfRange) {
    Plans plans(2);
    const std::uint16_t data = plans.window("data", 8);
    const std::uint16_t signal = plans.signal("signal", 2, 0);
    plans.tile_bytes(4);
    RankPlan rank = plans.on(1);
    rank.fill(RankPlan::at(0, data, 4, 8), 1);
    rank.fill(RankPlan::at(2, data, 0, 4), 1);
    rank.fill(rank.tile(0, 8), 1);
    rank.set(signal, 0, 2, fixed(1)).set(signal, -1, 0, fixed(1));
    const CheckReport report = check_one(plans.list());
    ASSERT_EQ(report.violations.size(), 5u);
    EXPECT_THAT(kinds(report), Each(ViolationKind::out_of_range));
    EXPECT_EQ(report.violations[0].message,
              "rank 1: `fill f32 data@0[4..12) <- 1`: the destination leaves data, which has 8 "
              "bytes");
    EXPECT_EQ(report.violations[0].memory, "data@0[4..12)");
    EXPECT_EQ(report.violations[1].message,
              "rank 1: `fill f32 data@2[0..4) <- 1`: there is no rank 2, expected 0..1");
    EXPECT_EQ(report.violations[2].message,
              "rank 1: `fill f32 tile[0..8) <- 1`: the destination leaves tile memory, which has 4 "
              "bytes");
    EXPECT_EQ(report.violations[3].message,
              "rank 1: `notify signal[2]@0 = 1`: there is no cell 2 in 'signal', which has 2");
    EXPECT_EQ(report.violations[3].memory, "signal[2]@0");
    EXPECT_EQ(report.violations[4].message,
              "rank 1: `notify signal[0]@-1 = 1`: there is no rank -1, expected 0..1");
    EXPECT_EQ(report.violations[4].schedule.size(), 1u);
}

TEST(Violation, AMeaningThatDoesNotFit) {
    Plans plans(1);
    plans.argument("input", Direction::in, 8);
    plans.argument("output", Direction::out, 4);
    const Meaning meaning = allreduce_meaning(plans, 8, false);
    const CheckReport report = check_one(plans.list(), &meaning);
    ASSERT_THAT(kinds(report), ElementsAre(ViolationKind::out_of_range));
    EXPECT_EQ(report.violations[0].message,
              "rank 0: allreduce needs 8 bytes of output, which has 4");
}

TEST(Violation, SignalState) {
    // Three phases, but the generation moves on by two.
    Plans plans(2);
    const std::uint16_t signal = plans.signal("signal", 1, 2);
    for (int me = 0; me < 2; ++me) {
        for (int phase = 1; phase <= 3; ++phase) {
            plans.on(me).increase(signal, 1 - me, 0, fixed(1)).wait(signal, 0, now(phase));
        }
    }
    CheckOptions options;
    options.calls = 2;
    const CheckReport report = check_one(plans.list(), nullptr, options);
    // The first wait of the second call asks for what the third of the first has seen.
    ASSERT_THAT(kinds(report),
                ElementsAre(ViolationKind::stale_signal, ViolationKind::signal_state));
    EXPECT_EQ(report.violations[1].message,
              "after all calls signal[0]@0 holds 6; the next call's waits count from 4");
    EXPECT_EQ(report.violations[1].found, "6");
    EXPECT_EQ(report.violations[1].expected, "4");
}

TEST(Violation, Overflow) {
    Plans plans(1);
    const std::uint16_t signal = plans.signal("signal", 1, 0);
    plans.on(0).set(signal, 0, 0, fixed(2147483647)).increase(signal, 0, 0, fixed(1));
    const Violation violation = find(plans);
    EXPECT_EQ(violation.kind, ViolationKind::overflow);
    EXPECT_EQ(violation.message,
              "rank 0 (`notify signal[0] += 1`, call 0) makes signal[0]@0 2147483648, which does "
              "not fit an i32");
    Plans wide(1);
    const std::uint16_t other = wide.signal("signal", 1, 0, kCacheLineBytes, Element::i64);
    wide.on(0).set(other, 0, 0, fixed(2147483648));
    EXPECT_EQ(check_one(wide.list()).verdict, Verdict::proved);
}

// ---------------------------------------------------------------------------- results

TEST(WrongResult, NamesWhatIsMissingAndDoubled) {
    Plans plans = mesh_allreduce(4, 8);
    auto& reduce = std::get<Reduce>(
        std::find_if(plans.list()[2].instructions.begin(), plans.list()[2].instructions.end(),
                     [](const Instruction& i) { return std::holds_alternative<Reduce>(i.action); })
            ->action);
    reduce.src[1] = reduce.src[3];
    const Meaning meaning = allreduce_meaning(plans, 8, false);
    const Violation violation = find(plans, &meaning);
    EXPECT_EQ(violation.kind, ViolationKind::wrong_result);
    EXPECT_EQ(violation.message,
              "after call 0, output@2[0..8) is wrong: missing: input@1[0..8) of call 0; counted "
              "twice: input@3[0..8) of call 0, last written by `reduce sum f32 output[0..8) <- "
              "data@0[0..8), data@3[0..8), data[0..8), data@3[0..8)`");
    EXPECT_EQ(violation.found,
              "sum(input@0[0..8) of call 0, input@3[0..8) of call 0, input@2[0..8) of call 0, "
              "input@3[0..8) of call 0)");
    EXPECT_EQ(violation.expected, "sum(input[0..8) of call 0 of ranks 0..3)");
}

TEST(WrongResult, NamesWhatIsAtTheWrongPlace) {
    Plans plans = mesh_allreduce(2, 8);
    std::get<Copy>(plans.list()[0].instructions[0].action).src.offset = 4;
    std::get<Copy>(plans.list()[0].instructions[0].action).src.length = 4;
    std::get<Copy>(plans.list()[0].instructions[0].action).dst.length = 4;
    RankPlan(plans.list()[0]).fill({2, 0, 0, 0}, 0);  // nothing: lengths of zero are allowed
    const Meaning meaning = allreduce_meaning(plans, 4, false);
    CheckOptions options;
    options.calls = 1;
    const CheckReport report = check_one(plans.list(), &meaning, options);
    ASSERT_THAT(kinds(report), Contains(ViolationKind::wrong_result));
    for (const Violation& violation : report.violations) {
        if (violation.kind != ViolationKind::wrong_result) continue;
        EXPECT_THAT(violation.message,
                    HasSubstr("missing: input@0[0..4); not asked for: input@0[4..8)"));
    }
}

TEST(WrongResult, OtherBitsOnOneRank) {
    Plans plans = mesh_allreduce(3, 8);
    for (Instruction& instruction : plans.list()[1].instructions) {
        if (auto* reduce = std::get_if<Reduce>(&instruction.action)) {
            std::swap(reduce->src[0], reduce->src[2]);
        }
    }
    Meaning meaning = allreduce_meaning(plans, 8, false);
    const CheckReport report = check_one(plans.list(), &meaning);
    ASSERT_EQ(report.verdict, Verdict::violated);
    EXPECT_THAT(report.violations[0].message,
                HasSubstr("is combined in another order than on rank"));
    meaning.same_bits = false;
    EXPECT_EQ(check_one(plans.list(), &meaning).verdict, Verdict::proved);
}

// (0+1)+2 on ranks 0 and 2; what rank 1 has is told apart by its association, and by the order of
// two operands unless they commute.
TEST(WrongResult, OrdersThatAreTheSameWhereOperandsMayBeExchanged) {
    const auto orders_with = [](std::initializer_list<int> order, bool commutes) {
        Plans plans = mesh_allreduce(3, 8);
        for (Instruction& instruction : plans.list()[1].instructions) {
            auto* reduce = std::get_if<Reduce>(&instruction.action);
            if (!reduce) continue;
            std::vector<Range> sources;
            for (const int i : order) sources.push_back(reduce->src[static_cast<std::size_t>(i)]);
            reduce->src = sources;
        }
        Meaning meaning = allreduce_meaning(plans, 8, false);
        meaning.commutes = commutes;
        const CheckReport report = check_one(plans.list(), &meaning);
        std::vector<std::string> orders;
        if (!report.violations.empty()) orders = report.violations.front().orders;
        std::sort(orders.begin(), orders.end());  // who was first is not asked
        return orders;
    };
    using Orders = std::vector<std::string>;
    EXPECT_EQ(orders_with({1, 0, 2}, true), Orders());
    EXPECT_EQ(orders_with({1, 0, 2}, false), (Orders{"(0+1)+2", "(1+0)+2"}));
    EXPECT_EQ(orders_with({0, 2, 1}, true), (Orders{"(0+1)+2", "(0+2)+1"}));
    EXPECT_EQ(orders_with({2, 1, 0}, true), (Orders{"(0+1)+2", "(2+1)+0"}));
}

TEST(WrongResult, ABarrierThatLetsSomebodyThrough) {
    Plans plans = mesh_barrier(3, NotifyOp::set, now(1), Compare::ge, now(1), 1);
    plans.list()[2].instructions.pop_back();  // rank 2 does not wait for rank 1
    const Meaning meaning = barrier_meaning(plans);
    const Violation violation = find(plans, &meaning);
    EXPECT_EQ(violation.kind, ViolationKind::wrong_result);
    EXPECT_EQ(violation.message, "rank 2 can return from call 0 before rank 1 is called");
}

// ---------------------------------------------------------------------------- cache lines

// S6: cells of two writers in one line.
// Whichever of two sets of one cell comes last, the third cell in the line is what it was.
TEST(CacheLine, TwoSetsOfOneCellDoNotClashOverAThirdCell) {
    Plans plans(3);
    const std::uint16_t signal = plans.signal("signal", 2, 1, 4);
    plans.on(0).set(signal, 2, 1, now(1)).set(signal, 1, 0, now(1));
    plans.on(1).wait(signal, 0, now(1)).set(signal, 0, 0, now(1)).set(signal, 2, 0, now(1));
    plans.on(0).wait(signal, 0, now(1)).set(signal, 2, 0, now(1));
    plans.on(2).wait(signal, 0, now(1)).wait(signal, 1, now(1));
    CheckOptions options;
    options.calls = 1;
    const CheckReport report = check_one(plans.list(), nullptr, options);
    EXPECT_EQ(report.verdict, Verdict::proved);
    EXPECT_EQ(report.method, CheckMethod::exploration);  // the order of the two is open
}

TEST(CacheLine, ASetUndoesTheNeighbour) {
    for (const NotifyOp op : {NotifyOp::set, NotifyOp::add}) {
        const auto ring = [&](std::uint64_t stride, NotifyOp first) {
            Plans plans(3);
            const std::uint16_t signal = plans.signal("signal", 2, 1, stride);
            if (first == NotifyOp::set) {
                plans.on(0).set(signal, 2, 0, now(1));
            } else {
                plans.on(0).increase(signal, 2, 0, fixed(1));
            }
            if (op == NotifyOp::set) {
                plans.on(1).set(signal, 2, 1, now(1));
            } else {
                plans.on(1).increase(signal, 2, 1, fixed(1));
            }
            plans.on(2).wait(signal, 0, now(1)).wait(signal, 1, now(1));
            return plans;
        };
        const Violation violation = find(ring(4, NotifyOp::set));
        EXPECT_EQ(violation.kind, ViolationKind::data_race);
        EXPECT_THAT(violation.message, HasSubstr("(cells of one cache line, written back whole)"));
        // The two notifies come last.
        ASSERT_EQ(violation.schedule.size(), 4u);
        EXPECT_EQ(violation.schedule[2].index, 0);
        EXPECT_EQ(violation.schedule[3].index, 0);
        EXPECT_EQ(check_one(ring(64, NotifyOp::set).list()).verdict, Verdict::proved);
        if (op == NotifyOp::add) {
            EXPECT_EQ(check_one(ring(4, NotifyOp::add).list()).verdict, Verdict::proved);
        }
    }
}

// ---------------------------------------------------------------------------- bad use

template <class Call>
std::string message_of(Call&& call, Fault fault) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.fault(), fault);
        return error.what();
    }
    return "no error";
}

TEST(BadUse, Stages) {
    const Plans two(2);
    const Plans three(3);
    EXPECT_EQ(message_of([&] { check({}); }, Fault::usage),
              "check: there is nothing to check: no stages");
    EXPECT_EQ(message_of(
                  [&] {
                      check({{nullptr, nullptr, {}}});
                  },
                  Fault::usage),
              "check: stage 0 has no plans");
    EXPECT_EQ(message_of(
                  [&] {
                      check({{&two.list(), nullptr, {}}, {&three.list(), nullptr, {}}});
                  },
                  Fault::usage),
              "check: stages 0 and 1 have 2 and 3 ranks");
    EXPECT_EQ(message_of(
                  [&] {
                      check({{&two.list(), nullptr, {"x"}}});
                  },
                  Fault::usage),
              "check: stage 0: 1 memory names for 0 buffers");
    CheckOptions never;
    never.calls = 0;
    EXPECT_EQ(message_of([&] { check_one(two.list(), nullptr, never); }, Fault::usage),
              "check: calls must be at least 1, found 0");
    Plans wrong_rank(2);
    wrong_rank.list()[1].rank = 0;
    EXPECT_EQ(message_of([&] { check_one(wrong_rank.list()); }, Fault::program),
              "plan test, rank 0 of 2: stands at place 1 of the plans");
}

TEST(BadUse, Meaning) {
    Plans plans(2);
    plans.argument("input", Direction::in, 8);
    plans.signal("signal", 1, 0);
    const Contributions own =
        std::make_shared<const std::vector<Contribution>>(std::vector<Contribution>{{0, 0, 0}});
    const auto complaint = [&](const Meaning& meaning) {
        return message_of([&] { check_one(plans.list(), &meaning); }, Fault::usage);
    };
    Meaning meaning;
    meaning.staged = {{2, 0, 0, 4}};
    EXPECT_EQ(complaint(meaning),
              "check: stage 0: its meaning speaks of buffer 0 of rank 2, which is no data");
    meaning.staged = {{0, 1, 0, 4}};
    EXPECT_EQ(complaint(meaning),
              "check: stage 0: its meaning speaks of buffer 1 of rank 0, which is no data");
    meaning.staged.clear();
    meaning.outputs = {{0, 0, 0, 4, nullptr, ReduceOp::sum, Element::f32}};
    EXPECT_EQ(complaint(meaning), "check: stage 0: an output of its meaning has no contributions");
}

TEST(BadUse, ValuesThatCannotBeFollowed) {
    Plans plans(1);
    const std::uint16_t signal = plans.signal("signal", 1, 2, kCacheLineBytes, Element::i64);
    plans.on(0).set(signal, 0, 0, {0, INT64_MAX});
    EXPECT_EQ(message_of([&] { check_one(plans.list()); }, Fault::usage),
              "check: 0 + 9223372036854775807 * 2 is too large for a signal; values up to "
              "1099511627776 can be followed");
}

// U11: data and signals in one allocation.
TEST(BadUse, SharedMemory) {
    Plans plans(1);
    plans.window("data", 64);
    plans.signal("signal", 1, 0);
    EXPECT_EQ(message_of(
                  [&] {
                      check({{&plans.list(), nullptr, {"one", "one"}}});
                  },
                  Fault::usage),
              "check: the memory 'one' is used as two kinds of buffer");
    Plans twice(1);
    twice.window("a", 64);
    twice.window("b", 64);
    EXPECT_EQ(message_of(
                  [&] {
                      check({{&twice.list(), nullptr, {"one", "one"}}});
                  },
                  Fault::usage),
              "check: two buffers of kernel test share the memory 'one'");
}

// One definition: what `validate` refuses is no proof, and is told in the same words.
TEST(BadUse, PlansThatAreNotValid) {
    const auto complaint = [](const std::function<void(std::vector<Plan>&)>& change) {
        Plans plans(2);
        plans.window("data", 64);
        plans.argument("input", Direction::in, 64);
        plans.signal("signal", 2, 0);
        change(plans.list());
        const std::string text = message_of([&] { check_one(plans.list()); }, Fault::program);
        EXPECT_EQ(message_of([&] { validate(plans.list()); }, Fault::program), text);
        return text;
    };
    const auto of = [&](const Action& action) {
        const std::string text = complaint([&](std::vector<Plan>& plans) {
            plans[0].instructions.push_back({action, Pipe::none, 0});
        });
        return text.substr(text.rfind(": ") + 2);
    };
    const Range four{0, 0, 0, 4};
    const Range eight{0, 0, 8, 8};
    const Range overlapping{0, 0, 2, 4};
    EXPECT_EQ(of(Copy{four, eight}), "the destination has 4 bytes, a source has 8");
    EXPECT_EQ(of(Copy{four, overlapping}), "the destination overlaps the source");
    EXPECT_EQ(of(Reduce{ReduceOp::sum, Element::f32, four, {}}),
              "a reduction needs at least one source");
    EXPECT_EQ(of(Reduce{ReduceOp::sum, Element::f32, four, {overlapping}}),
              "the destination overlaps a source in part");
    EXPECT_EQ(of(Map{MapOp::fill, Element::f64, 0, four, {}}),
              "4 bytes are no whole number of f64 elements");
    EXPECT_EQ(of(Reduce{ReduceOp::sum, Element::f64, four, {four}}),
              "4 bytes are no whole number of f64 elements");
    EXPECT_EQ(of(Copy{four, {1, 1, 0, 4}}),
              "the source is in input of rank 1, but only windows have peers");
    EXPECT_EQ(of(Copy{four, {kTile, 1, 0, 4}}),
              "the source is in tile memory of rank 1, but only windows have peers");
    EXPECT_EQ(of(Copy{four, {2, 0, 0, 4}}),
              "the source is in signal 'signal', which only notify and wait may touch");
    EXPECT_EQ(of(Copy{four, {7, 0, 0, 4}}), "the source is in buffer 7, but there are 3");
    EXPECT_EQ(of(Copy{{1, 0, 0, 4}, four}), "only out and inout arguments are written");
    EXPECT_EQ(of(Wait{Compare::ge, {2, 1, 0}, {}}), "a rank can wait on its own cells only");
    EXPECT_EQ(of(Notify{NotifyOp::set, {0, 1, 0}, {}}), "buffer 0 is not a signal");
    EXPECT_EQ(of(SetFlag{Pipe::all, Pipe::load, 0}), "a flag goes from one pipe to another");
    EXPECT_EQ(complaint([](auto& plans) { plans[1].buffers[0].element = Element::f16; }),
              "plan test, rank 1 of 2, buffer 'data': differs from buffer 'data' of rank 0: f16, "
              "there f32");
    EXPECT_EQ(complaint([](auto& plans) { plans[1].buffers[2].cells = 1; }),
              "plan test, rank 1 of 2, buffer 'signal': differs from buffer 'signal' of rank 0: 1 "
              "cells, there 2");
    EXPECT_EQ(complaint([](auto& plans) { plans[1].buffers[0].kind = BufferKind::argument; }),
              "plan test, rank 1 of 2, buffer 'data': differs from buffer 'data' of rank 0: "
              "argument, there window");
}

// ---------------------------------------------------------------------------- bounds

Plans many_states(int nranks) {
    // Readers and writers of a shared counter that nobody can order beforehand.
    Plans plans(nranks);
    const std::uint16_t signal = plans.signal("signal", 1, 0);
    for (int me = 0; me < nranks; ++me) {
        for (int i = 0; i < 4; ++i) {
            plans.on(me).set(signal, 0, 0, fixed(i + me));
            plans.on(0).wait(signal, 0, Compare::ne, fixed(-1));
        }
    }
    return plans;
}

TEST(Bounds, AreSaidAsSuch) {
    const Plans plans = many_states(6);
    CheckOptions options;
    options.max_states = 1000;
    CheckReport report = check_one(plans.list(), nullptr, options);
    EXPECT_EQ(report.verdict, Verdict::bound);
    EXPECT_EQ(report.bound, "1000 states");
    EXPECT_GT(report.states, 1000u);
    EXPECT_THAT(report.violations, IsEmpty());

    options = {};
    options.max_memory_bytes = 1;
    report = check_one(plans.list(), nullptr, options);
    EXPECT_EQ(report.verdict, Verdict::bound);
    EXPECT_EQ(report.bound, "1 bytes of memory");

    options = {};
    options.max_seconds = 0;
    report = check_one(plans.list(), nullptr, options);
    EXPECT_EQ(report.verdict, Verdict::bound);
    EXPECT_EQ(report.bound, "0 seconds");
}

TEST(Bounds, MaxViolations) {
    Plans plans(1);
    const std::uint16_t data = plans.window("data", 4);
    for (int i = 0; i < 20; ++i) plans.on(0).fill({data, 0, 8, 4}, i);
    EXPECT_EQ(check_one(plans.list()).violations.size(), 8u);
    CheckOptions options;
    options.max_violations = 3;
    EXPECT_EQ(check_one(plans.list(), nullptr, options).violations.size(), 3u);
}

}  // namespace violation_test
}  // namespace peal
