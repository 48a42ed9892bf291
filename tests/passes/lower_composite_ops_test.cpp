// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/verify.hpp"
#include "passes/support.hpp"
#include "peal/collective.hpp"
#include "peal/error.hpp"
#include "peal/lower.hpp"

namespace peal {
namespace lower_composite_ops_test {

using ::testing::HasSubstr;
using ::testing::Key;
using ::testing::UnorderedElementsAre;

constexpr const char* kMesh = R"(
kernel step(data: window f32[n], sig: window i32[nranks]) {
    data = allreduce(data, sig, op=sum, recipe=mesh)
}
)";

ir::Program lowered(const std::string& text) {
    return passes::lower_composite_ops(test::program(text));
}

TEST(LowerCompositeOps, MeshAllreduceBecomesTheNinePrimitives) {
    const test::Shape shape = test::shape_of(lowered(kMesh).kernels[0]);
    EXPECT_FALSE(shape.ops.contains("pld.tensor.allreduce"));
    for (const char* op :
         {"pld.system.get_comm_ctx", "pld.system.nranks", "pld.system.rank", "pld.system.notify",
          "pld.system.wait", "pld.tile.remote_load", "tile.load", "tile.add", "tile.store"}) {
        EXPECT_TRUE(shape.ops.contains(op)) << op;
    }
}

// Two barriers of two loops each, with the own rank left out, and the loop that combines in rank
// order and reads the own part locally: five of each, as in the four-phase recipe that it descends
// from. (There the own part came first, so every rank added in another order.)
TEST(LowerCompositeOps, MeshAllreduceHasFiveLoopsAndFiveConditions) {
    const test::Shape shape = test::shape_of(lowered(kMesh).kernels[0]);
    EXPECT_EQ(shape.loops, 5);
    EXPECT_EQ(shape.conditions, 5);
    EXPECT_EQ(shape.ops.at("pld.system.notify"), 2);
    EXPECT_EQ(shape.ops.at("pld.system.wait"), 2);
}

TEST(LowerCompositeOps, LoweringTwiceIsLoweringOnce) {
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            Collective collective;
            collective.kind = kind;
            collective.recipe = recipe.name;
            const ir::Program once = lower(program_of(collective));
            EXPECT_TRUE(ir::equal(once, lower(once))) << name(kind) << " " << recipe.name;
        }
    }
}

TEST(LowerCompositeOps, ProgramWithoutCollectivesIsUnchanged) {
    const ir::Program program = test::program(R"(
kernel left(out: out f32[n], data: window f32[n], sig: window i32[nranks]) {
    for peer in peers { notify sig[rank]@peer += 1 }
    for peer in peers { wait sig[peer] >= 1 }
    out = data@((rank + nranks - 1) % nranks)
}
)");
    EXPECT_TRUE(ir::equal(program, passes::lower_composite_ops(program)));
}

TEST(LowerCompositeOps, PlainTensorAsTargetIsRejected) {
    try {
        test::program(
            "kernel k(data: f32[n], sig: window i32[nranks]) {\n"
            "    pld.tensor.allreduce(data, sig)\n}\n");
        FAIL() << "a tensor was taken for a window";
    } catch (const ProgramError& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("pld.tensor.allreduce: operand 'target' must be a window, "
                              "found a tensor of f32"));
    }
}

TEST(Placement, WhatARecipeDoesNotOfferIsRefused) {
    const auto refusal = [](CollectiveKind kind, const char* recipe, Placement placement) {
        Collective collective;
        collective.kind = kind;
        collective.recipe = recipe;
        collective.placement = placement;
        collective.counts.assign(4, 1);
        try {
            validate(collective, 2);
        } catch (const Error& error) {
            EXPECT_EQ(error.fault(), Fault::usage);
            return std::string(error.what());
        }
        return std::string();
    };
    for (const char* recipe : {"push", "pull", "pipeline"}) {
        EXPECT_EQ(refusal(CollectiveKind::allreduce, recipe, Placement::window),
                  "allreduce: recipe '" + std::string(recipe) +
                      "' stages private memory; choose another one on a window");
        EXPECT_EQ(refusal(CollectiveKind::allreduce, recipe, Placement::in_place), "");
    }
    EXPECT_EQ(refusal(CollectiveKind::all_to_all_v, "mesh", Placement::in_place),
              "all_to_all_v: input and output must be separate; there is no in-place form");
}

TEST(LowerCompositeOps, UnknownReductionIsRejected) {
    try {
        test::program(
            "kernel k(data: window f32[n], sig: window i32[nranks]) {\n"
            "    data = allreduce(data, sig, op=average)\n}\n");
        FAIL() << "an unknown reduction was taken";
    } catch (const ProgramError& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("op must be one of sum, prod, max, min; found average"));
    }
}

TEST(ConvertTensorToTileOps, TargetAndSignalOfAnAllreduceBecomeInout) {
    const ir::Program program = test::program(kMesh);
    EXPECT_EQ(program.kernels[0].params[0].direction, Direction::unknown);
    const ir::Program after = passes::convert_tensor_to_tile_ops(program);
    EXPECT_EQ(after.kernels[0].find("data")->direction, Direction::inout);
    EXPECT_EQ(after.kernels[0].find("sig")->direction, Direction::inout);
    EXPECT_TRUE(test::shape_of(after.kernels[0]).ops.contains("pld.tensor.allreduce"));
}

TEST(ConvertTensorToTileOps, DirectionsFollowFromEffects) {
    const ir::Program after = passes::convert_tensor_to_tile_ops(test::program(R"(
kernel k(a: f32[n], b: f32[n], c: f32[n], unused: f32[n], data: window f32[n]) {
    b = a
    c = c + data@0
}
)"));
    const auto direction = [&](const char* param) {
        return after.kernels[0].find(param)->direction;
    };
    EXPECT_EQ(direction("a"), Direction::in);
    EXPECT_EQ(direction("b"), Direction::out);
    EXPECT_EQ(direction("c"), Direction::inout);
    EXPECT_EQ(direction("unused"), Direction::in);
    EXPECT_EQ(direction("data"), Direction::in);
    EXPECT_FALSE(test::shape_of(after.kernels[0]).ops.contains("tensor.copy"));
}

TEST(ConvertTensorToTileOps, DirectionsSeeThroughCalls) {
    const ir::Program after = passes::convert_tensor_to_tile_ops(test::program(R"(
kernel inner(x: f32[m], y: f32[m]) { y = x }
kernel outer(a: f32[n], b: f32[n]) { inner(a, b) }
)"));
    EXPECT_EQ(after.find("outer")->find("a")->direction, Direction::in);
    EXPECT_EQ(after.find("outer")->find("b")->direction, Direction::out);
}

// Every recipe, after every pass: legal, and its text parses back to an equal program.
TEST(Pipeline, EveryPassKeepsEveryRecipePrintable) {
    for (const CollectiveKind kind : kCollectives) {
        std::vector<std::string> names = {"auto"};
        for (const Recipe& recipe : recipes(kind)) names.emplace_back(recipe.name);
        for (const std::string& recipe : names) {
            for (const Placement placement : kPlacements) {
                if (!offers(kind, recipe, placement)) continue;
                Collective collective;
                collective.kind = kind;
                collective.recipe = recipe;
                collective.placement = placement;
                ir::Program program = program_of(collective);
                for (const passes::Pass& pass : passes::pipeline()) {
                    program = pass.run(program);
                    const std::string text = print(program);
                    SCOPED_TRACE(std::string(pass.name) + "\n" + text);
                    EXPECT_TRUE(ir::verify(program).empty());
                    EXPECT_TRUE(ir::equal(program, test::program(text)));
                }
            }
        }
    }
}

TEST(Simplify, FoldsConstantsAndDropsWhatNeverHappens) {
    const ir::Program after = passes::simplify(test::program(R"(
kernel k(out: out f32[8], inp: in f32[8]) {
    for i in 3..3 { out = inp }
    if 1 == 2 { out = inp } else { out[1 + 1 * 2; 2 * 2] = inp[0 + 0; 4] }
    require 2 + 2 == 4
}
)"));
    EXPECT_EQ(print(after),
              "kernel k(out: out f32[8], inp: in f32[8]) {\n"
              "    tensor.copy(out, 3, inp, 0, 4)\n"
              "}\n");
}

TEST(Simplify, LeavesWhatWouldOverflowToTheSpecialiser) {
    const ir::Program program = test::program(
        "kernel k(out: out f32[8]) {\n    require 9223372036854775807 + 1 > 0\n    require 1 / 0 "
        "== 0\n}\n");
    EXPECT_TRUE(ir::equal(program, passes::simplify(program)));
}

TEST(InlineCalls, ArgumentsShapesAndNamesAreTheCallers) {
    const ir::Program after = lower(test::program(R"(
kernel add_from(data: window f32[m], peer: index, out: f32[m]) {
    let t = data@peer
    out = t + t
}
kernel twice(data: window f32[n], a: f32[n], b: f32[n]) {
    let t = data@0
    a = t
    add_from(data, 1, b)
    add_from(data, rank, b)
}
)"));
    EXPECT_EQ(print(*after.find("twice")),
              "kernel twice(data: in window f32[n], a: out f32[n], b: out f32[n]) {\n"
              "    let t = pld.tile.remote_load(data, 0, 0, n)\n"
              "    tile.store(t, a, 0)\n"
              "    let t_1 = pld.tile.remote_load(data, 1, 0, n)\n"
              "    tile.store(tile.add(t_1, t_1), b, 0)\n"
              "    let t_2 = pld.tile.remote_load(data, rank, 0, n)\n"
              "    tile.store(tile.add(t_2, t_2), b, 0)\n"
              "}\n");
}

}  // namespace lower_composite_ops_test
}  // namespace peal
