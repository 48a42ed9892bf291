// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "peal/plan.hpp"
#include "plan/support.hpp"
#include "plan/text.hpp"

namespace peal::plan {
namespace text_test {

using namespace peal::testing;

TEST(PlanText, ListsBuffersAndInstructions) {
    EXPECT_EQ(to_text(sample_plan()),
              "plan sample, rank 1 of 3: 15 instructions, 128 bytes of tile memory, from "
              "sample.peal\n"
              "  inp   argument  in       f32   64 bytes\n"
              "  out   argument  out      f32   64 bytes\n"
              "  data  window    inout    f32   64 bytes\n"
              "  sig   signal    inout    i32   3 cells, 64 bytes apart, advance 2\n"
              "   0  copy data[0..64) <- inp[0..64)                                line 2\n"
              "   1  notify sig[1]@2 = generation + 1                              line 3\n"
              "   2  notify sig[0] += 5\n"
              "   3  wait sig[2] >= 2*generation - 1                               line 3\n"
              "   4  reduce sum f32 tile[64..128) <- data@0[0..64), data@2[0..64)  line 3\n"
              "   5  fill f32 tile[0..64) <- 0.5\n"
              "   6  mul_scalar f32 out[0..64) <- tile[64..128), 0.1 on V\n"
              "   7  set_flag MTE2 -> V, event 3\n"
              "   8  wait_flag MTE2 -> V, event 3\n"
              "   9  pipe_barrier ALL\n"
              "  10  copy data@2[0..64) <- inp[0..64), deferred #2\n"
              "  11  fence #2\n"
              "  12  fill i32 data[0..4) <- 7 on S, cached\n"
              "  13  evict data[0..64)\n"
              "  14  fence\n");
}

TEST(PlanText, ListsLaneByLane) {
    Plan plan = sample_plan();
    plan.instructions.resize(4);
    plan.lanes = {1, 1, 4};
    EXPECT_EQ(to_text(plan),
              "plan sample, rank 1 of 3: 4 instructions in 4 lanes, 128 bytes of tile memory each, "
              "from sample.peal\n"
              "  inp   argument  in       f32   64 bytes\n"
              "  out   argument  out      f32   64 bytes\n"
              "  data  window    inout    f32   64 bytes\n"
              "  sig   signal    inout    i32   3 cells, 64 bytes apart, advance 2\n"
              "  lane 0\n"
              "  0  copy data[0..64) <- inp[0..64)    line 2\n"
              "  lane 1\n"
              "  lane 2\n"
              "  1  notify sig[1]@2 = generation + 1  line 3\n"
              "  2  notify sig[0] += 5\n"
              "  3  wait sig[2] >= 2*generation - 1   line 3\n"
              "  lane 3\n");
}

TEST(PlanText, EmptyPlanIsItsHeader) {
    Plan plan;
    plan.kernel = "nothing";
    EXPECT_EQ(to_text(plan), "plan nothing, rank 0 of 1: 0 instructions, 0 bytes of tile memory\n");
}

TEST(PlanText, ALongInstructionDoesNotMoveTheColumnOfLines) {
    Plan plan = sample_plan();
    auto& reduce = std::get<Reduce>(plan.instructions[4].action);
    for (int i = 0; i < 20; ++i) reduce.src.push_back(reduce.src.front());
    const std::string text = to_text(plan);
    EXPECT_NE(text.find("copy data[0..64) <- inp[0..64)                        line 2\n"),
              std::string::npos)
        << text;
}

TEST(PlanText, ValuesAreWrittenAsSums) {
    const Plan plan = sample_plan();
    const auto text_of = [&](std::int64_t constant, std::int64_t per_generation) {
        return to_text(
            Instruction{Wait{Compare::eq, {kSig, 1, 0}, {constant, per_generation}}, Pipe::none, 0},
            plan);
    };
    EXPECT_EQ(text_of(7, 0), "wait sig[0] == 7");
    EXPECT_EQ(text_of(0, 1), "wait sig[0] == generation");
    EXPECT_EQ(text_of(-3, 1), "wait sig[0] == generation - 3");
    EXPECT_EQ(text_of(4, -2), "wait sig[0] == -2*generation + 4");
    EXPECT_EQ(text_of(INT64_MIN, 1), "wait sig[0] == generation - 9223372036854775808");
}

TEST(PlanText, BuffersThatDoNotExistAreNumbers) {
    const Plan plan = sample_plan();
    EXPECT_EQ(to_text(Instruction{Copy{{9, 0, 0, 4}, {kInp, 2, 4, 4}}, Pipe::none, 0}, plan),
              "copy buffer#9@0[0..4) <- inp@2[4..8)");
}

TEST(PlanText, AccumulateConvertRowSumAndClobber) {
    const Plan plan = sample_plan();
    const auto text_of = [&](Action action) {
        return to_text(Instruction{std::move(action), Pipe::none, 0}, plan);
    };
    EXPECT_EQ(text_of(Accumulate{Element::f32, {kData, 0, 0, 64}, {kTile, 1, 0, 64}}),
              "accumulate f32 data@0[0..64) <- tile[0..64)");
    EXPECT_EQ(text_of(Map{MapOp::convert, Element::f16, 0, {kTile, 1, 0, 32}, {kTile, 1, 64, 64}}),
              "convert f16 tile[0..32) <- f32 tile[64..128)");
    EXPECT_EQ(text_of(Map{MapOp::row_sum, Element::f32, 0, {kTile, 1, 0, 4}, {kTile, 1, 64, 64}}),
              "row_sum f32 tile[0..4) <- tile[64..128)");
    EXPECT_EQ(text_of(Map{MapOp::clobber, Element::f32, 0, {kTile, 1, 0, 64}, {}}),
              "clobber f32 tile[0..64) <- anything");
}

TEST(PlanText, OptionsAreIndependent) {
    const Plan plan = sample_plan();
    const Instruction wait{Wait{Compare::ge, {kSig, 1, 2}, {-1, 2}}, Pipe::none, 0};
    EXPECT_EQ(to_text(wait, plan, {}), "wait sig[2] >= 2*generation - 1");
    EXPECT_EQ(to_text(wait, plan, {.brief = true}), "wait sig[2] >= 2*generation - 1");
    EXPECT_EQ(to_text(wait, plan, {.generation = 3}), "wait sig[2] >= 5");
    const Instruction reduce{Reduce{ReduceOp::sum,
                                    Element::f32,
                                    {kOut, 1, 0, 64},
                                    {{kData, 0, 0, 64}, {kData, 1, 0, 64}, {kData, 2, 0, 64}}},
                             Pipe::vector, 0};
    EXPECT_EQ(to_text(reduce, plan, {.generation = 3}),
              "reduce sum f32 out[0..64) <- data@0[0..64), data[0..64), data@2[0..64) on V");
    EXPECT_EQ(to_text(reduce, plan, {.brief = true}), "sum out <- data@0..2 on V");
}

TEST(PlanText, FlagsOfCubeUnits) {
    const Plan plan = sample_plan();
    EXPECT_EQ(to_text({SetFlag{Pipe::cube_load, Pipe::cube, 1}, Pipe::none, 0}, plan),
              "set_flag MTE1 -> M, event 1");
    EXPECT_EQ(to_text({WaitFlag{Pipe::load, Pipe::cube_store, 7}, Pipe::none, 0}, plan),
              "wait_flag MTE2 -> FIX, event 7");
    EXPECT_EQ(name(Pipe::all), "ALL");
}

TEST(PlanText, LinesOfIncludedFilesAreNamedByTheirFile) {
    Plan plan = sample_plan();
    plan.source = std::make_shared<const Source>("kernel.cpp", "a\nb\nc\n",
                                                 std::vector<Source::Part>{{"barrier.hpp", 3}});
    const std::string text = to_text(plan);
    EXPECT_NE(text.find("copy data[0..64) <- inp[0..64)                                line 2\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("notify sig[1]@2 = generation + 1                              "
                        "barrier.hpp:1\n"),
              std::string::npos)
        << text;
}

TEST(Source, APlaceIsALineOrAFileAndItsLine) {
    const Source source("kernel.cpp", "1\n2\n3\n4\n5\n",
                        {{"include/barrier.hpp", 3}, {"ring.hpp", 5}});
    EXPECT_EQ(source.place(1), "line 1");
    EXPECT_EQ(source.place(2), "line 2");
    EXPECT_EQ(source.place(3), "include/barrier.hpp:1");
    EXPECT_EQ(source.place(4), "include/barrier.hpp:2");
    EXPECT_EQ(source.place(5), "ring.hpp:1");
    EXPECT_EQ(source.full_place(2), "kernel.cpp:2");
    EXPECT_EQ(source.full_place(4), "include/barrier.hpp:2");
    EXPECT_EQ(source.line(4), "4");
    const Source plain("a.peal", "x\n");
    EXPECT_EQ(plain.place(7), "line 7");
    EXPECT_EQ(plain.full_place(7), "a.peal:7");
}

}  // namespace text_test
}  // namespace peal::plan
