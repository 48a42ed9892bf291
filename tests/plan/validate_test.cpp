// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/faults.hpp"
#include "plan/support.hpp"

namespace peal::plan {
namespace validate_test {

using namespace peal::testing;
using ::testing::ElementsAre;

constexpr Range kWhole{kTile, 1, 0, 64};

// What validation says of the sample plan with one instruction of its own.
std::string verdict(Action action, Pipe pipe = Pipe::none) {
    Plan plan = sample_plan();
    plan.instructions = {{std::move(action), pipe, 2}};
    const std::string message = error_of([&] { validate(plan); });
    const std::string where = "plan sample, rank 1 of 3, instruction 0 (sample.peal:2), ";
    const bool placed = message.compare(0, where.size(), where) == 0;
    return placed ? message.substr(where.size()) : message;
}

TEST(PlanValidate, AcceptsTheSample) { EXPECT_NO_THROW(validate(sample_plan())); }

TEST(PlanValidate, RangesStayInTheirBuffers) {
    EXPECT_EQ(verdict(Copy{{kOut, 1, 4, 64}, {kInp, 1, 0, 64}}),
              "copy out[4..68) <- inp[0..64): the destination leaves out, which has 64 bytes");
    EXPECT_EQ(verdict(Copy{{kOut, 1, 0, 64}, {kData, 2, 8, 64}}),
              "copy out[0..64) <- data@2[8..72): the source leaves data, which has 64 bytes");
    EXPECT_EQ(verdict(Copy{{kOut, 1, 0, 64}, {kTile, 1, 128, 64}}),
              "copy out[0..64) <- tile[128..192): the source leaves tile memory, which has 128 "
              "bytes");
    EXPECT_EQ(verdict(Copy{{kOut, 1, UINT64_MAX - 3, 8}, {kInp, 1, 0, 8}}),
              "copy out[18446744073709551612..4) <- inp[0..8): the destination leaves out, which "
              "has 64 bytes");
    EXPECT_EQ(verdict(Copy{{7, 1, 0, 64}, {kInp, 1, 0, 64}}),
              "copy buffer#7[0..64) <- inp[0..64): the destination is in buffer 7, but there are "
              "4");
    EXPECT_EQ(verdict(Copy{{kSig, 1, 0, 4}, {kInp, 1, 0, 4}}),
              "copy sig[0..4) <- inp[0..4): the destination is in signal 'sig', which only notify "
              "and wait may touch");
}

TEST(PlanValidate, LanesAreInOrder) {
    Plan plan = sample_plan();
    plan.instructions.resize(10);
    plan.lanes = {0, 4, 4, 10};
    EXPECT_NO_THROW(validate(plan));
    EXPECT_EQ(plan.lane_count(), 5u);
    EXPECT_EQ(plan.lane_of(0), 1u);
    EXPECT_EQ(plan.lane_of(3), 1u);
    EXPECT_EQ(plan.lane_of(4), 3u);
    EXPECT_EQ(plan.lane_of(9), 3u);
    plan.lanes = {4, 3};
    EXPECT_EQ(
        error_of([&] { validate(plan); }),
        "plan sample, rank 1 of 3: lane 2 begins at instruction 3, before lane 1, which begins "
        "at 4");
    plan.lanes = {4, 11};
    EXPECT_EQ(error_of([&] { validate(plan); }),
              "plan sample, rank 1 of 3: lane 2 begins at instruction 11, the plan has 10");
    plan.lanes = {4};
    plan.instructions[5].action = Map{MapOp::fill, Element::f32, 0.5, {kTile, 1, 96, 64}, {}};
    EXPECT_EQ(error_of([&] { validate(plan); }),
              "plan sample, rank 1 of 3, lane 1, instruction 5, fill f32 tile[96..160) <- 0.5: the "
              "destination leaves tile memory, which has 128 bytes");
}

TEST(PlanValidate, InputsAreNotWritten) {
    const std::string why =
        ": the destination is in 'inp', which is an input: only out and inout arguments are "
        "written";
    EXPECT_EQ(verdict(Copy{{kInp, 1, 0, 8}, {kData, 0, 0, 8}}),
              "copy inp[0..8) <- data@0[0..8)" + why);
    EXPECT_EQ(verdict(Reduce{ReduceOp::sum, Element::f32, {kInp, 1, 0, 64}, {{kInp, 1, 0, 64}}}),
              "reduce sum f32 inp[0..64) <- inp[0..64)" + why);
    EXPECT_EQ(verdict(Accumulate{Element::f32, {kInp, 1, 0, 8}, {kTile, 1, 0, 8}}),
              "accumulate f32 inp[0..8) <- tile[0..8)" + why);
    EXPECT_EQ(verdict(Map{MapOp::clobber, Element::f32, 0, {kInp, 1, 0, 8}, {}}),
              "clobber f32 inp[0..8) <- anything" + why);
    EXPECT_EQ(verdict(Copy{{kInp, 1, 0, 0}, {kData, 0, 0, 0}}), "no error");  // nothing is
}

TEST(PlanValidate, OnlyWindowsHavePeers) {
    EXPECT_EQ(verdict(Copy{{kData, 3, 0, 64}, {kInp, 1, 0, 64}}),
              "copy data@3[0..64) <- inp[0..64): there is no rank 3, expected 0..2");
    EXPECT_EQ(verdict(Copy{{kData, 1, 0, 64}, {kInp, 0, 0, 64}}),
              "copy data[0..64) <- inp@0[0..64): the source is in inp of rank 0, but only windows "
              "have peers");
    EXPECT_EQ(verdict(Copy{{kTile, 2, 0, 64}, {kInp, 1, 0, 64}}),
              "copy tile@2[0..64) <- inp[0..64): the destination is in tile memory of rank 2, but "
              "only windows have peers");
}

TEST(PlanValidate, SizesAgree) {
    EXPECT_EQ(verdict(Copy{{kOut, 1, 0, 32}, {kInp, 1, 0, 64}}),
              "copy out[0..32) <- inp[0..64): the destination has 32 bytes, a source has 64");
    EXPECT_EQ(verdict(Reduce{ReduceOp::max, Element::f64, {kOut, 1, 0, 60}, {{kInp, 1, 0, 60}}}),
              "reduce max f64 out[0..60) <- inp[0..60): 60 bytes are no whole number of f64 "
              "elements");
    EXPECT_EQ(verdict(Reduce{ReduceOp::max, Element::f32, {kOut, 1, 0, 64}, {}}),
              "reduce max f32 out[0..64) <- : a reduction needs at least one source");
    EXPECT_EQ(verdict(Map{MapOp::add_scalar, Element::f32, 1, {kOut, 1, 0, 64}, {kInp, 1, 0, 32}}),
              "add_scalar f32 out[0..64) <- inp[0..32), 1: the destination has 64 bytes, a source "
              "has 32");
}

TEST(PlanValidate, OverlapsAreWholeOrNone) {
    EXPECT_EQ(verdict(Copy{{kData, 1, 0, 32}, {kData, 1, 16, 32}}),
              "copy data[0..32) <- data[16..48): the destination overlaps the source");
    EXPECT_EQ(verdict(Copy{{kData, 1, 0, 32}, {kData, 0, 16, 32}}), "no error");
    EXPECT_EQ(verdict(Reduce{ReduceOp::sum, Element::f32, kWhole, {kWhole, {kInp, 1, 0, 64}}}),
              "no error");
    EXPECT_EQ(verdict(Reduce{
                  ReduceOp::sum, Element::f32, {kTile, 1, 32, 64}, {{kInp, 1, 0, 64}, kWhole}}),
              "reduce sum f32 tile[32..96) <- inp[0..64), tile[0..64): the destination overlaps a "
              "source in part");
}

TEST(PlanValidate, AccumulateIsAlignedAndApartFromItsSource) {
    EXPECT_EQ(verdict(Accumulate{Element::f32, {kData, 2, 4, 32}, {kTile, 1, 2, 32}}), "no error");
    EXPECT_EQ(verdict(Accumulate{Element::f32, {kData, 2, 2, 32}, {kTile, 1, 0, 32}}),
              "accumulate f32 data@2[2..34) <- tile[0..32): the destination starts at byte 2, "
              "which is no multiple of 4: f32 is added to atomically");
    EXPECT_EQ(verdict(Accumulate{Element::f32, {kData, 1, 0, 32}, {kData, 1, 0, 32}}),
              "accumulate f32 data[0..32) <- data[0..32): the destination overlaps the source");
    EXPECT_EQ(verdict(Accumulate{Element::f32, {kData, 1, 0, 32}, {kInp, 1, 0, 16}}),
              "accumulate f32 data[0..32) <- inp[0..16): the destination has 32 bytes, a source "
              "has 16");
    EXPECT_EQ(verdict(Accumulate{Element::i64, {kData, 1, 0, 12}, {kInp, 1, 0, 12}}),
              "accumulate i64 data[0..12) <- inp[0..12): 12 bytes are no whole number of i64 "
              "elements");
    EXPECT_EQ(verdict(Accumulate{Element::f32, {kData, 1, 0, 64}, {kInp, 1, 32, 64}}),
              "accumulate f32 data[0..64) <- inp[32..96): the source leaves inp, which has 64 "
              "bytes");
}

TEST(PlanValidate, ConversionsHaveAsManyElementsAsTheirSource) {
    const auto convert = [](const Range& dst, const Range& src) {
        return verdict(Map{MapOp::convert, Element::f16, 0, dst, src, Element::f32});
    };
    EXPECT_EQ(convert({kTile, 1, 0, 32}, {kTile, 1, 64, 64}), "no error");
    EXPECT_EQ(convert({kTile, 1, 0, 64}, {kTile, 1, 64, 64}),
              "convert f16 tile[0..64) <- f32 tile[64..128): the destination has 32 elements, the "
              "source has 16");
    EXPECT_EQ(convert({kTile, 1, 0, 4}, {kTile, 1, 64, 6}),
              "convert f16 tile[0..4) <- f32 tile[64..70): 6 bytes are no whole number of f32 "
              "elements");
    EXPECT_EQ(convert({kTile, 1, 64, 32}, {kTile, 1, 64, 64}),
              "convert f16 tile[64..96) <- f32 tile[64..128): the destination overlaps a source in "
              "part");
}

TEST(PlanValidate, ARowIsSummedUpInOneElement) {
    const auto row_sum = [](const Range& dst, const Range& src) {
        return verdict(Map{MapOp::row_sum, Element::f32, 0, dst, src});
    };
    EXPECT_EQ(row_sum({kTile, 1, 0, 4}, {kTile, 1, 64, 64}), "no error");
    EXPECT_EQ(row_sum({kTile, 1, 0, 8}, {kTile, 1, 64, 64}),
              "row_sum f32 tile[0..8) <- tile[64..128): a row of one element or more is summed up "
              "in one element");
    EXPECT_EQ(row_sum({kTile, 1, 0, 4}, {kTile, 1, 64, 0}),
              "row_sum f32 tile[0..4) <- tile[64..64): a row of one element or more is summed up "
              "in one element");
    EXPECT_EQ(row_sum({kTile, 1, 64, 4}, {kTile, 1, 64, 64}),
              "row_sum f32 tile[64..68) <- tile[64..128): the destination overlaps a source in "
              "part");
}

TEST(PlanValidate, ScalarsAreValuesOfTheElement) {
    const Range dst{kOut, 1, 0, 64};
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::u8, 256, dst, {}}),
              "fill u8 out[0..64) <- 256: the scalar 256 is not a value of u8");
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::i32, 0.5, dst, {}}),
              "fill i32 out[0..64) <- 0.5: the scalar 0.5 is not a value of i32");
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::i64, 0x1p63, dst, {}}),
              "fill i64 out[0..64) <- 9.223372036854776e+18: the scalar 9.223372036854776e+18 "
              "is not a value of i64");
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::i64, -0x1p63, dst, {}}), "no error");
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::u16, 65536, dst, {}}),
              "fill u16 out[0..64) <- 65536: the scalar 65536 is not a value of u16");
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::u32, 0xffffffffU, dst, {}}), "no error");
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::u64, -1, dst, {}}),
              "fill u64 out[0..64) <- -1: the scalar -1 is not a value of u64");
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::u64, 0x1p63, dst, {}}), "no error");
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::u64, 0x1p64, dst, {}}),
              "fill u64 out[0..64) <- 1.8446744073709552e+19: the scalar 1.8446744073709552e+19 "
              "is not a value of u64");
    EXPECT_EQ(verdict(Map{MapOp::fill, Element::f16, 1e300, dst, {}}), "no error");
    EXPECT_EQ(verdict(Map{MapOp::clobber, Element::f32, 0, dst, {}}), "no error");
}

TEST(PlanValidate, CellsExist) {
    EXPECT_EQ(verdict(Notify{NotifyOp::set, {kSig, 0, 3}, {1, 0}}),
              "notify sig[3]@0 = 1: there is no cell 3 in 'sig', which has 3");
    EXPECT_EQ(verdict(Notify{NotifyOp::set, {kSig, -1, 0}, {1, 0}}),
              "notify sig[0]@-1 = 1: there is no rank -1, expected 0..2");
    EXPECT_EQ(verdict(Notify{NotifyOp::set, {kData, 0, 0}, {1, 0}}),
              "notify data[0]@0 = 1: buffer 2 is not a signal");
    EXPECT_EQ(verdict(Wait{Compare::ge, {kSig, 0, 0}, {1, 0}}),
              "wait sig[0]@0 >= 1: a rank can wait on its own cells only");
}

TEST(PlanValidate, ValuesFitTheirCells) {
    EXPECT_EQ(verdict(Notify{NotifyOp::add, {kSig, 0, 0}, {std::int64_t{1} << 31, 0}}),
              "notify sig[0]@0 += 2147483648: 2147483648 is not a value of i32");
    EXPECT_EQ(verdict(Wait{Compare::ge, {kSig, 1, 0}, {0, INT64_MIN}}),
              "wait sig[0] >= -9223372036854775808*generation: -9223372036854775808 is not a value "
              "of i32");
}

TEST(PlanValidate, PipesAreLegal) {
    EXPECT_EQ(verdict(Copy{{kData, 1, 0, 64}, {kInp, 1, 0, 64}}, Pipe::all),
              "copy data[0..64) <- inp[0..64) on ALL: data instructions run on one pipe");
    EXPECT_EQ(verdict(Wait{Compare::ge, {kSig, 1, 0}, {1, 0}}, Pipe::vector),
              "wait sig[0] >= 1 on V: notify and wait run on the scalar pipe");
    EXPECT_EQ(verdict(Wait{Compare::ge, {kSig, 1, 0}, {1, 0}}, Pipe::scalar), "no error");
    EXPECT_EQ(verdict(SetFlag{Pipe::load, Pipe::load, 0}),
              "set_flag MTE2 -> MTE2, event 0: a flag goes from one pipe to another");
    EXPECT_EQ(verdict(WaitFlag{Pipe::all, Pipe::load, 0}),
              "wait_flag ALL -> MTE2, event 0: a flag goes from one pipe to another");
    EXPECT_EQ(verdict(PipeBarrier{Pipe::none}),
              "pipe_barrier none: a barrier needs a pipe to drain");
}

TEST(PlanValidate, CompletionIsLegal) {
    const auto grouped = [](Action action, std::uint16_t group, Pipe pipe = Pipe::none) {
        Plan plan = sample_plan();
        plan.instructions = {{std::move(action), pipe, 0, false, 0, group}};
        const std::string message = error_of([&] { validate(plan); });
        const std::size_t at = message.find("instruction 0, ");
        return at == std::string::npos ? message : message.substr(at + 15);
    };
    const Copy copy{{kData, 2, 0, 64}, {kInp, 1, 0, 64}};
    EXPECT_EQ(grouped(copy, 3), "no error");
    EXPECT_EQ(grouped(copy, kCached, Pipe::scalar), "no error");
    EXPECT_EQ(grouped(Fence{3}, 0), "no error");
    EXPECT_EQ(grouped(Evict{{kData, 1, 0, 64}}, 0, Pipe::scalar), "no error");
    EXPECT_EQ(grouped(copy, 3, Pipe::store),
              "copy data@2[0..64) <- inp[0..64) on MTE3, deferred #3: work that is deferred or "
              "cached is issued by the scalar pipe");
    EXPECT_EQ(grouped(Notify{NotifyOp::set, {kSig, 2, 1}, {1, 1}}, 3),
              "notify sig[1]@2 = generation + 1, deferred #3: only work on data is deferred or "
              "cached");
    EXPECT_EQ(grouped(Fence{}, 0, Pipe::store), "fence on MTE3: a fence runs on the scalar pipe");
    EXPECT_EQ(grouped(Fence{kCached}, 0),
              "fence #65535: what is cached is no group: it is complete by a fence of group 0");
    EXPECT_EQ(grouped(Evict{{kTile, 1, 0, 64}}, 0), "evict tile[0..64): tile memory is not cached");
    EXPECT_EQ(grouped(Evict{{kData, 1, 8, 64}}, 0),
              "evict data[8..72): what is evicted leaves data, which has 64 bytes");
}

// What validation says of the sample plan after a change to it as a whole.
std::string after(const std::function<void(Plan&)>& change) {
    Plan plan = sample_plan();
    change(plan);
    return error_of([&] { validate(plan); });
}

TEST(PlanValidate, BuffersAreWellFormed) {
    EXPECT_EQ(after([](Plan& p) { p.rank = 3; }),
              "plan sample, rank 3 of 3: expected a rank in 0..nranks-1");
    EXPECT_EQ(after([](Plan& p) { p.nranks = 0; }),
              "plan sample, rank 1 of 0: expected a rank in 0..nranks-1");
    EXPECT_EQ(after([](Plan& p) { p.advance.pop_back(); }),
              "plan sample, rank 1 of 3: 'advance' has 3 entries for 4 buffers");
    EXPECT_EQ(after([](Plan& p) { p.advance[kInp] = 1; }),
              "plan sample, rank 1 of 3, buffer 'inp': only signals have a generation, but it "
              "advances by 1");
    EXPECT_EQ(after([](Plan& p) { p.advance[kSig] = -1; }),
              "plan sample, rank 1 of 3, buffer 'sig': a generation of i32 cannot advance by -1");
    EXPECT_EQ(after([](Plan& p) { p.buffers[kInp].bytes = 65; }),
              "plan sample, rank 1 of 3, buffer 'inp': 65 bytes are no whole number of f32 "
              "elements");
    EXPECT_EQ(after([](Plan& p) { p.buffers[kSig].element = Element::f32; }),
              "plan sample, rank 1 of 3, buffer 'sig': signals are i32 or i64, found f32");
    EXPECT_EQ(after([](Plan& p) { p.buffers[kSig].cell_stride = 6; }),
              "plan sample, rank 1 of 3, buffer 'sig': cells of 4 bytes cannot be 6 bytes apart: "
              "expected a multiple of 4");
    EXPECT_EQ(after([](Plan& p) { p.buffers[kSig].cell_stride = 0; }),
              "plan sample, rank 1 of 3, buffer 'sig': cells of 4 bytes cannot be 0 bytes apart: "
              "expected a multiple of 4");
    EXPECT_EQ(after([](Plan& p) { p.buffers[kSig].cells = UINT64_MAX; }),
              "plan sample, rank 1 of 3, buffer 'sig': 18446744073709551615 cells, 64 bytes apart, "
              "do not fit in memory");
}

// ---------------------------------------------------------------------------- all ranks

std::vector<Plan> three_plans() {
    std::vector<Plan> plans(3, sample_plan());
    for (std::int32_t r = 0; r < 3; ++r) {
        plans[r].rank = r;
        plans[r].instructions.clear();
    }
    return plans;
}

std::string after_all(const std::function<void(std::vector<Plan>&)>& change) {
    std::vector<Plan> plans = three_plans();
    change(plans);
    return error_of([&] { validate(plans); });
}

TEST(PlanValidate, RanksAgree) {
    EXPECT_EQ(after_all([](auto&) {}), "no error");
    EXPECT_EQ(after_all([](auto& p) { p.clear(); }), "there are no plans");
    EXPECT_EQ(after_all([](auto& p) { p.pop_back(); }),
              "plan sample, rank 0 of 3: expected 3 plans, found 2");
    EXPECT_EQ(after_all([](auto& p) { std::swap(p[1], p[2]); }),
              "plan sample, rank 2 of 3: stands at place 1 of the plans");
    EXPECT_EQ(after_all([](auto& p) { p[2].kernel = "other"; }),
              "plan other, rank 2 of 3: rank 0 has a plan of kernel sample");
    EXPECT_EQ(after_all([](auto& p) { p[2].nranks = 4; }),
              "plan sample, rank 2 of 4: rank 0 expects 3 ranks");
    EXPECT_EQ(after_all([](auto& p) {
                  p[1].buffers.pop_back();
                  p[1].advance.pop_back();
              }),
              "plan sample, rank 1 of 3: 3 buffers, but rank 0 has 4");
    EXPECT_EQ(after_all([](auto& p) { p[1].buffers[kData].bytes = 128; }),
              "plan sample, rank 1 of 3, buffer 'data': differs from buffer 'data' of rank 0: 128 "
              "bytes, there 64");
    EXPECT_EQ(after_all([](auto& p) { p[1].buffers[kInp].bytes = 128; }), "no error");
    EXPECT_EQ(after_all([](auto& p) { p[2].advance[kSig] = 3; }),
              "plan sample, rank 2 of 3, buffer 'sig': advances by 3, on rank 0 by 2");
}

TEST(PlanValidate, RanksAgreeOnEachBuffer) {
    const auto differs = [](const std::function<void(Buffer&)>& change, std::uint16_t buffer) {
        const std::string message =
            after_all([&](auto& plans) { change(plans[2].buffers[buffer]); });
        return message.substr(message.find(" of rank 0: ") + 12);
    };
    EXPECT_EQ(differs([](Buffer& b) { b.name = "other"; }, kData), "other, there data");
    EXPECT_EQ(differs([](Buffer& b) { b.kind = BufferKind::window; }, kInp),
              "window, there argument");
    EXPECT_EQ(differs([](Buffer& b) { b.direction = Direction::inout; }, kInp), "inout, there in");
    EXPECT_EQ(differs([](Buffer& b) { b.element = Element::f16; }, kData), "f16, there f32");
    EXPECT_EQ(differs([](Buffer& b) { b.element = Element::i64; }, kSig), "i64, there i32");
    EXPECT_EQ(differs([](Buffer& b) { b.cells = 5; }, kSig), "5 cells, there 3");
    EXPECT_EQ(differs([](Buffer& b) { b.cell_stride = 8; }, kSig), "cells 8 bytes apart, there 64");
}

// ---------------------------------------------------------------------------- all faults

TEST(PlanFaults, AreAllThatIsWrong) {
    std::vector<Plan> plans = three_plans();
    plans[0].instructions = {
        {Copy{{kOut, 0, 0, 64}, {kInp, 0, 0, 64}}, Pipe::none, 0},
        {Copy{{kOut, 0, 0, 8}, {kData, 1, 60, 8}}, Pipe::none, 0},
        {Copy{{kInp, 0, 0, 8}, {kOut, 0, 0, 8}}, Pipe::none, 2},
        {Copy{{kTile, 0, 0, 8}, {kTile, 0, 4, 8}}, Pipe::none, 0},
        {Notify{NotifyOp::set, {kSig, 2, 3}, {1, 0}}, Pipe::none, 0},
        {PipeBarrier{Pipe::none}, Pipe::none, 0},
    };
    plans[1].buffers[kSig].cell_stride = 6;
    plans[2].buffers[kData].bytes = 128;
    const std::vector<PlanFault> faults = faults_of(plans);
    std::vector<std::string> lines;
    for (const PlanFault& fault : faults) lines.push_back(fault.memory + "; " + fault.message);
    EXPECT_THAT(
        lines,
        ElementsAre("data@1[60..68); the source leaves data, which has 64 bytes",
                    "inp@0[0..8); the destination is in 'inp', which is an input: only out and "
                    "inout arguments are written",
                    "tile[4..12); the destination overlaps the source",
                    "sig[3]@2; there is no cell 3 in 'sig', which has 3",
                    "; a barrier needs a pipe to drain",
                    "sig; cells of 4 bytes cannot be 6 bytes apart: expected a multiple of 4",
                    "data; differs from buffer 'data' of rank 0: 128 bytes, there 64"));
    std::vector<PlanFault::Kind> kinds;
    for (const PlanFault& fault : faults) kinds.push_back(fault.kind);
    using enum PlanFault::Kind;
    EXPECT_THAT(kinds, ElementsAre(out_of_range, input_write, tile_overlap, out_of_range,
                                   instruction, buffer, agreement));
    EXPECT_EQ(faults[1].place, 0U);
    EXPECT_EQ(faults[1].instruction, 2U);
    EXPECT_EQ(faults[6].place, 2U);
    EXPECT_EQ(faults[6].buffer, kData);
    EXPECT_EQ(error_of([&] { validate(plans); }), to_text(faults[0]));
}

}  // namespace validate_test
}  // namespace peal::plan
