// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "peal/builder.hpp"
#include "peal/compile.hpp"
#include "peal/program.hpp"
#include "plan/support.hpp"

namespace peal::plan {
namespace specialise_test {

using peal::specialise;
using namespace peal::testing;

ir::Program lowered(const std::string& text) {
    return lower(parse(std::make_shared<const Source>("test.peal", text)));
}

Plan plan_of(const std::string& text, int rank, int nranks, const Bindings& bindings = {}) {
    const ir::Program program = lowered(text);
    Plan plan = specialise(program, program.kernels.front().name, bindings, rank, nranks);
    EXPECT_NO_THROW(validate(plan));
    return plan;
}

// The instructions, one a line.
std::string listing(const Plan& plan) {
    std::string text;
    for (const Instruction& instruction : plan.instructions) {
        text += to_text(instruction, plan) + '\n';
    }
    return text;
}

Plan plan_with_lanes(const std::string& text, int lanes, const Bindings& bindings = {}) {
    const ir::Program program = lowered(text);
    CompileOptions options;
    options.lanes = lanes;
    Plan plan = specialise(program, program.kernels.front().name, bindings, 1, 2, options);
    EXPECT_NO_THROW(validate(plan));
    return plan;
}

Bindings integers(std::map<std::string, std::int64_t, std::less<>> values) {
    return {std::move(values), {}, {}};
}

// ---------------------------------------------------------------------------- what comes out

TEST(Specialise, UnrollsTheMeshAllreduce) {
    const Plan plan = plan_of(R"(
kernel mesh(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window i32[nranks]) {
    data = inp
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    acc = data@0
    for r in 1..nranks { acc = acc + data@r }
    out = acc
    advance sig by 1
})",
                              1, 3, integers({{"n", 4}}));
    EXPECT_EQ(to_text(plan),
              "plan mesh, rank 1 of 3: 12 instructions, 384 bytes of tile memory, from test.peal\n"
              "  inp   argument  in       f32   16 bytes\n"
              "  out   argument  out      f32   16 bytes\n"
              "  data  window    inout    f32   16 bytes\n"
              "  sig   signal    inout    i32   3 cells, 64 bytes apart, advance 1\n"
              "   0  copy tile[0..16) <- inp[0..16)                                   line 3\n"
              "   1  copy data[0..16) <- tile[0..16)                                  line 3\n"
              "   2  notify sig[1]@0 = generation + 1                                 line 4\n"
              "   3  notify sig[1]@2 = generation + 1                                 line 4\n"
              "   4  wait sig[0] >= generation + 1                                    line 5\n"
              "   5  wait sig[2] >= generation + 1                                    line 5\n"
              "   6  copy tile[64..80) <- data@0[0..16)                               line 6\n"
              "   7  copy tile[128..144) <- data[0..16)                               line 7\n"
              "   8  reduce sum f32 tile[192..208) <- tile[64..80), tile[128..144)    line 7\n"
              "   9  copy tile[256..272) <- data@2[0..16)                             line 7\n"
              "  10  reduce sum f32 tile[320..336) <- tile[192..208), tile[256..272)  line 7\n"
              "  11  copy out[0..16) <- tile[320..336)                                line 8\n");
}

TEST(Specialise, TakesTheBranchOfItsRank) {
    const std::string text = R"(
kernel root(data: window i32[4], out: out i32[4], root: index) {
    if rank == root { out = data } else { out = data@root }
})";
    const Bindings root = integers({{"root", 2}});
    EXPECT_EQ(listing(plan_of(text, 2, 3, root)),
              "copy tile[0..16) <- data[0..16)\ncopy out[0..16) <- tile[0..16)\n");
    EXPECT_EQ(listing(plan_of(text, 0, 3, root)),
              "copy tile[0..16) <- data@2[0..16)\ncopy out[0..16) <- tile[0..16)\n");
}

// What is put onto itself is loaded and stored; no such round trip is left of it by fuse.
TEST(Specialise, PutsMemoryOntoItself) {
    const std::string text =
        "kernel k(w: window f32[8]) { for p in 0..nranks { put w@p[0; 4] = w[0; 4] } }";
    EXPECT_EQ(listing(plan_of(text, 1, 2)),
              "copy w@0[0..16) <- w[0..16)\ncopy tile[0..16) <- w[0..16)\ncopy w[0..16) <- "
              "tile[0..16)\n");
    EXPECT_EQ(listing(compile(lowered(text), "k", {}, 2)[1]), "copy w@0[0..16) <- w[0..16)\n");
}

TEST(Specialise, CarriesIntegersThroughLoopsAndConditions) {
    // Fibonacci: 0 1 1 2 3 5 8 13
    EXPECT_EQ(listing(plan_of(R"(
kernel k(sig: window i64[1], n: index) {
    a = 0
    b = 1
    for i in 0..n {
        next = a + b
        a = b
        b = next
        if a % 2 == 0 { notify sig[0] = a }
    }
    notify sig[0] = b
})",
                              0, 1, integers({{"n", 6}}))),
              "notify sig[0] = 2\nnotify sig[0] = 8\nnotify sig[0] = 13\n");
}

TEST(Specialise, KnowsItsArithmetic) {
    const auto value = [](const std::string& expression) {
        const Plan plan =
            plan_of("kernel k(sig: window i64[1], m: index, t: index[2, 3]) { notify sig[0] = " +
                        expression + " }",
                    1, 5, {{{"m", -7}}, {}, {{"t", {1, 2, 3, 40, 50, 60}}}});
        return std::get<Notify>(plan.instructions.at(0).action).value.constant;
    };
    EXPECT_EQ(value("m / 2"), -4);
    EXPECT_EQ(value("m % 3"), 2);
    EXPECT_EQ(value("7 / (0 - 2)"), -4);
    EXPECT_EQ(value("m % (0 - 3)"), -1);
    EXPECT_EQ(value("m * (0 - 1) - 3"), 4);
    EXPECT_EQ(value("-m"), 7);
    EXPECT_EQ(value("min(m, 2) + max(m, 2)"), -5);
    EXPECT_EQ(value("1 << 40"), std::int64_t{1} << 40);
    EXPECT_EQ(value("m >> 1"), -4);
    EXPECT_EQ(value("log2(1) + 10 * log2(31) + 100 * log2(32)"), 540);
    EXPECT_EQ(value("rank * 10 + nranks"), 15);
    EXPECT_EQ(value("sum(k in 0..3, t[1, k])"), 150);
    EXPECT_EQ(value("max(k in 0..3, t[0, k] * (2 - k))"), 2);
    EXPECT_EQ(value("max(k in 0..2, m - k)"), -7);
    EXPECT_EQ(value("sum(k in 3..3, t[9, k])"), 0);
}

TEST(Specialise, ConditionsStopAtTheFirstAnswer) {
    EXPECT_EQ(listing(plan_of(R"(
kernel k(sig: window i32[1], m: index) {
    if m != 0 and 8 / m > 1 { notify sig[0] = 1 }
    if m == 0 or 8 / m > 1 { notify sig[0] = 2 }
    if not (m == 1) { notify sig[0] = 3 }
})",
                              0, 1, integers({{"m", 0}}))),
              "notify sig[0] = 2\nnotify sig[0] = 3\n");
}

TEST(Specialise, GenerationsMoveOnWithinACall) {
    const Plan plan = plan_of(R"(
kernel k(a: window i32[1], b: window i32[1]) {
    notify a[0] = generation(a) * 2 + 1
    advance a by 3
    notify a[0] = 5 - generation(a)
    wait b[0] >= generation(b)
    advance a by 2
    wait a[0] == generation(a) - generation(a) + 9
})",
                              0, 1);
    EXPECT_EQ(listing(plan),
              "notify a[0] = 2*generation + 1\n"
              "notify a[0] = -1*generation + 2\n"
              "wait b[0] >= generation\n"
              "wait a[0] == 9\n");
    EXPECT_EQ(plan.advance, (std::vector<std::int64_t>{5, 0}));
}

TEST(Specialise, EachOpBecomesItsInstruction) {
    EXPECT_EQ(listing(plan_of(R"(
kernel k(x: in f32[2, 4], w: window f32[16], y: out f32[8], s: f32) {
    row = x[1]
    w@1[4; 2] = row[2; 2] * s
    put w@1[0; 2] = x[0][2; 2]
    put w@1[2; 2] += x[1][0; 2]
    pld.tile.remote_add(row, w, 1, 8)
    get y[0; 2] = w@1[14; 2]
    y[2; 4] = max(row, x[0]) + 2
    y[6; 2] = tile.full(1.5, 2, element=f32)
})",
                              0, 2, {{}, {{"s", 0.25}}, {}})),
              "copy tile[0..16) <- x[16..32)\n"
              "mul_scalar f32 tile[64..72) <- tile[8..16), 0.25\n"
              "copy w@1[16..24) <- tile[64..72)\n"
              "copy w@1[0..8) <- x[8..16)\n"
              "accumulate f32 w@1[8..16) <- x[16..24)\n"
              "accumulate f32 w@1[32..48) <- tile[0..16)\n"
              "copy y[0..8) <- w@1[56..64)\n"
              "copy tile[128..144) <- x[0..16)\n"
              "reduce max f32 tile[192..208) <- tile[0..16), tile[128..144)\n"
              "add_scalar f32 tile[256..272) <- tile[192..208), 2\n"
              "copy y[8..24) <- tile[256..272)\n"
              "fill f32 tile[320..328) <- 1.5\n"
              "copy y[24..32) <- tile[320..328)\n");
}

TEST(Specialise, NothingBecomesNothing) {
    EXPECT_EQ(listing(plan_of(R"(
kernel k(x: in f32[n], w: window f32[n], y: out f32[n]) {
    w = x
    acc = w + x
    put w@0 = x
    y = acc * 2.0
    y = tile.full(0.0, n)
})",
                              0, 1, integers({{"n", 0}}))),
              "");
}

TEST(Specialise, BuffersHaveTheirSizes) {
    const Plan plan = plan_of(R"(
kernel k(a: in f16[n, 3], b: inout u8[rank + 1], w: window f64[nranks], s: window i64[2, nranks],
         unused: window i32[4]) {
    wait s[1, 0] >= 0
    w = w
    b = b
})",
                              2, 3, integers({{"n", 5}}));
    ASSERT_EQ(plan.buffers.size(), 5u);
    EXPECT_EQ(plan.buffers[0].bytes, 30u);
    EXPECT_EQ(plan.buffers[1].bytes, 3u);
    EXPECT_EQ(plan.buffers[2], window("w", 24, Element::f64));
    EXPECT_EQ(plan.buffers[3].kind, BufferKind::signal);
    EXPECT_EQ(plan.buffers[3].cells, 6u);
    EXPECT_EQ(plan.buffers[3].cell_stride, 64u);
    EXPECT_EQ(plan.buffers[4].kind, BufferKind::window);
    EXPECT_EQ(plan.buffers[4].bytes, 16u);
}

TEST(Specialise, KernelsBuiltInCppHaveNoLines) {
    ir::KernelBuilder k("copy_left");
    const auto n = k.Symbol("n");
    const auto out = k.Tensor("out", Element::f32, {n});
    const auto data = k.Window("data", Element::f32, {n});
    auto& b = k.Body();
    const auto left = (ir::rank() + ir::nranks() - 1) % ir::nranks();
    b.Store(b.RemoteLoad(data, left, ir::integer(0), n), out, ir::integer(0));
    const ir::Program program = lower(std::move(k).Finish());
    const Plan plan = specialise(program, "copy_left", integers({{"n", 2}}), 0, 4);
    EXPECT_EQ(listing(plan), "copy tile[0..8) <- data@3[0..8)\ncopy out[0..8) <- tile[0..8)\n");
    EXPECT_EQ(plan.instructions[0].line, 0u);
}

// ---------------------------------------------------------------------------- what goes wrong

// The error of a kernel with the given body, for rank 1 of 3, on line 2.
std::string error_in(const std::string& body, std::int64_t m = 4) {
    const std::string text =
        "kernel k(x: in f32[m], y: out f32[8], w: window f32[8], s: window i32[3], z: window "
        "i32[1]) {\n    " +
        body + "\n    notify s[0] = 0\n    notify z[0] = 0\n}";
    const ir::Program program = lowered(text);
    return error_of([&] { specialise(program, "k", integers({{"m", m}}), 1, 3); });
}

TEST(SpecialiseErrors, ShowTheLineAndTheValues) {
    EXPECT_EQ(error_in("y[m; m] = x", 5),
              "test.peal:2:5: error: tile.store: elements 5..10 leave 'y', which has 8 (kernel k, "
              "rank 1 of 3)\n"
              "    2 |     y[m; m] = x\n"
              "      |     ^~~~~~~~~~~");
}

// The message alone.
std::string message_in(const std::string& body, std::int64_t m = 4) {
    const std::string text = error_in(body, m);
    const std::string tail = " (kernel k, rank 1 of 3)";
    const std::size_t begin = text.find("error: "), end = text.find(tail);
    if (begin == std::string::npos || end == std::string::npos) return text;
    const std::size_t from = begin + std::string("error: ").size();
    return text.substr(from, end - from);
}

TEST(SpecialiseErrors, RangesLeaveTheirBuffers) {
    EXPECT_EQ(message_in("y[0; m] = w[6; m]"), "tile.load: elements 6..10 leave 'w', which has 8");
    EXPECT_EQ(message_in("y[0; m] = w@2[6; m]"),
              "pld.tile.remote_load: elements 6..10 leave 'w', which has 8");
    EXPECT_EQ(message_in("w@0[6; m] = x"),
              "pld.tile.remote_store: elements 6..10 leave 'w', which has 8");
    EXPECT_EQ(message_in("put w@0[6; m] = x"),
              "pld.tensor.put: elements 6..10 leave 'w', which has 8");
    EXPECT_EQ(message_in("y[0; m] = w[m - 5; m]"), "tile.load: the offset is negative: -1");
    EXPECT_EQ(message_in("y[0; m - 5] = w[0; m - 5]"), "tile.load: the count is negative: -1");
    EXPECT_EQ(message_in("t = tile.load(w, 0, m)\n    y[0; m + 1] = t[0; m + 1]"),
              "tile.slice: elements 0..5 leave a tile of 4");
    EXPECT_EQ(message_in("put w@1[2; m] = w[0; m]"),
              "pld.tensor.put: source and destination overlap in 'w'");
    EXPECT_EQ(message_in("pld.tensor.put_later(w, 1, 2, w, 2, m)"),
              "pld.tensor.put_later: it puts memory onto itself");
}

TEST(SpecialiseErrors, PeersAndCellsExist) {
    EXPECT_EQ(message_in("y[0; m] = w@(m - 1)[0; m]"),
              "pld.tile.remote_load: there is no rank 3, expected 0..2");
    EXPECT_EQ(message_in("notify s[0]@(m - 5) = 1"),
              "pld.system.notify: there is no rank -1, expected 0..2");
    EXPECT_EQ(message_in("notify s[m]@0 = 1"),
              "pld.system.notify: there is no cell 4 in 's', which has 3");
    EXPECT_EQ(message_in("wait s[m - 5] >= 1"),
              "pld.system.wait: there is no cell -1 in 's', which has 3");
}

TEST(SpecialiseErrors, TilesOfDifferentSizesMeet) {
    EXPECT_EQ(message_in("y[0; m] = x + w[0; m - 1]"),
              "tile.add: a tile of 4 f32 does not combine with one of 3 f32");
}

TEST(SpecialiseErrors, ArithmeticGoesWrong) {
    EXPECT_EQ(message_in("notify s[0] = 1 / (m - 4)"), "1 / 0: division by zero");
    EXPECT_EQ(message_in("notify s[0] = 1 % (m - 4)"), "1 % 0: division by zero");
    EXPECT_EQ(message_in("notify s[0] = log2(m - 4)"), "log2(0): log2 needs a number above 0");
    EXPECT_EQ(message_in("notify s[0] = m << 63"), "4 << 63: the shift is not in 0..62");
    EXPECT_EQ(message_in("notify s[0] = m << 61"), "4 << 61: the result does not fit in 64 bits");
    EXPECT_EQ(message_in("notify s[0] = (m << 60) * 2"),
              "4611686018427387904 * 2: the result does not fit in 64 bits");
    EXPECT_EQ(message_in("notify s[0] = sum(k in 0..3, m << 60)"),
              "4611686018427387904 + 4611686018427387904: the result does not fit in 64 bits")
        << "a fold is arithmetic too";
    EXPECT_EQ(message_in("notify s[0] = m << 40"),
              "pld.system.notify: 4398046511104 is not a value of 's', whose cells are i32");
}

TEST(SpecialiseErrors, GenerationsAreKeptAmongThemselves) {
    const std::string relative = "expected a plain integer, found one relative to generation(s)";
    EXPECT_EQ(message_in("if generation(s) > 3 { notify s[0] = 1 }"), relative);
    EXPECT_EQ(message_in("y[generation(s); m] = x"), relative);
    EXPECT_EQ(message_in("for i in 0..generation(s) { notify s[0] = 1 }"), relative);
    EXPECT_EQ(message_in("notify s[generation(s)] = 1"), relative);
    EXPECT_EQ(message_in("notify s[0] = generation(s) * generation(s)"), relative);
    EXPECT_EQ(message_in("notify s[0] = generation(s) / 2"),
              "pld.system.notify: the value follows from generation(s) by a division: expected an "
              "integer, or generation(s) plus one");
    EXPECT_EQ(message_in("notify s[0] = generation(s) + generation(z)"), relative);
    EXPECT_EQ(message_in("notify z[0] = generation(s)"),
              "pld.system.notify: a value relative to generation(s) is given to 'z'");
    EXPECT_EQ(message_in("advance s by m - 5"), "pld.system.advance: the advance is negative: -1");
    EXPECT_NE(
        error_in("y[generation(s); m] = x").find("\nhint: such a value can be added, subtracted"),
        std::string::npos);
}

TEST(SpecialiseErrors, ScalarsFitTheirTiles) {
    EXPECT_EQ(message_in("let t = tile.full(m << 40, 1, element=i32)"),
              "tile.full: 4398046511104 is not a value of i32");
    EXPECT_EQ(message_in("let t = tile.full(0 - m, 1, element=u8)"),
              "tile.full: -4 is not a value of u8");
    EXPECT_EQ(message_in("y[0; m] = x * ((1 << 62) + 1)"),
              "tile.muls: the scalar 4611686018427387905 has more than 53 bits");
}

TEST(SpecialiseErrors, SizesAreNotNegative) {
    EXPECT_EQ(message_in("y = w", -1), "'x' has a negative size: -1");
}

TEST(SpecialiseErrors, RequirementsHold) {
    EXPECT_EQ(message_in("pld.system.require(m, 2 * nranks, cmp=ge)"),
              "required: m >= 2 * nranks, found 4 and 6");
}

TEST(SpecialiseErrors, PlansHaveALimit) {
    const ir::Program program =
        lowered("kernel k(s: window i32[1], n: index) {\n    for i in 0..n { notify s[0] = i }\n}");
    CompileOptions options;
    options.max_instructions = 10;
    const auto error = [&](std::int64_t n) {
        return error_of([&] { specialise(program, "k", integers({{"n", n}}), 0, 1, options); });
    };
    EXPECT_EQ(error(10), "no error");
    EXPECT_EQ(error(11),
              "test.peal:2:21: error: the plan has more than 10 instructions (kernel k, rank 0 of "
              "1)\n"
              "    2 |     for i in 0..n { notify s[0] = i }\n"
              "      |                     ^~~~~~~~~~~~~~~");
}

TEST(SpecialiseErrors, LoopsHaveALimit) {
    const ir::Program program = lowered(
        "kernel k(s: window i32[1], n: index) {\n    for i in 0..n { if i < 0 { notify s[0] = i } "
        "}\n}");
    CompileOptions options;
    options.max_instructions = 10;
    const std::string error = error_of([&] {
        specialise(program, "k", integers({{"n", std::int64_t{1} << 60}}), 0, 1, options);
    });
    EXPECT_NE(error.find("the loops take more than 160 rounds"), std::string::npos) << error;
}

TEST(SpecialiseErrors, BindingsAreComplete) {
    const ir::Program program = lowered(
        "kernel k(x: in f32[n], root: index, b: u8, scale: f32, t: index[2, nranks]) {\n"
        "    let y = x * scale\n}");
    const auto error = [&](const Bindings& bindings) {
        return error_of([&] { specialise(program, "k", bindings, 0, 2); }, Fault::usage);
    };
    const std::string needs = "\nit needs integers n, root, b; numbers scale; tables t";
    const Bindings good{{{"n", 1}, {"root", 0}, {"b", 7}}, {{"scale", 2.0}}, {{"t", {1, 2, 3, 4}}}};
    EXPECT_EQ(error(good), "no error");
    EXPECT_EQ(
        error({}),
        "kernel k: integer 'n' is missing; integer 'root' is missing; integer 'b' is missing; "
        "number 'scale' is missing; table 't' is missing" +
            needs);
    Bindings bindings = good;
    bindings.integers["colour"] = 3;
    EXPECT_EQ(error(bindings), "kernel k: there is no integer 'colour'" + needs);
    bindings = good;
    bindings.integers["b"] = 256;
    EXPECT_EQ(error(bindings), "kernel k: integer 'b' is 256, which is not a value of u8" + needs);
    bindings = good;
    bindings.tables["t"].pop_back();
    EXPECT_EQ(error(bindings), "kernel k: table 't' has 3 numbers, its shape [2, 2] needs 4");
}

TEST(SpecialiseErrors, TablesHaveBounds) {
    const ir::Program program = lowered(
        "kernel k(s: window i32[1], t: index[2, nranks], i: index) {\n"
        "    notify s[0] = t[i, 1]\n}");
    EXPECT_NE(error_of([&] {
                  specialise(program, "k", {{{"i", 2}}, {}, {{"t", {1, 2, 3, 4}}}}, 0, 2);
              }).find("there is no entry [2, 1] in a table of shape [2, 2]"),
              std::string::npos);
}

TEST(SpecialiseErrors, RanksAndKernelsExist) {
    const ir::Program program = lowered("kernel k(s: window i32[1]) { notify s[0] = 1 }");
    const auto error = [&](std::string_view kernel, int rank, int nranks) {
        return error_of([&] { specialise(program, kernel, {}, rank, nranks); }, Fault::usage);
    };
    EXPECT_EQ(error("k", 0, 0), "expected 1..1024 ranks, found 0");
    EXPECT_EQ(error("k", 0, 1025), "expected 1..1024 ranks, found 1025");
    EXPECT_EQ(error("k", 4, 4), "expected a rank in 0..3, found 4");
    EXPECT_EQ(error("k", -1, 4), "expected a rank in 0..3, found -1");
    EXPECT_EQ(error("q", 0, 1), "there is no kernel 'q' in the program");
}

// ---------------------------------------------------------------------------- lanes

TEST(Specialise, CarriesTheKernelOutForEachLane) {
    const Plan plan = plan_with_lanes(R"(
kernel parts(inp: in f32[n], data: window f32[n], sig: window i32[nlanes]) {
    begin = lane * n / nlanes
    count = (lane + 1) * n / nlanes - begin
    for i in 0..lane { data[begin + i; 1] = inp[begin + i; 1] }
    if lane == 0 {
        notify sig[1] = generation(sig) + count
        advance sig by 3
    } else {
        wait sig[lane] >= generation(sig) + begin
    }
})",
                                      3, integers({{"n", 8}}));
    EXPECT_EQ(to_text(plan),
              "plan parts, rank 1 of 2: 9 instructions in 3 lanes, 128 bytes of tile memory each, "
              "from test.peal\n"
              "  inp   argument  in       f32   32 bytes\n"
              "  data  window    out      f32   32 bytes\n"
              "  sig   signal    inout    i32   3 cells, 64 bytes apart, advance 3\n"
              "  lane 0\n"
              "  0  notify sig[1] = generation + 2     line 7\n"
              "  lane 1\n"
              "  1  copy tile[0..4) <- inp[8..12)      line 5\n"
              "  2  copy data[8..12) <- tile[0..4)     line 5\n"
              "  3  wait sig[1] >= generation + 2      line 10\n"
              "  lane 2\n"
              "  4  copy tile[0..4) <- inp[20..24)     line 5\n"
              "  5  copy data[20..24) <- tile[0..4)    line 5\n"
              "  6  copy tile[64..68) <- inp[24..28)   line 5\n"
              "  7  copy data[24..28) <- tile[64..68)  line 5\n"
              "  8  wait sig[2] >= generation + 5      line 10\n");
}

TEST(Specialise, OneLaneIsAPlanWithoutLanes) {
    const char* const text = R"(
kernel one(data: window f32[4]) {
    data[lane; nlanes] = data[lane + 1; nlanes]
})";
    const Plan plan = plan_with_lanes(text, 1);
    EXPECT_TRUE(plan.lanes.empty());
    EXPECT_EQ(plan, plan_of(text, 1, 2));
    EXPECT_EQ(listing(plan),
              "copy tile[0..4) <- data[4..8)\n"
              "copy data[0..4) <- tile[0..4)\n");
}

TEST(Specialise, LanesMustMakeADifference) {
    const std::string text = "kernel same(data: window f32[nlanes]) {\n    data = data * 2\n}\n";
    EXPECT_EQ(error_of([&] { plan_with_lanes(text, 2); }, Fault::usage),
              "kernel same does not ask for `lane`: 2 lanes would all do the same; compile it with "
              "one");
    EXPECT_EQ(error_of([&] { plan_with_lanes(text, 0); }, Fault::usage),
              "expected 1..1024 lanes, found 0");
    EXPECT_EQ(error_of([&] { plan_with_lanes(text, 1025); }, Fault::usage),
              "expected 1..1024 lanes, found 1025");
}

TEST(Specialise, LanesThatAdvanceAgree) {
    const std::string text =
        "kernel apart(sig: window i32[1]) {\n"
        "    notify sig[0] = 1\n"
        "    if lane != 1 { advance sig by 1 + lane }\n"
        "}\n";
    EXPECT_EQ(plan_with_lanes(text, 2).advance, std::vector<std::int64_t>{1});
    EXPECT_EQ(error_of([&] { plan_with_lanes(text, 3); }),
              "kernel apart, rank 1 of 2, lane 2 of 3: it advances 'sig' by 3, a lane before it by "
              "1: those lanes that advance a signal advance it by the same amount");
}

}  // namespace specialise_test
}  // namespace peal::plan
