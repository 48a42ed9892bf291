// SPDX-License-Identifier: Apache-2.0
// Kernels of all kinds as PTO C++: what is written, that it is right, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <fmt/format.h>

#include "check/call_sequence.hpp"
#include "peal/collective.hpp"
#include "peal/compile.hpp"
#include "peal/diagnostic.hpp"
#include "peal/program.hpp"
#include "peal/pto.hpp"
#include "pto/kernel_file.hpp"
#include "pto/program.hpp"

namespace peal::pto {
namespace emit_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

ir::Program program(const std::string& text) {
    return parse(std::make_shared<Source>("test.peal", text));
}

ir::Program example(const std::string& file) {
    return parse_file(std::string(PEAL_SOURCE_DIR "/examples/") + file);
}

// From kernel_entry on.
std::string body_of(const std::string& kernel) {
    return kernel.substr(kernel.find("extern \"C\""));
}

class Emit : public ::testing::Test {
protected:
    std::vector<Plan> traced(const ir::Program& program, std::string_view kernel,
                             const Bindings& bindings, int nranks, Device device = Device::a2a3) {
        const Emitted emitted = emit(program, kernel, device);
        const std::string path = folder_.write("kernel.cpp", emitted.kernel);
        return trace(Kernel::compile(path), parameters_of(program, kernel, bindings, nranks),
                     nranks);
    }

    // "", or what is wrong with it.
    static std::string fault_of(const std::vector<Plan>& plans, std::optional<Meaning> meaning,
                                Device device = Device::a2a3) {
        CheckOptions options;
        options.device = rules_of(device);
        options.strict_loads = true;
        const CheckReport report = check({{&plans, meaning ? &*meaning : nullptr, {}}}, options);
        if (report.verdict == Verdict::proved) return "";
        return report.violations.empty() ? report.bound : report.violations.front().message;
    }

    KernelFolder folder_;
};

std::string refusal(const std::string& text, const std::string& kernel = "k") {
    try {
        emit(program(text), kernel, Device::a2a3);
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

Collective collective(CollectiveKind kind, std::uint64_t count, std::string recipe = "auto") {
    Collective result;
    result.kind = kind;
    result.recipe = std::move(recipe);
    result.count = count;
    return result;
}

// ---------------------------------------------------------------------------- what is written

TEST_F(Emit, ReadsAsAPersonWouldWriteIt) {
    const Emitted emitted = emit(program("kernel share(inp: in f32[n], out: out f32[n],\n"
                                         "             data: window f32[n], sig: window i32[2]) {\n"
                                         "    let right = (rank + 1) % nranks\n"
                                         "    data = inp\n"
                                         "    notify sig[0]@right = generation(sig) + 1\n"
                                         "    wait sig[0] >= generation(sig) + 1\n"
                                         "    out = inp\n"
                                         "    advance sig by 1\n"
                                         "}\n"),
                                 "share", Device::a2a3);
    EXPECT_EQ(body_of(emitted.kernel),
              R"(extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    auto *inp = First<float>(args[0]);
    auto *out = First<float>(args[1]);
    auto *data = First<float>(args[2]);
    const int64_t nranks = args[3];
    auto *context = reinterpret_cast<__gm__ CommContext *>(args[4]);
    const int64_t generation = args[5];  // earlier calls on these windows
    const int64_t rank = context->rankId;
    const int64_t n = Count(args[0]);
    auto *sig = reinterpret_cast<__gm__ int32_t *>(LineBehind(data, Count(args[2])));

    const int64_t right = (rank + 1) % nranks;
    // Copy inp to data.
    CopyChunks(data, inp, n);

    set_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_S, EVENT_ID0);  // done before anyone is told
    dsb(DSB_DDR);
    const int64_t base = generation;
    Signal cell(Remote(context, Cell(sig, 0), right));
    TNOTIFY(cell, base + 1, NotifyOp::Set);
    Signal cell_1(Cell(sig, 0));
    TWAIT(cell_1, base + 1, WaitCmp::GE);

    // Copy inp to out.
    CopyChunks(out, inp, n);
}
)");
    EXPECT_THAT(emitted.kernel, HasSubstr(R"(
AICORE inline void CopyChunks(__gm__ float *to, __gm__ float *from, int64_t size) {
    for (int64_t at = 0; at < size; at += kChunk) {
        const int64_t count = Min(kChunk, size - at);
        const int turn = at / kChunk % 2;
        if (at >= 2 * kChunk) wait_flag(PIPE_MTE3, PIPE_MTE2, Event(turn));
        auto tile = TileAt<F32Tile>(turn, count);
        auto tile_from = RowOf(from + at, count);
        TLOAD(tile, tile_from);
        set_flag(PIPE_MTE2, PIPE_MTE3, Event(turn));
        wait_flag(PIPE_MTE2, PIPE_MTE3, Event(turn));
        auto tile_to = RowOf(to + at, count);
        TSTORE(tile_to, tile);
        if (at + 2 * kChunk < size) set_flag(PIPE_MTE3, PIPE_MTE2, Event(turn));
    }
}
)"));
    EXPECT_THAT(emitted.parameters,
                ElementsAre("in:f32[n]", "out:f32[n]", "window:f32[n]+signals:2x16", "nranks",
                            "context", "generation"));
}

// The notifies come behind all stores, so that every chunk is loaded once.
TEST_F(Emit, LoadsAChunkOnceForAllPeers) {
    for (const char* loop :
         {"for i in 1..nranks {\n let peer = (rank + i) % nranks\n", "for peer in peers {\n"}) {
        const ir::Program share = program(
            "kernel k(inp: in f32[n], out: out f32[nranks, n], data: window f32[nranks, n],\n"
            "         sig: window i32[nranks]) {\n" +
            std::string(loop) +
            "        data@peer[rank] = inp\n"
            "        notify sig[rank]@peer = generation(sig) + 1\n"
            "    }\n"
            "    data[rank] = inp\n"
            "    for peer in peers { wait sig[peer] >= generation(sig) + 1 }\n"
            "    out = data\n"
            "    for peer in peers { notify sig[rank]@peer = generation(sig) + 2 }\n"
            "    for peer in peers { wait sig[peer] >= generation(sig) + 2 }\n"
            "    advance sig by 2\n"
            "}\n");
        const Collective which = collective(CollectiveKind::allgather, 30'000);
        const std::vector<Plan> plans = traced(share, "k", bindings_of(which), 3);
        EXPECT_EQ(fault_of(plans, meaning_of(which, plans)), "");
        std::uint64_t loaded = 0;  // of the input, by one rank
        for (const Instruction& instruction : plans[0].instructions) {
            const auto* copy = std::get_if<Copy>(&instruction.action);
            if (copy && copy->src.buffer == 0) loaded += copy->src.length;
        }
        EXPECT_EQ(loaded, 2U * 30'000 * 4);  // for the peers, and for itself
    }
}

TEST_F(Emit, ChecksWhatIsRequiredBeforeACall) {
    const ir::Program picky = program(
        "kernel k(inp: in f32[n], out: out f32[n], root: index) {\n"
        "    require nranks % 2 == 0\n"
        "    let half = n / 2\n"
        "    if root > 0 { require half >= 4 }\n"
        "    require n >= 0\n"
        "    out = inp\n"
        "}\n");
    const Emitted emitted = emit(picky, "k", Device::a2a3);
    EXPECT_THAT(emitted.kernel, HasSubstr(R"(
extern "C" __aicore__ int32_t kernel_check(__gm__ int64_t *args) {
    const int64_t nranks = args[2];
    const int64_t root = args[3];
    const int64_t n = Count(args[0]);
    if (!(nranks % 2 == 0)) return 1;
    if ((root > 0) && !(n / 2 >= 4)) return 2;
    if (!(n >= 0)) return 3;
    return 0;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    if (kernel_check(args) != 0) return;
)"));
    const Kernel kernel = Kernel::compile(folder_.write("kernel.cpp", emitted.kernel));
    const auto refusal_of = [&](std::int64_t n, std::int64_t root, int nranks) -> std::string {
        Bindings bindings;
        bindings.integers = {{"n", n}, {"root", root}};
        try {
            trace(kernel, parameters_of(picky, "k", bindings, nranks), nranks);
        } catch (const RequirementError& error) {
            return error.diagnostics().front().message;
        }
        return "";
    };
    EXPECT_EQ(refusal_of(7, 0, 2), "");
    EXPECT_EQ(refusal_of(8, 1, 4), "");
    EXPECT_EQ(refusal_of(8, 0, 3), "rank 0 of 3: kernel_check refuses these arguments with 1");
    EXPECT_EQ(refusal_of(7, 1, 2), "rank 0 of 2: kernel_check refuses these arguments with 2");
    EXPECT_EQ(refusal("kernel k(inp: in f32[n], out: out f32[n]) {\n"
                      "    for i in 0..2 { require i + n > 3 }\n"
                      "    out = inp\n"
                      "}\n"),
              "test.peal:2:21: error: require: 'i' is not known before the kernel begins, when its "
              "arguments are checked\n"
              "    2 |     for i in 0..2 { require i + n > 3 }\n"
              "      |                     ^~~~~~~~~~~~~~~~~\n"
              "hint: require something of sizes, scalars, rank and nranks");
}

// Whichever buffer a round stores to, it is not the one that it loads from.
TEST_F(Emit, TakesBuffersInTurn) {
    const auto turns = [](const std::string& which) {
        return "kernel k(inp: in f32[4, n], out: out f32[n], slot: window f32[2, n],\n"
               "         sig: window i32[1]) {\n"
               "    let right = (rank + 1) % nranks\n"
               "    slot[0] = inp[3]\n"
               "    for t in 0..3 {\n"
               "        let s = (t + 1) % 2\n"
               "        slot@right[" +
               which +
               "] = slot[1 - s] + inp[t]\n"
               "        notify sig[0]@right = generation(sig) + t + 1\n"
               "        wait sig[0] >= generation(sig) + t + 1\n"
               "    }\n"
               "    out = slot[1]\n"
               "    notify sig[0]@right = generation(sig) + 4\n"
               "    wait sig[0] >= generation(sig) + 4\n"
               "    advance sig by 4\n"
               "}\n";
    };
    Bindings bindings;
    bindings.integers["n"] = 30'000;
    for (const int nranks : {1, 2}) {
        EXPECT_EQ(fault_of(traced(program(turns("s")), "k", bindings, nranks), std::nullopt), "");
    }
    // Whatever the number is: no integer is its own distance from 1.
    std::string carried = turns("s");
    const auto replace = [&](const std::string& text, const std::string& by) {
        carried.replace(carried.find(text), text.size(), by);
    };
    replace("    for t in", "    s = 1\n    for t in");
    replace("        let s = (t + 1) % 2\n", "");
    replace("    }\n", "        s = 1 - s\n    }\n");
    EXPECT_EQ(fault_of(traced(program(carried), "k", bindings, 2), std::nullopt), "");
    EXPECT_EQ(
        refusal(turns("t % 3 / 2")),
        "test.peal:7:9: error: tile 'tile_2' of n elements must fit in tile memory as a whole, "
        "but its size is not known\n"
        "    7 |         slot@right[t % 3 / 2] = slot[1 - s] + inp[t]\n"
        "      |         ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
        "hint: it cannot be taken in chunks: a chunk that is stored to slot@(right) + t % 3 / "
        "2 * n may be what is loaded from slot + (1 - s) * n later: it is not known that they "
        "are the same elements or none in common");
}

TEST_F(Emit, FillsTileMemoryOfTheDevice) {
    const ir::Program ring = program_of(collective(CollectiveKind::allreduce, 1, "ring"));
    EXPECT_THAT(emit(ring, "allreduce", Device::a2a3).kernel, HasSubstr("kChunk = 12288;"));
    EXPECT_THAT(emit(ring, "allreduce", Device::a5).kernel, HasSubstr("kChunk = 16384;"));
    Collective narrow = collective(CollectiveKind::allreduce, 1, "ring");
    narrow.element = Element::f16;
    EXPECT_THAT(emit(program_of(narrow), "allreduce", Device::a2a3).kernel,
                HasSubstr("kChunk = 24576;"));
}

// Two loads may be on their way on a5, one on a2a3.
TEST_F(Emit, AwaitsEachLoadWhereTheDeviceAsksForIt) {
    const ir::Program ring = program_of(collective(CollectiveKind::allreduce, 1, "ring"));
    const std::string two = "            auto acc = TileAt<F32Tile>(2 + turn, count);\n";
    const std::string a5 = emit(ring, "allreduce", Device::a5).kernel;
    const std::string a2a3 = emit(ring, "allreduce", Device::a2a3).kernel;
    const std::string awaited = "wait_flag(PIPE_MTE2, PIPE_V, Event(turn));\n";
    EXPECT_THAT(a2a3, HasSubstr(awaited + two));
    EXPECT_THAT(a5, Not(HasSubstr(awaited)));
}

TEST_F(Emit, WritesAShimThatCompiles) {
    const Emitted emitted =
        emit(program_of(collective(CollectiveKind::broadcast, 1, "tree")), "broadcast", Device::a5);
    EXPECT_THAT(emitted.orchestration, HasSubstr(R"(
    args.add_input(task.tensor(0).ref());  // input
    args.add_output(task.tensor(1).ref());  // output
    args.add_inout(task.tensor(2).ref());  // windows
    args.add_scalar(task.scalar(0));  // nranks
    args.add_scalar(task.scalar(1));  // root
    args.add_scalar(task.scalar(2));  // CommContext*
    args.add_scalar(task.scalar(3));  // earlier calls on these windows
    rt_submit_aiv_task(kKernel, args);
)"));
    EXPECT_THAT(emitted.orchestration, HasSubstr(".expected_arg_count = 7"));
    const std::string path = folder_.write("shim.cpp", emitted.orchestration);
    const ProgramEnd end =
        run_program({"c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                     "-I" PEAL_SOURCE_DIR "/include/pto", path});
    EXPECT_EQ(end.status, 0) << end.output;
}

// ---------------------------------------------------------------------------- that it is right

TEST_F(Emit, TakesThePresetsOfTheSeeds) {
    for (const CollectiveKind kind :
         {CollectiveKind::allreduce, CollectiveKind::allgather, CollectiveKind::reduce_scatter,
          CollectiveKind::broadcast, CollectiveKind::all_to_all}) {
        const std::string recipe = kind == CollectiveKind::allgather ? "pull" : "mesh";
        Collective which = collective(kind, 65, recipe);
        which.root = 2;
        const Emitted emitted = emit(program_of(which), name(kind), Device::a2a3);
        const Kernel kernel = Kernel::compile(folder_.write("kernel.cpp", emitted.kernel));
        const std::vector<Plan> plans = trace(kernel, preset(which, 3), 3);
        checker::CallSequence calls;
        calls.add(which, plans);
        EXPECT_EQ(check(calls.stages()).verdict, Verdict::proved) << name(kind);
    }
}

TEST_F(Emit, ProvesTheExamples) {
    struct Example {
        std::string file, kernel;
        CollectiveKind kind;
    };
    for (const Example& each : {
             Example{"mesh_allreduce.peal", "mesh_allreduce", CollectiveKind::allreduce},
             {"ring_allreduce.peal", "ring_allreduce", CollectiveKind::allreduce},
             {"halves_allreduce.peal", "halves_allreduce", CollectiveKind::allreduce},
             {"allgather.peal", "allgather_by_hand", CollectiveKind::allgather},
             {"reduce_scatter.peal", "reduce_scatter_by_hand", CollectiveKind::reduce_scatter},
             {"all_to_all.peal", "all_to_all_by_hand", CollectiveKind::all_to_all},
             {"composite.peal", "ring", CollectiveKind::allreduce},
             {"composite.peal", "exchange", CollectiveKind::all_to_all},
         }) {
        const ir::Program source = example(each.file);
        const Device device = Device::a5;
        const Emitted emitted = emit(source, each.kernel, device);
        const Kernel kernel = Kernel::compile(folder_.write("kernel.cpp", emitted.kernel));
        for (const std::int64_t n : {8, 100'000}) {
            const Bindings bindings{{{"n", n}}, {}, {}};
            const std::vector<Plan> plans =
                trace(kernel, parameters_of(source, each.kernel, bindings, 4), 4);
            const Collective which = collective(each.kind, static_cast<std::uint64_t>(n));
            EXPECT_EQ(fault_of(plans, meaning_of(which, plans), device), "") << each.kernel;
        }
    }
}

TEST_F(Emit, ChoosesTheRecipeInTheKernel) {
    const ir::Program any = program_of(collective(CollectiveKind::allreduce, 1));
    const Emitted emitted = emit(any, "allreduce", Device::a2a3);
    const Kernel kernel = Kernel::compile(folder_.write("kernel.cpp", emitted.kernel));
    for (const int nranks : {2, 3, 5, 17}) {
        for (const std::uint64_t count : {9, 40'000}) {
            const Collective which = collective(CollectiveKind::allreduce, count);
            const std::vector<Plan> plans =
                trace(kernel, parameters_of(any, "allreduce", bindings_of(which), nranks), nranks);
            EXPECT_EQ(fault_of(plans, meaning_of(which, plans)), "") << nranks << ", " << count;
        }
    }
}

TEST_F(Emit, TakesEveryElementTypeOperationAndPlace) {
    for (const Element element :
         {Element::f16, Element::bf16, Element::i8, Element::i16, Element::i32, Element::u8}) {
        Collective which = collective(CollectiveKind::allreduce, 77, "mesh");
        which.element = element;
        which.op = ReduceOp::max;
        const std::vector<Plan> plans =
            traced(program_of(which), "allreduce", bindings_of(which), 3);
        EXPECT_EQ(fault_of(plans, meaning_of(which, plans)), "") << name(element);
    }
    for (const ReduceOp op : kReduceOps) {
        Collective which = collective(CollectiveKind::reduce_scatter, 9, "ring");
        which.op = op;
        const std::vector<Plan> plans =
            traced(program_of(which), "reduce_scatter", bindings_of(which), 3);
        EXPECT_EQ(fault_of(plans, meaning_of(which, plans)), "") << name(op);
    }
    for (const Placement placement : {Placement::in_place, Placement::window}) {
        Collective which = collective(CollectiveKind::allgather, 50'000, "ring");
        which.placement = placement;
        const std::vector<Plan> plans =
            traced(program_of(which), "allgather", bindings_of(which), 3);
        EXPECT_EQ(fault_of(plans, meaning_of(which, plans)), "") << name(placement);
    }
}

// Several windows of different types, several signals, a generation that moves on in a loop.
TEST_F(Emit, LaysOutWindowsAndSignalsOneAfterAnother) {
    const std::string text =
        "kernel k(a: in f32[n], b: in i8[n], c: out f32[n], d: out i8[n],\n"
        "         x: window f32[n], y: window i8[n], p: window i32[nranks], q: window i32[2]) {\n"
        "    let right = (rank + 1) % nranks\n"
        "    let left = (rank + nranks - 1) % nranks\n"
        "    for round in 0..2 {\n"
        "        x = a\n"
        "        notify p[rank]@right = generation(p) + 1\n"
        "        wait p[left] >= generation(p) + 1\n"
        "        c = x@left\n"
        "        notify p[rank]@left = generation(p) + 2\n"
        "        wait p[right] >= generation(p) + 2\n"
        "        advance p by 2\n"
        "    }\n"
        "    y = b\n"
        "    notify q[0]@right = generation(q) + 1\n"
        "    wait q[0] >= generation(q) + 1\n"
        "    d = y@left\n"
        "    notify q[1]@left = generation(q) + 1\n"
        "    wait q[1] >= generation(q) + 1\n"
        "    advance q by 1\n"
        "}\n";
    const Emitted emitted = emit(program(text), "k", Device::a2a3);
    EXPECT_THAT(emitted.kernel, HasSubstr("int64_t p_base = generation * (2 * 2);"));
    EXPECT_THAT(emitted.kernel, HasSubstr("p_base += 2;"));
    EXPECT_THAT(emitted.parameters[4], "window:u8[(4*(n)+63)/64*64+1*(n)]+signals:(P+2)x16");
    const Bindings bindings{{{"n", 70'001}}, {}, {}};
    const std::vector<Plan> plans = traced(program(text), "k", bindings, 3);
    EXPECT_EQ(plans[0].buffers[4].bytes, 280'064 + 70'001);  // x in whole lines, then y
    EXPECT_EQ(fault_of(plans, std::nullopt), "");
}

// A tile of known size may be kept while others are told and awaited.
TEST_F(Emit, KeepsASmallTileAcrossAWait) {
    const std::string text =
        "kernel k(a: in f32[64], out: out f32[64], x: window f32[64], sig: window i32[nranks]) {\n"
        "    mine = a * 2.0\n"
        "    x = mine\n"
        "    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }\n"
        "    for peer in peers { wait sig[peer] >= generation(sig) + 1 }\n"
        "    all = mine\n"
        "    for peer in peers { all = all + x@peer }\n"
        "    out = all\n"
        "    for peer in peers { notify sig[rank]@peer = generation(sig) + 2 }\n"
        "    for peer in peers { wait sig[peer] >= generation(sig) + 2 }\n"
        "    advance sig by 2\n"
        "}\n";
    for (const Device device : {Device::a2a3, Device::a5}) {
        const std::vector<Plan> plans = traced(program(text), "k", {}, 4, device);
        EXPECT_EQ(fault_of(plans, std::nullopt, device), "");
    }
}

// Source and destination overlap: chunks would read what others wrote.
TEST_F(Emit, DoesNotCutWhatOverlaps) {
    EXPECT_THAT(refusal("kernel k(b: inout f32[n]) {\n"
                        "    b[1; n - 1] = b[0; n - 1]\n"
                        "}\n"),
                HasSubstr("must fit in tile memory as a whole"));
}

// ---------------------------------------------------------------------------- what is refused

TEST_F(Emit, RefusesWhatTheDeviceDoesNotHave) {
    EXPECT_EQ(refusal("kernel k(a: in f64[n], b: out f64[n]) { b = a }\n"),
              "test.peal:1:10: error: 'a': the device has no elements of type f64\n"
              "    1 | kernel k(a: in f64[n], b: out f64[n]) { b = a }\n"
              "      |          ^\n"
              "hint: use f32, f16, bf16, i32, i16, i8 or u8");
    EXPECT_THAT(
        refusal("kernel k(t: index[nranks], a: in f32[t[0]], b: out f32[t[0]]) { b = a }\n"),
        HasSubstr("'t': tables cannot be passed to a kernel of the device"));
    EXPECT_THAT(refusal("kernel k(s: f32, a: in f32[n], b: out f32[n]) { b = a * s }\n"),
                HasSubstr("'s': a kernel of the device takes integers only"));
}

// Written out, the last of these numbers has 2 to the 40 terms.
TEST_F(Emit, TakesNumbersThatDoubleAgainAndAgain) {
    std::string text = "kernel k(inp: in f32[4], out: out f32[n], m: index) {\n    a0 = m\n";
    for (int i = 1; i <= 40; ++i) text += fmt::format("    a{} = a{} + a{}\n", i, i - 1, i - 1);
    text += "    out[a40; 4] = inp\n    out[0; a40] = inp[0; a40]\n}\n";
    EXPECT_THAT(emit(program(text), "k", Device::a2a3).kernel,
                HasSubstr("    const int64_t a40 = a39 + a39;\n"));
}

TEST_F(Emit, RefusesATileThatMayNotFit) {
    EXPECT_THAT(refusal("kernel k(a: in f32[n], b: out f32[n], sig: window i32[1]) {\n"
                        "    x = a * 2.0\n"
                        "    notify sig[0]@rank += 1\n"
                        "    b = x\n"
                        "}\n"),
                HasSubstr("test.peal:2"));
    EXPECT_THAT(refusal("kernel k(a: in f32[100000], b: out f32[100000], sig: window i32[1]) {\n"
                        "    x = a * 2.0\n"
                        "    notify sig[0]@rank += 1\n"
                        "    b = x\n"
                        "}\n"),
                HasSubstr("does not fit in tile memory"));
}

TEST_F(Emit, SaysWhichKernelIsMissing) {
    EXPECT_THROW(
        emit(program("kernel k(a: in f32[4], b: out f32[4]) { b = a }\n"), "other", Device::a5),
        Error);
}

}  // namespace emit_test
}  // namespace peal::pto
