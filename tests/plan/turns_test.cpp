// SPDX-License-Identifier: Apache-2.0
// Calls that take turns: places that move with the generation.
#include <gtest/gtest.h>

#include "peal/compile.hpp"
#include "peal/program.hpp"
#include "plan/support.hpp"
#include "plan/turns.hpp"

namespace peal::plan {
namespace turns_test {

using namespace peal::testing;

const std::string kHead =
    "kernel k(inp: in f32[8], data: window f32[24], sig: window i32[4], other: window i32[1]) {\n";

std::vector<Plan> plans_of(const std::string& body) {
    return compile(parse(std::make_shared<const Source>("k.peal", kHead + body + "\n}\n")), "k", {},
                   2);
}
Plan plan_of(const std::string& body) { return plans_of(body).front(); }

std::string listing(const Plan& plan) {
    std::string text;
    for (const Instruction& instruction : plan.instructions) {
        text += to_text(instruction, plan) + '\n';
    }
    return text;
}

// What is wrong, without the program's text.
std::string complaint(const std::string& body) {
    const std::string message = error_of([&] { plans_of(body); });
    return message.substr(0, message.find('\n'));
}

TEST(Turns, ComeFromTheRestOfTheGeneration) {
    const Plan plan = plan_of(
        "half = generation(sig) % 2\n"
        "data[half * 8; 8] = inp\n"
        "data@1[(1 - half) * 8; 8] = inp\n"
        "advance sig by 1");
    EXPECT_EQ(listing(plan),
              "copy data[0..32)|[32..64) <- inp[0..32)\n"
              "copy data@1[32..64)|[0..32) <- inp[0..32)\n");
    EXPECT_EQ(plan.turns, (Turns{2, 1, 2, {{1, {0, 32}}, {1, {32, 0}}}}));
    EXPECT_NE(to_text(plan).find("advance 1, 2 turns\n"), std::string::npos) << to_text(plan);
    EXPECT_EQ(listing(in_turn(plan, 1)),
              "copy data[32..64) <- inp[0..32)\n"
              "copy data@1[0..32) <- inp[0..32)\n");
    EXPECT_EQ(in_turn(plan, 1).turns, Turns{});
}

TEST(Turns, MayBeSeveralGenerationsLong) {
    const Plan plan = plan_of(
        "data[generation(sig) / 3 % 2 * 8; 8] = inp\n"
        "advance sig by 3");
    EXPECT_EQ(plan.turns, (Turns{2, 3, 2, {{1, {0, 32}}}}));
    EXPECT_EQ(turn_in(plan.turns, 0), 0u);
    EXPECT_EQ(turn_in(plan.turns, 3), 1u);
    EXPECT_EQ(turn_in(plan.turns, 5), 1u);
    EXPECT_EQ(turn_in(plan.turns, 6), 0u);
    EXPECT_NE(to_text(plan).find("2 turns of 3 generations\n"), std::string::npos);
}

// Whatever integers do: shifts have a place for each turn, and all turns together come again when
// each does.
TEST(Turns, FollowAnyArithmetic) {
    const Plan thirds = plan_of("data[(generation(sig) + 1) % 3 * 8; 8] = inp");
    EXPECT_EQ(thirds.turns, (Turns{2, 1, 3, {{1, {32, 64, 0}}}}));
    const Plan both = plan_of(
        "data[generation(sig) % 2; 1] = inp[0; 1]\n"
        "data[8 + max(generation(sig) % 3, 1); 1] = inp[0; 1]");
    EXPECT_EQ(both.turns, (Turns{2, 1, 6, {{1, {0, 4, 0, 4, 0, 4}}, {1, {0, 0, 4, 0, 0, 4}}}}));
    // After `advance` the generation is the next call's.
    const Plan next = plan_of("advance sig by 1\ndata[generation(sig) % 2 * 8; 8] = inp");
    EXPECT_EQ(next.turns, (Turns{2, 1, 2, {{1, {32, 0}}}}));
    // What comes out the same in every call moves nothing.
    EXPECT_EQ(plan_of("data[generation(sig) % 2 / 2 * 8; 8] = inp").turns, Turns{});
}

TEST(Turns, AreOfPlacesOnly) {
    EXPECT_EQ(complaint("if generation(sig) % 2 == 0 { data[0; 8] = inp }"),
              "k.peal:2:4: error: expected the same integer in every call, found one that goes by "
              "generation(sig) (kernel k, rank 0 of 2)");
    EXPECT_EQ(complaint("notify sig[generation(sig) % 2] = 1"),
              "k.peal:2:12: error: expected the same integer in every call, found one that goes by "
              "generation(sig) (kernel k, rank 0 of 2)");
    EXPECT_EQ(complaint("notify sig[0] = generation(sig) % 2"),
              "k.peal:2:1: error: pld.system.notify: the value follows from generation(sig) by "
              "a division: expected an integer, or generation(sig) plus one (kernel k, rank 0 of "
              "2)");
    EXPECT_EQ(complaint("data[generation(sig); 1] = inp[0; 1]"),
              "k.peal:2:6: error: expected a plain integer, found one relative to generation(sig) "
              "(kernel k, rank 0 of 2)");
    EXPECT_EQ(complaint("data[generation(sig) % 2; 1] = inp[0; 1]\n"
                        "data[2 + generation(other) % 2; 1] = inp[0; 1]"),
              "k.peal:3:1: error: tile.store: the place goes by generation(other), another by "
              "generation(sig): a kernel's places go by one (kernel k, rank 0 of 2)");
    EXPECT_EQ(complaint("data[generation(sig) % 2 + generation(other) % 2; 1] = inp[0; 1]"),
              "k.peal:2:6: error: a value that goes by generation(sig) meets one that goes by "
              "generation(other) (kernel k, rank 0 of 2)");
    EXPECT_EQ(complaint("data[generation(sig) % 5000 / 5000; 1] = inp[0; 1]"),
              "k.peal:2:6: error: the value comes back after 5000 generations, at most 4096 are "
              "followed (kernel k, rank 0 of 2)");
    EXPECT_EQ(complaint("data[generation(sig) % 2 * 20; 8] = inp"),
              "k.peal:2:1: error: tile.store: elements 20..28 leave 'data', which has 24 (kernel "
              "k, rank 0 of 2)");
    EXPECT_EQ(complaint("data[generation(sig) % 2 - 1; 8] = inp"),
              "k.peal:2:1: error: tile.store: the offset is negative in some calls: -1 (kernel k, "
              "rank 0 of 2)");
}

// Of a plan with one copy of the window to itself.
std::string fault_of(const Range& dst, const Range& src, Turns turns) {
    Plan plan = sample_plan();
    plan.source = nullptr;
    plan.instructions = {{Copy{dst, src}}};
    plan.turns = std::move(turns);
    return error_of([&] { validate(plan); });
}

TEST(Turns, AreValidInEach) {
    const Turns halves{kSig, 1, 2, {{kData, {0, 32}}, {kData, {32, 0}}}};
    const auto data = [](std::uint64_t offset, std::uint16_t shift) {
        return Range(kData, 1, offset, 32, shift);
    };
    const std::string where = "plan sample, rank 1 of 3, instruction 0, ";
    EXPECT_EQ(fault_of(data(0, 1), data(0, 2), halves), "no error");
    EXPECT_EQ(fault_of(data(0, 1), data(0, 0), halves),
              where +
                  "copy data[0..32) <- data[0..32): the destination overlaps the source (in "
                  "turn 0)");
    EXPECT_EQ(fault_of(data(4, 1), Range(kInp, 1, 0, 32), halves),
              where +
                  "copy data[36..68) <- inp[0..32): the destination leaves data, which has 64 "
                  "bytes (in turn 1)");
    EXPECT_EQ(fault_of(data(0, 3), Range(kInp, 1, 0, 32), halves),
              where + "copy data[0..32)|? <- inp[0..32): a range moves by shift 3, the plan has 2");
    EXPECT_EQ(fault_of(data(0, 1), Range(kInp, 1, 0, 32), {}),
              where + "copy data[0..32)|? <- inp[0..32): a range moves by shift 1, the plan has 0");
    EXPECT_EQ(fault_of(Range(kOut, 1, 0, 32, 1), Range(kInp, 1, 0, 32), halves),
              where +
                  "copy out[0..32)|[32..64) <- inp[0..32): a range moves by shift 1, which is "
                  "of another buffer");
}

TEST(Turns, AreWellFormed) {
    const Range out(kOut, 1, 0, 32), inp(kInp, 1, 0, 32);
    const std::string where = "plan sample, rank 1 of 3: ";
    EXPECT_EQ(fault_of(out, inp, {kSig, 1, 1, {{kData, {0}}}}),
              where + "expected 2..4096 turns of one generation or more each, found 1 of 1");
    EXPECT_EQ(fault_of(out, inp, {kSig, 0, 2, {}}),
              where + "expected 2..4096 turns of one generation or more each, found 2 of 0");
    EXPECT_EQ(fault_of(out, inp, {kData, 1, 2, {}}),
              where + "the turns go by buffer 2, which is not a signal");
    EXPECT_EQ(fault_of(out, inp, {kSig, 1, 2, {{kSig, {0, 8}}}}),
              where + "a shift is of buffer 3, which has no data");
    EXPECT_EQ(fault_of(out, inp, {kSig, 1, 2, {{kData, {0}}}}),
              where + "a shift of 'data' has 1 entries for 2 turns");
}

// The bytes are those of one turn.
TEST(Turns, AreCountedOnce) {
    const Plan plan = plan_of("data@1[generation(sig) % 2 * 8; 8] = inp");
    EXPECT_EQ(traffic(plan).remote_bytes_written, 32u);
    EXPECT_EQ(traffic(plan).bytes_read, 32u);
}

TEST(Turns, ComeBackFromJson) {
    const std::vector<Plan> plans = plans_of("data[generation(sig) % 2 * 8; 8] = inp");
    EXPECT_EQ(plans_from_json(to_json(plans)), plans);
}

}  // namespace turns_test
}  // namespace peal::plan
