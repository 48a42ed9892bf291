// SPDX-License-Identifier: Apache-2.0
// Statements: which IR they become.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "language/support.hpp"

namespace peal {
namespace statement_test {

using test::kernel_of;
using test::lowered_body;
using test::parse_text;

TEST(Statement, AssignmentOfMemoryPicksTheOp) {
    EXPECT_EQ(lowered_body("data = inp"), "tensor.copy(data, 0, inp, 0, n)\n");
    EXPECT_EQ(lowered_body("data[4; 8] = inp[0; 8]"), "tensor.copy(data, 4, inp, 0, 8)\n");
    EXPECT_EQ(lowered_body("out = data@1"),
              "tile.store(pld.tile.remote_load(data, 1, 0, n), out, 0)\n");
    EXPECT_EQ(lowered_body("out[4; 4] = inp[0; 4] + inp[4; 4]"),
              "tile.store(tile.add(tile.load(inp, 0, 4), tile.load(inp, 4, 4)), out, 4)\n");
    EXPECT_EQ(lowered_body("data@m = inp"),
              "pld.tile.remote_store(tile.load(inp, 0, n), data, m, 0)\n");
    EXPECT_EQ(lowered_body("grid@(m + 1)[rank] = inp"),
              "pld.tile.remote_store(tile.load(inp, 0, n), grid, m + 1, rank * n)\n");
}

TEST(Statement, PutAndGet) {
    EXPECT_EQ(lowered_body("put data@m[1; 4] = inp[2; 4]"),
              "pld.tensor.put(data, m, 1, inp, 2, 4)\n");
    EXPECT_EQ(lowered_body("put data@m[1; 4] += inp[2; 4]"),
              "pld.tensor.put_add(data, m, 1, inp, 2, 4)\n");
    EXPECT_EQ(lowered_body("get out[1; 4] = data@m[2; 4]"),
              "pld.tensor.get(out, 1, data, m, 2, 4)\n");
    EXPECT_EQ(lowered_body("get grid[m] = grid@m[rank]"),
              "pld.tensor.get(grid, m * n, grid, m, rank * n, n)\n");
}

TEST(Statement, Signals) {
    EXPECT_EQ(lowered_body("notify sig[rank]@m += 1"),
              "pld.system.notify(sig, m, rank, 1, op=add)\n");
    EXPECT_EQ(lowered_body("notify sig@m[rank] = generation(sig) + 1"),
              "pld.system.notify(sig, m, rank, pld.system.generation(sig) + 1, op=set)\n");
    EXPECT_EQ(lowered_body("notify sig[0] = 1"), "pld.system.notify(sig, rank, 0, 1, op=set)\n");
    EXPECT_EQ(lowered_body("notify cells[2, rank]@m = 1"),
              "pld.system.notify(cells, m, 2 * nranks + rank, 1, op=set)\n");
    EXPECT_EQ(lowered_body("notify cells[2]@m[rank] = 1"),
              "pld.system.notify(cells, m, 2 * nranks + rank, 1, op=set)\n");
    EXPECT_EQ(lowered_body("advance sig by 2"), "pld.system.advance(sig, 2)\n");
}

TEST(Statement, WaitTakesEveryComparison) {
    const std::vector<std::pair<std::string, std::string>> kComparisons = {
        {"==", "eq"}, {"!=", "ne"}, {">", "gt"}, {">=", "ge"}, {"<", "lt"}, {"<=", "le"}};
    for (const auto& [symbol, word] : kComparisons) {
        EXPECT_EQ(lowered_body("wait sig[m] " + symbol + " n + 1"),
                  "pld.system.wait(sig, m, n + 1, cmp=" + word + ")\n");
    }
}

TEST(Statement, AssigningAgainMakesANewVariable) {
    EXPECT_EQ(lowered_body("x = 1\nx = x + 1\nx = x * x"),
              "let x = 1\n"
              "let x_1 = x + 1\n"
              "let x_2 = x_1 * x_1\n");
}

TEST(Statement, FreshNamesAvoidEveryWordOfTheKernel) {
    EXPECT_EQ(lowered_body("x = 1\nx = 2\nlet x_1 = 3\nx = x_1"),
              "let x = 1\n"
              "let x_2 = 2\n"
              "let x_1 = 3\n"
              "let x_3 = x_1\n");
}

TEST(Statement, SiblingLoopsMayShareACounter) {
    EXPECT_EQ(lowered_body("for i in 0..2 { x = i }\nfor i in 0..3 { x = i }"),
              "for i in 0..2 {\n"
              "    let x = i\n"
              "}\n"
              "for i_1 in 0..3 {\n"
              "    let x_1 = i_1\n"
              "}\n");
}

TEST(Statement, LoopsCarryWhatTheyAssign) {
    EXPECT_EQ(lowered_body("acc = data@0\nfor r in 1..nranks { acc = acc + data@r }\nout = acc"),
              "let acc = pld.tile.remote_load(data, 0, 0, n)\n"
              "let acc_3 = for r in 1..nranks carry acc_1 = acc {\n"
              "    let acc_2 = tile.add(acc_1, pld.tile.remote_load(data, r, 0, n))\n"
              "    yield acc_2\n"
              "}\n"
              "tile.store(acc_3, out, 0)\n");
}

TEST(Statement, ConditionsJoinWhatTheyAssign) {
    EXPECT_EQ(lowered_body("x = 1\ny = 2\n"
                           "if rank == 0 { x = 3 } else if rank == 1 { y = 4 }\n"
                           "z = x + y"),
              "let x = 1\n"
              "let y = 2\n"
              "let (x_2, y_3) = if rank == 0 {\n"
              "    let x_1 = 3\n"
              "    yield x_1, y\n"
              "} else {\n"
              "    let y_2 = if rank == 1 {\n"
              "        let y_1 = 4\n"
              "        yield y_1\n"
              "    } else {\n"
              "        yield y\n"
              "    }\n"
              "    yield x, y_2\n"
              "}\n"
              "let z = x_2 + y_3\n");
}

TEST(Statement, LoopOverPeersIsOneLoopAndOneCondition) {
    EXPECT_EQ(lowered_body("x = 0\nfor p in peers { x = x + p }"),
              "let x = 0\n"
              "let x_4 = for p in 0..nranks carry x_1 = x {\n"
              "    let x_3 = if p != rank {\n"
              "        let x_2 = x_1 + p\n"
              "        yield x_2\n"
              "    } else {\n"
              "        yield x_1\n"
              "    }\n"
              "    yield x_3\n"
              "}\n");
}

TEST(Statement, ExplicitFormKeepsItsNames) {
    const std::string text =
        "let (a, b) = for i in 0..4 carry p = 1, q = inp[0; 4] {\n"
        "    let r = p + i\n"
        "    yield r, tile.muls(q, 2)\n"
        "}\n";
    EXPECT_EQ(lowered_body(text),
              "let (a, b) = for i in 0..4 carry p = 1, q = tile.load(inp, 0, 4) {\n"
              "    let r = p + i\n"
              "    yield r, tile.muls(q, 2)\n"
              "}\n");
    EXPECT_EQ(lowered_body("let x = if rank == 0 { yield 1 } else { yield m }"),
              "let x = if rank == 0 {\n"
              "    yield 1\n"
              "} else {\n"
              "    yield m\n"
              "}\n");
}

TEST(Statement, ExplicitFormMayAlsoAssign) {
    EXPECT_EQ(
        lowered_body("s = 0\nlet a = for i in 0..4 carry p = 1 {\n s = s + p\n yield p * 2\n}"),
        "let s = 0\n"
        "let (a, s_3) = for i in 0..4 carry p = 1, s_1 = s {\n"
        "    let s_2 = s_1 + p\n"
        "    yield p * 2, s_2\n"
        "}\n");
}

TEST(Statement, ElseIfWithAValue) {
    EXPECT_EQ(lowered_body("let x = if rank == 0 { yield 1 } else if rank == 1 { yield 2 } "
                           "else { yield 3 }"),
              "let x_1 = if rank == 0 {\n"
              "    yield 1\n"
              "} else {\n"
              "    let x = if rank == 1 {\n"
              "        yield 2\n"
              "    } else {\n"
              "        yield 3\n"
              "    }\n"
              "    yield x\n"
              "}\n");
}

TEST(Statement, ElseIfWithoutAValuePrintsFlat) {
    EXPECT_EQ(lowered_body("if rank == 0 { x = 1 } else if rank == 1 { y = 2 } else { z = 3 }"),
              "if rank == 0 {\n"
              "    let x = 1\n"
              "} else if rank == 1 {\n"
              "    let y = 2\n"
              "} else {\n"
              "    let z = 3\n"
              "}\n");
}

// What is called generation and recipe today was called epoch and mode.
TEST(Statement, OlderWordsAreRead) {
    EXPECT_EQ(lowered_body("notify sig[0] = epoch(sig) + pld.system.epoch(sig)"),
              lowered_body("notify sig[0] = generation(sig) + generation(sig)"));
    EXPECT_EQ(lowered_body("data = allreduce(data, sig, op=max, mode=ring)"),
              "pld.tensor.allreduce(data, sig, op=max, recipe=ring)\n");
    EXPECT_EQ(lowered_body("barrier(sig, mode=mesh)"), "pld.system.barrier(sig, recipe=mesh)\n");
}

TEST(Statement, CollectivesInPlaceAndFromInputToOutput) {
    EXPECT_EQ(lowered_body("data = allreduce(data, sig, op=max, recipe=ring)"),
              "pld.tensor.allreduce(data, sig, op=max, recipe=ring)\n");
    EXPECT_EQ(lowered_body("out = allreduce(inp, data, sig)"),
              "pld.tensor.allreduce(data, sig, input=inp, output=out, op=sum, recipe=auto)\n");
    EXPECT_EQ(lowered_body("data = broadcast(data, sig)"),
              "pld.tensor.broadcast(data, sig, 0, recipe=auto)\n");
    EXPECT_EQ(lowered_body("out = reduce(inp, data, sig, root=m, op=min)"),
              "pld.tensor.reduce(data, sig, m, input=inp, output=out, op=min, recipe=auto)\n");
    EXPECT_EQ(lowered_body("out = all_to_all_v(inp, data, sig, counts)"),
              "pld.tensor.all_to_all_v(data, sig, counts, input=inp, output=out, recipe=auto)\n");
    EXPECT_EQ(lowered_body("barrier(sig, recipe=dissemination)"),
              "pld.system.barrier(sig, recipe=dissemination)\n");
}

TEST(Statement, AKernelMayHaveTheNameOfACollective) {
    const ir::Program program = parse_text(
        "kernel allreduce(data: window f32[n], sig: window i32[nranks]) {\n"
        "    data = allreduce(data, sig)\n"
        "}\n"
        "kernel twice(data: window f32[n], sig: window i32[nranks]) {\n"
        "    allreduce(data, sig)\n"
        "    allreduce(data, sig)\n"
        "}\n");
    test::expect_round_trip(program);
    ASSERT_EQ(program.kernels[1].body.stmts.size(), 2U);
    EXPECT_EQ(program.kernels[1].body.stmts[0]->kind, ir::StmtKind::invoke);
    EXPECT_EQ(program.kernels[0].body.stmts[0]->kind, ir::StmtKind::eval);
}

TEST(Statement, KernelsMayBeCalledBeforeTheyAreWritten) {
    const ir::Program program = parse_text(
        "kernel outer(x: f32[n], c: index[4]) {\n"
        "    inner(x, c, c[1] + 2, 1.5)\n"
        "}\n"
        "kernel inner(y: f32[k], d: index[4], i: index, a: f32) {\n"
        "}\n");
    test::expect_round_trip(program);
    EXPECT_EQ(print(program.kernels[0]),
              "kernel outer(x: f32[n], c: index[4]) {\n"
              "    inner(x, c, c[1] + 2, 1.5)\n"
              "}\n");
}

TEST(Statement, NodesKnowWhereTheyComeFrom) {
    const ir::Program program = parse_text("kernel k(a: f32[n]) {\n    let x = n +\n 1\n}\n");
    const auto* let = ir::as<ir::Let>(program.kernels[0].body.stmts[0]);
    ASSERT_NE(let, nullptr);
    EXPECT_EQ(let->span.line, 2U);
    EXPECT_EQ(let->span.column, 5U);
    EXPECT_EQ(let->var->span.column, 9U);
    EXPECT_EQ(let->value->span.column, 13U);
    EXPECT_EQ(program.kernels[0].span.column, 8U);
}

TEST(Statement, SizesThatCannotBeComparedYetAreRequiredToBeEqual) {
    EXPECT_EQ(lowered_body("out = inp[0; m]"),
              "pld.system.require(n, m, cmp=eq)\n"
              "tensor.copy(out, 0, inp, 0, m)\n");
    EXPECT_EQ(lowered_body("data@1[0; 8] = inp[0; m]"),
              "pld.system.require(8, m, cmp=eq)\n"
              "pld.tile.remote_store(tile.load(inp, 0, m), data, 1, 0)\n");
    EXPECT_EQ(lowered_body("get out[0; m] = data@1"),
              "pld.system.require(m, n, cmp=eq)\n"
              "pld.tensor.get(out, 0, data, 1, 0, n)\n");
}

TEST(Statement, Require) {
    EXPECT_EQ(lowered_body("require nranks >= 2"), "pld.system.require(nranks, 2, cmp=ge)\n");
    EXPECT_EQ(lowered_body("require n % nranks == 0"),
              "pld.system.require(n % nranks, 0, cmp=eq)\n");
}

TEST(Statement, WarningsOfTheVerifierAreHandedOn) {
    std::vector<Diagnostic> warnings;
    parse_text(kernel_of("notify sig[0]@1 = 1\nnotify sig[0]@1 += 1"), &warnings);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0].span.line, 3U);
}

}  // namespace statement_test
}  // namespace peal
