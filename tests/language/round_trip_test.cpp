// SPDX-License-Identifier: Apache-2.0
// print() and parse() are inverse: on random programs, on random IR, and on every example.
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "language/random_program.hpp"
#include "language/support.hpp"
#include "peal/builder.hpp"

namespace peal {
namespace round_trip_test {

using ir::BinaryOp;
using ir::ExprPtr;
using test::Dice;

TEST(RoundTrip, RandomPrograms) {
    for (std::uint64_t seed = 0; seed < 80; ++seed) {
        const std::string text = test::ProgramWriter(seed).program();
        SCOPED_TRACE("seed " + std::to_string(seed));
        try {
            test::expect_round_trip(test::parse_text(text));
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

// Integer expressions as no text would have them: constants that could be worked out, minus signs
// and nots on top of each other.
ExprPtr random_integer(Dice& dice, const ExprPtr& symbol, int depth);

ExprPtr random_boolean(Dice& dice, const ExprPtr& symbol, int depth) {
    if (depth == 0 || dice.chance(30)) {
        const auto op =
            static_cast<BinaryOp>(static_cast<int>(BinaryOp::eq) + static_cast<int>(dice.below(6)));
        return ir::binary(op, random_integer(dice, symbol, depth - 1),
                          random_integer(dice, symbol, depth - 1));
    }
    if (dice.chance(40)) {
        return ir::unary(ir::UnaryOp::logical_not, random_boolean(dice, symbol, depth - 1));
    }
    return ir::binary(dice.chance(50) ? BinaryOp::logical_and : BinaryOp::logical_or,
                      random_boolean(dice, symbol, depth - 1),
                      random_boolean(dice, symbol, depth - 1));
}

ExprPtr random_integer(Dice& dice, const ExprPtr& symbol, int depth) {
    if (depth <= 0 || dice.chance(20)) {
        switch (dice.below(5)) {
            case 0: return symbol;
            case 1: return ir::rank();
            case 2: return ir::integer(std::numeric_limits<std::int64_t>::min());
            case 3: return ir::integer(std::numeric_limits<std::int64_t>::max());
            default: return ir::integer(static_cast<std::int64_t>(dice.below(9)) - 4);
        }
    }
    if (dice.chance(30)) {
        return ir::unary(dice.chance(70) ? ir::UnaryOp::neg : ir::UnaryOp::log2,
                         random_integer(dice, symbol, depth - 1));
    }
    if (dice.chance(10)) {
        const ir::VarPtr counter = ir::variable("f" + std::to_string(depth), ir::index_type());
        return ir::fold(
            dice.chance(50) ? ir::FoldOp::sum : ir::FoldOp::max, counter,
            random_integer(dice, symbol, depth - 1), random_integer(dice, symbol, depth - 1),
            ir::binary(BinaryOp::mul, counter, random_integer(dice, symbol, depth - 1)));
    }
    const auto op = static_cast<BinaryOp>(dice.below(static_cast<std::size_t>(BinaryOp::shr) + 1));
    return ir::binary(op, random_integer(dice, symbol, depth - 1),
                      random_integer(dice, symbol, depth - 1));
}

TEST(RoundTrip, RandomExpressions) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Dice dice(seed);
        ir::KernelBuilder kernel("k");
        const ExprPtr symbol = kernel.Symbol("n");
        kernel.Tensor("a", Element::f32, {symbol});
        for (int i = 0; i < 10; ++i) {
            kernel.Body().Bind("x", random_integer(dice, symbol, 6));
            kernel.Body().Bind("c", random_boolean(dice, symbol, 5));
        }
        SCOPED_TRACE("seed " + std::to_string(seed));
        test::expect_round_trip(std::move(kernel).Finish());
    }
}

TEST(RoundTrip, EveryDouble) {
    std::mt19937_64 bits(1);
    std::vector<double> values = {0.0,
                                  -0.0,
                                  1.0,
                                  1e15,
                                  1e16,
                                  1e17,
                                  123456789012345678.0,
                                  5e-324,
                                  std::numeric_limits<double>::max(),
                                  std::numeric_limits<double>::min(),
                                  std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity(),
                                  std::numeric_limits<double>::quiet_NaN()};
    while (values.size() < 1000) {
        const auto value = std::bit_cast<double>(bits());
        if (!std::isnan(value)) values.push_back(value);
    }
    ir::KernelBuilder kernel("k");
    for (std::size_t i = 0; i < values.size(); ++i) {
        kernel.Body().Bind("x" + std::to_string(i), ir::floating(values[i]));
    }
    test::expect_round_trip(std::move(kernel).Finish());
}

TEST(RoundTrip, ProgramsBuiltInCpp) {
    ir::KernelBuilder kernel("k");
    const ExprPtr n = kernel.Symbol("n");
    const ExprPtr out = kernel.Tensor("out", Element::f32, {n}, Direction::out);
    const ExprPtr data = kernel.Window("data", Element::f32, {n});
    const ExprPtr sig = kernel.Window("sig", Element::i64, {ir::nranks()});
    ir::LoweringBuilder& body = kernel.Body();
    body.EmitFor("peer", ir::integer(0), ir::nranks(),
                 [&](ir::LoweringBuilder& b, const ExprPtr& peer) {
                     b.EmitIf(ir::NotEq(peer, ir::rank()), [&](ir::LoweringBuilder& inner) {
                         inner.Notify(sig, peer, ir::rank(), inner.Generation(sig) + 1);
                         inner.Wait(sig, peer, inner.Generation(sig) + 1);
                     });
                 });
    const ExprPtr sum = body.EmitForReduce(
        "r", ir::integer(1), ir::nranks(), body.RemoteLoad(data, ir::integer(0), ir::integer(0), n),
        [&](ir::LoweringBuilder& b, const ExprPtr& r, const ExprPtr& acc) {
            return b.Combine(ReduceOp::sum, acc, b.RemoteLoad(data, r, ir::integer(0), n));
        });
    const ExprPtr chosen = body.EmitIfExpr(
        ir::Eq(ir::rank(), ir::integer(0)), [&](ir::LoweringBuilder&) { return sum; },
        [&](ir::LoweringBuilder& b) { return b.Load(data, ir::integer(0), n); });
    body.Store(chosen, out, ir::integer(0));
    body.Advance(sig, ir::integer(1));
    test::expect_round_trip(std::move(kernel).Finish());
}

TEST(RoundTrip, EveryExample) {
    const std::filesystem::path folder = std::filesystem::path(PEAL_SOURCE_DIR) / "examples";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "there are no examples";
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".peal") continue;
        SCOPED_TRACE(entry.path().filename().string());
        try {
            test::expect_round_trip(parse_file(entry.path().string()));
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

}  // namespace round_trip_test
}  // namespace peal
