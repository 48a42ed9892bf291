// SPDX-License-Identifier: Apache-2.0
#include "plan/notes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "peal/compile.hpp"
#include "peal/program.hpp"
#include "plan/access.hpp"
#include "plan/text.hpp"

namespace peal::plan {
namespace notes_test {

std::string part(const std::vector<std::uint64_t>& shape, std::uint64_t offset,
                 std::uint64_t length) {
    return element_text(shape, Element::f32, offset, length).value_or("bytes");
}

TEST(ElementText, OfOneDimension) {
    EXPECT_EQ(part({5}, 0, 20), "[0;5]");
    EXPECT_EQ(part({5}, 8, 4), "[2;1]");
    EXPECT_EQ(part({5}, 8, 0), "[2;0]");
}

TEST(ElementText, OfRows) {
    EXPECT_EQ(part({2, 3}, 0, 12), "[0][0;3]");
    EXPECT_EQ(part({2, 3}, 16, 8), "[1][1;2]");
    EXPECT_EQ(part({2, 3, 4}, 4 * (12 + 4), 8), "[1][1][0;2]");
}

TEST(ElementText, OfSeveralRows) {
    EXPECT_EQ(part({4, 3}, 12, 24), "[1;2]");
    EXPECT_EQ(part({2, 3, 4}, 4 * 16, 32), "[1][1;2]");
    EXPECT_EQ(part({2, 3}, 8, 8), "[0][2]..[1][0]");
}

TEST(ElementText, BytesThatAreNoElements) {
    EXPECT_EQ(part({5}, 2, 4), "bytes");
    EXPECT_EQ(part({5}, 0, 3), "bytes");
    EXPECT_EQ(part({}, 0, 4), "bytes");
    EXPECT_EQ(part({2, 0}, 0, 0), "bytes");
}

constexpr const char* kLoops = R"(kernel loops(inp: in f32[2, 3], out: out f32[3],
             slot: window f32[2, 3], sig: window i32[2, nranks]) {
    for t in 0..2 {
        for c in 0..1 { slot@1[t][0; 3] = inp[t] }
        notify sig[t, rank]@0 = 1
    }
    acc = slot[0]
    for r in 1..nranks { acc = acc + slot@r[0] }
    out = acc
}
)";

// Where each range of an instruction is from: sources in order, then the destination.
std::vector<std::string> places(const Plan& plan, const Instruction& instruction) {
    std::vector<std::string> texts;
    std::int32_t number = 0;
    for_each_range(instruction.action,
                   [&](const Range&) { texts.push_back(place_text(instruction, plan, number++)); });
    return texts;
}

TEST(Notes, EachRangeOfWhatWasFusedKeepsItsLine) {
    const ir::Program program = parse(std::make_shared<const Source>("loops.peal", kLoops));
    const Plan plan = compile(program, "loops", {}, 3)[1];
    const Instruction& sum = plan.instructions.back();
    EXPECT_EQ(report_text(sum, plan),
              "reduce sum f32 out[0;3] <- slot[0][0;3], slot[0][0;3], slot@2[0][0;3]");
    EXPECT_THAT(places(plan, sum),
                ::testing::ElementsAre("line 7", "line 8, r=1", "line 8, r=2", "line 9"));
    // Fused again, nothing is lost or changed.
    const Plan again = fuse(plan);
    EXPECT_THAT(places(again, again.instructions.back()),
                ::testing::ElementsAre("line 7", "line 8, r=1", "line 8, r=2", "line 9"));
    EXPECT_EQ(digest(again), digest(plan));
    // What is from one line needs none of that.
    EXPECT_EQ(plan.instructions.front().origins, 0U);
}

std::vector<std::string> reports(const Plan& plan) {
    std::vector<std::string> texts;
    for (const Instruction& each : plan.instructions) {
        texts.push_back(report_text(each, plan) + " (" + place_text(each, plan) + ")");
    }
    return texts;
}

// What several rounds add up is of none of them.
TEST(PlanNotes, ElementsAndRounds) {
    const ir::Program program = parse(std::make_shared<const Source>("loops.peal", kLoops));
    const std::vector<Plan> plans = compile(program, "loops", {}, 3);
    EXPECT_EQ(reports(plans[0]),
              (std::vector<std::string>{
                  "copy slot@1[0][0;3] <- inp[0][0;3] (line 4, t=0 c=0)",
                  "notify sig[0][0] = 1 (line 5, t=0)",
                  "copy slot@1[1][0;3] <- inp[1][0;3] (line 4, t=1 c=0)",
                  "notify sig[1][0] = 1 (line 5, t=1)",
                  "reduce sum f32 out[0;3] <- slot[0][0;3], slot@1[0][0;3], slot@2[0][0;3] "
                  "(line 8)"}));
    EXPECT_EQ(to_text(plans[0].instructions[0], plans[0]), "copy slot@1[0..12) <- inp[0..12)");
}

}  // namespace notes_test
}  // namespace peal::plan
