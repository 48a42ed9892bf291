// SPDX-License-Identifier: Apache-2.0
// Expressions: how they group, and which IR they become.
#include <string>

#include <gtest/gtest.h>

#include "language/support.hpp"

namespace peal {
namespace expression_test {

using test::errors_of;
using test::kernel_of;
using test::lowered_body;

// The expression as it prints after parsing.
std::string value_of(const std::string& expr) {
    const std::string text = lowered_body("let x = " + expr);
    return text.substr(8, text.size() - 9);
}

TEST(Expression, PrintsWithTheFewestParentheses) {
    EXPECT_EQ(value_of("((m) + ((2) * (3)))"), "m + 2 * 3");
    EXPECT_EQ(value_of("(m + 2) * 3"), "(m + 2) * 3");
    EXPECT_EQ(value_of("m - (2 - 3)"), "m - (2 - 3)");
    EXPECT_EQ(value_of("(m - 2) - 3"), "m - 2 - 3");
    EXPECT_EQ(value_of("m / (2 * 3) % 4"), "m / (2 * 3) % 4");
    EXPECT_EQ(value_of("(m << 1) + 2"), "(m << 1) + 2");
    EXPECT_EQ(value_of("m << 1 + 2 >> n"), "m << 1 + 2 >> n");
    EXPECT_EQ(value_of("m xor (1 << n)"), "m xor 1 << n");
    EXPECT_EQ(value_of("(m xor n) << 1"), "(m xor n) << 1");
    EXPECT_EQ(value_of("m xor (n xor 1)"), "m xor (n xor 1)");
    EXPECT_EQ(value_of("min((m), max(n, (1 + 2)))"), "min(m, max(n, 1 + 2))");
    EXPECT_EQ(value_of("log2((nranks))"), "log2(nranks)");
}

TEST(Expression, LogicBindsLooserThanComparison) {
    EXPECT_EQ(value_of("not m == 1 and n > 2 or rank < 3"), "not m == 1 and n > 2 or rank < 3");
    EXPECT_EQ(value_of("not (m == 1 and n > 2)"), "not (m == 1 and n > 2)");
    EXPECT_EQ(value_of("m == 1 and (n > 2 or rank < 3)"), "m == 1 and (n > 2 or rank < 3)");
    EXPECT_EQ(value_of("not not m == 1"), "not not m == 1");
}

TEST(Expression, MinusBeforeANumberIsPartOfIt) {
    EXPECT_EQ(value_of("-5"), "-5");
    EXPECT_EQ(value_of("-(5)"), "-(5)");
    EXPECT_EQ(value_of("--5"), "--5");
    EXPECT_EQ(value_of("m - -5"), "m - -5");
    EXPECT_EQ(value_of("-m * -n"), "-m * -n");
    EXPECT_EQ(value_of("-(m * n)"), "-(m * n)");
    EXPECT_EQ(value_of("-9223372036854775808"), "-9223372036854775808");
    EXPECT_EQ(value_of("-1.5"), "-1.5");
}

TEST(Expression, FloatingNumbersKeepTheirBits) {
    EXPECT_EQ(value_of("1e3"), "1000.0");
    EXPECT_EQ(value_of("0.1"), "0.1");
    EXPECT_EQ(value_of("1e22"), "1e+22");
    EXPECT_EQ(value_of("4.9406564584124654e-324"), "5e-324");
    EXPECT_EQ(value_of("inf"), "inf");
    EXPECT_EQ(value_of("-inf"), "-inf");
    EXPECT_EQ(value_of("-0.0"), "-0.0");
}

TEST(Expression, FoldsAndTables) {
    EXPECT_EQ(value_of("sum(i in 0..rank, counts[i, rank])"), "sum(i in 0..rank, counts[i, rank])");
    EXPECT_EQ(value_of("max(i in 0..nranks, sum(j in 0..nranks, counts[i][j]))"),
              "max(i in 0..nranks, sum(j in 0..nranks, counts[i, j]))");
    EXPECT_EQ(value_of("max(m, n)"), "max(m, n)");
    EXPECT_EQ(value_of("sum(i in 0..(1 << m), i)"), "sum(i in 0..(1 << m), i)");
}

TEST(Expression, MemoryIsLoaded) {
    EXPECT_EQ(value_of("inp"), "tile.load(inp, 0, n)");
    EXPECT_EQ(value_of("inp[m; 4]"), "tile.load(inp, m, 4)");
    EXPECT_EQ(value_of("inp[m]"), "tile.load(inp, m, 1)");
    EXPECT_EQ(value_of("inp[8; 16][2; 4]"), "tile.load(inp, 10, 4)");
    EXPECT_EQ(value_of("grid"), "tile.load(grid, 0, nranks * n)");
    EXPECT_EQ(value_of("grid[rank]"), "tile.load(grid, rank * n, n)");
    EXPECT_EQ(value_of("grid[rank][m; 4]"), "tile.load(grid, rank * n + m, 4)");
    EXPECT_EQ(value_of("grid[1; 2]"), "tile.load(grid, n, 2 * n)");
    EXPECT_EQ(value_of("grid[1; 2][m]"), "tile.load(grid, n + m * n, n)");
    EXPECT_EQ(value_of("grid[rank, m]"), "tile.load(grid, rank * n + m, 1)");
}

TEST(Expression, PeersWindowsAreLoadedFromThere) {
    EXPECT_EQ(value_of("data@0"), "pld.tile.remote_load(data, 0, 0, n)");
    EXPECT_EQ(value_of("data@rank"), "pld.tile.remote_load(data, rank, 0, n)");
    EXPECT_EQ(value_of("data@m[1; 2]"), "pld.tile.remote_load(data, m, 1, 2)");
    EXPECT_EQ(value_of("data[1; 2]@m"), "pld.tile.remote_load(data, m, 1, 2)");
    EXPECT_EQ(value_of("grid[1]@((rank + 1) % nranks)[2; 3]"),
              "pld.tile.remote_load(grid, (rank + 1) % nranks, n + 2, 3)");
}

TEST(Expression, TilesCombine) {
    EXPECT_EQ(value_of("inp + data"), "tile.add(tile.load(inp, 0, n), tile.load(data, 0, n))");
    EXPECT_EQ(value_of("min(inp, data)"), "tile.min(tile.load(inp, 0, n), tile.load(data, 0, n))");
    EXPECT_EQ(value_of("max(inp, data)"), "tile.max(tile.load(inp, 0, n), tile.load(data, 0, n))");
    EXPECT_EQ(value_of("inp * data"), "tile.mul(tile.load(inp, 0, n), tile.load(data, 0, n))");
    EXPECT_EQ(value_of("inp * alpha"), "tile.muls(tile.load(inp, 0, n), alpha)");
    EXPECT_EQ(value_of("2 * inp + 1.5"), "tile.adds(tile.muls(tile.load(inp, 0, n), 2), 1.5)");
    EXPECT_EQ(value_of("(inp + data)[0; 4]"),
              "tile.slice(tile.add(tile.load(inp, 0, n), tile.load(data, 0, n)), 0, 4)");
}

TEST(Expression, OpsByName) {
    EXPECT_EQ(value_of("tile.full(0, n)"), "tile.full(0, n, element=f32)");
    EXPECT_EQ(value_of("tile.full(-inf, count=n, element=bf16)"),
              "tile.full(-inf, n, element=bf16)");
    EXPECT_EQ(value_of("pld.system.rank(pld.system.get_comm_ctx())"), "rank");
    EXPECT_EQ(value_of("nranks"), "nranks");
    EXPECT_EQ(value_of("generation(sig) + 1"), "pld.system.generation(sig) + 1");
}

TEST(Expression, SoftKeywordsAreNames) {
    EXPECT_EQ(
        lowered_body("in = 1\nby = in + 1\ncarry = by\nfor index in in..by { window = index }"),
        "let in = 1\n"
        "let by = in + 1\n"
        "let carry = by\n"
        "for index in in..by {\n"
        "    let window = index\n"
        "}\n");
}

TEST(Expression, ValueMayStandOnTheNextLine) {
    EXPECT_EQ(lowered_body("x =\n  m\n  + 1\ny = (\n  x\n)"), "let x = m + 1\nlet y = x\n");
    EXPECT_EQ(errors_of(kernel_of("x =\ny = 1")),
              "test.peal:3:1: error: expected a value, found 'y'\n"
              "    3 | y = 1\n"
              "      | ^\n"
              "hint: another statement begins here");
}

}  // namespace expression_test
}  // namespace peal
