// SPDX-License-Identifier: Apache-2.0
// What kernels become, and what happens to those that cannot become anything.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "pto/kernel_file.hpp"

namespace peal::pto {
namespace trace_test {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<Parameter> parameters(const std::vector<std::string>& texts, int nranks) {
    std::vector<Parameter> list;
    for (const std::string& text : texts) list.push_back(parameter_from(text, nranks));
    return list;
}

// The usual arguments: in, out, window with signals, nranks, context, generation.
const std::vector<std::string> kUsual = {
    "in:f32[256]", "out:f32[256]", "window:f32[256]+signals:2x16",
    "nranks",      "context",      "generation"};

class PtoTrace : public testing::Test {
protected:
    std::vector<Plan> plans(const std::string& body, int nranks = 2,
                            const std::vector<std::string>& arguments = kUsual,
                            const TraceOptions& options = {}) {
        const Kernel kernel = Kernel::compile(folder_.write_body(body));
        return trace(kernel, parameters(arguments, nranks), nranks, options);
    }
    std::vector<std::string> texts(const std::string& body, int rank = 0, int nranks = 2,
                                   const std::vector<std::string>& arguments = kUsual) {
        const Plan plan = plans(body, nranks, arguments)[static_cast<std::size_t>(rank)];
        std::vector<std::string> list;
        for (const Instruction& instruction : plan.instructions) {
            list.push_back(to_text(instruction, plan));
        }
        return list;
    }
    std::string error(const std::string& body, const TraceOptions& options = {},
                      const std::vector<std::string>& arguments = kUsual) {
        return error_of(folder_, [&] { plans(body, 2, arguments, options); });
    }

    KernelFolder folder_;
};

TEST_F(PtoTrace, WritesDownWhenThingsAreComplete) {
    const std::string body = R"(
    auto* context = reinterpret_cast<CommContext*>(args[4]);
    float* in = pointer<float>(args[0]);
    float* out = pointer<float>(args[1]);
    float* window = pointer<float>(args[2]);
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> input(in + 8), output(out),
        theirs(remote(context, window, 1));
    Tile<TileType::Vec, uint8_t, 1, 256> scratch;
    AsyncSession first, second;
    BuildAsyncSession(scratch, nullptr, first);
    BuildAsyncSession<DmaEngine::URMA>(scratch, nullptr, second, 1);
    AsyncEvent put = TPUT_ASYNC(theirs, input, first);
    AsyncEvent get = TGET_ASYNC<DmaEngine::URMA>(output, theirs, second);
    get.Wait(second);
    put.Wait(first);
    store_scalar(window + 17, 2.5f);
    copy_scalar(out + 1, window + 17);
    dcci(window + 17, SINGLE_CACHE_LINE);
    dcci(window + 256, SINGLE_CACHE_LINE);  // signals
    dsb(DSB_DDR);
    dsb(DSB_UB);
    dcci(nullptr, ENTIRE_DATA_CACHE);
    dsb(DSB_ALL);)";
    EXPECT_THAT(
        texts(body),
        ElementsAre("copy window@1[0..256) <- in[32..288) on S, deferred #1",
                    "copy out[0..256) <- window@1[0..256) on S, deferred #2", "fence #2 on S",
                    "fence #1 on S", "fill f32 window[68..72) <- 2.5 on S, cached",
                    "copy out[4..8) <- window[68..72) on S, cached", "evict window[64..128) on S",
                    "fence on S", "evict in[0..1024) on S", "evict out[0..1024) on S",
                    "evict window[0..1024) on S", "evict window@1[0..1024) on S", "fence on S"));
}

TEST_F(PtoTrace, RefusesTransfersThatNobodyCanCarryOut) {
    const std::string start = R"(
    float* in = pointer<float>(args[0]);
    float* window = pointer<float>(args[2]);
    Tile<TileType::Vec, uint8_t, 1, 256> scratch;
    AsyncSession session;
    )";
    EXPECT_THAT(error(start + R"(
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> a(in), b(window);
    TPUT_ASYNC(b, a, session);)"),
                HasSubstr("TPUT_ASYNC: the session was not opened: BuildAsyncSession comes first"));
    EXPECT_THAT(error(start + R"(
    BuildAsyncSession(scratch, nullptr, session);
    GlobalTensor<float, Shape<1, 1, 1, 2, 8>, Stride<64, 64, 64, 64, 1>> a(in), b(window);
    TPUT_ASYNC(b, a, session);)"),
                HasSubstr("TPUT_ASYNC: an asynchronous transfer is one stretch of memory"));
    EXPECT_THAT(error(start + "AsyncEvent().Test(session);"),
                HasSubstr("Test: not traceable: what follows depends on the moment it is asked"));
}

TEST_F(PtoTrace, WritesDownWhatEachRankDoes) {
    const std::string body = R"(
    auto* context = reinterpret_cast<CommContext*>(args[4]);
    const int me = context->rankId;
    float* in = pointer<float>(args[0]);
    float* window = pointer<float>(args[2]);
    auto* signals = reinterpret_cast<int32_t*>(window + 256);
    Tile<TileType::Vec, float, 1, 256> tile;
    TASSIGN(tile, 64);
    GlobalTensor<float, Shape<1, 1, 1, 1, 256>, Stride<256, 256, 256, 256, 1>> input(in), mine(window);
    TLOAD(tile, input);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID3);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID3);
    TSTORE(mine, tile);
    pipe_barrier(PIPE_ALL);
    TNOTIFY(Signal(remote(context, signals + 16 + me, 1 - me)), 5, NotifyOp::Set);
    TWAIT(Signal(signals + 16 + 1 - me), 5, WaitCmp::GT);)";
    EXPECT_THAT(texts(body, 1),
                ElementsAre("copy tile[64..1088) <- in[0..1024) on MTE2",
                            "set_flag MTE2 -> MTE3, event 3", "wait_flag MTE2 -> MTE3, event 3",
                            "copy window[0..1024) <- tile[64..1088) on MTE3", "pipe_barrier ALL",
                            "notify signals[17]@0 = 5 on S", "wait signals[16] > 5 on S"));
    const Plan plan = plans(body)[0];
    EXPECT_EQ(plan.tile_bytes, 1088u);
    EXPECT_EQ(plan.instructions[0].line, static_cast<std::uint32_t>(kBodyLine + 9));
    EXPECT_EQ(plan.source->line(plan.instructions[0].line), "    TLOAD(tile, input);");
    EXPECT_EQ(plan.buffers[3].cells, 32u);
    EXPECT_EQ(plan.buffers[3].cell_stride, 4u);
}

// Each core copies its part, in its own tile memory and with its own flags. Then the first one
// tells the peer, for all: when the others have told it, or, if it is hasty, at once.
TEST_F(PtoTrace, CoresOfARankAreLanes) {
    const auto body = [](bool is_hasty) {
        return fmt::format(R"(
    auto* context = reinterpret_cast<CommContext*>(args[4]);
    const int me = context->rankId, peer = 1 - me;
    const int64_t block = get_block_idx(), blocks = get_block_num();
    const int64_t begin = 256 / blocks * block;
    float* in = pointer<float>(args[0]) + begin;
    float* out = pointer<float>(args[1]) + begin;
    float* window = pointer<float>(args[2]);
    auto* signals = reinterpret_cast<int32_t*>(window + 256);
    const int32_t turn = static_cast<int32_t>(args[5]);
    using Part = GlobalTensor<float, Shape<1, 1, 1, 1, 128>, Stride<128, 128, 128, 128, 1>>;
    Part input(in), theirs(remote(context, window, peer) + begin), mine(window + begin), output(out);
    Tile<TileType::Vec, float, 1, 128> tile;
    TASSIGN(tile, 0);
    TWAIT(Signal(signals + 16 * (3 + block)), turn, WaitCmp::GE);
    TLOAD(tile, input);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(theirs, tile);
    pipe_barrier(PIPE_ALL);
    if (block != 0) TNOTIFY(Signal(signals), 1, NotifyOp::AtomicAdd);
    if (block == 0) {{
        if (!{}) TWAIT(Signal(signals), (blocks - 1) * (turn + 1), WaitCmp::GE);
        TNOTIFY(Signal(remote(context, signals + 16, peer)), turn + 1, NotifyOp::Set);
        TWAIT(Signal(signals + 16), turn + 1, WaitCmp::GE);
        for (int64_t b = 1; b < blocks; ++b) TNOTIFY(Signal(signals + 16 * (5 + b)), turn + 1, NotifyOp::Set);
    }} else {{
        TWAIT(Signal(signals + 16 * (5 + block)), turn + 1, WaitCmp::GE);
    }}
    TLOAD(tile, mine);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(output, tile);
    pipe_barrier(PIPE_ALL);
    TNOTIFY(Signal(remote(context, signals + 16 * (3 + block), peer)), turn + 1, NotifyOp::Set);)",
                           is_hasty);
    };
    const std::vector<std::string> arguments = {
        "in:f32[256]", "out:f32[256]", "window:f32[256]+signals:8x16",
        "nranks",      "context",      "generation"};
    TraceOptions options;
    options.blocks = 2;
    const std::vector<Plan> right = plans(body(false), 2, arguments, options);
    EXPECT_EQ(right[0].lane_count(), 2u);
    EXPECT_EQ(right[0].tile_bytes, 512u);
    EXPECT_EQ(to_text(right[0].instructions[right[0].lane_begin(1) + 1], right[0]),
              "copy tile[0..512) <- in[512..1024) on MTE2");
    const CheckReport proved = check({{&right, nullptr, {}}});
    EXPECT_EQ(proved.verdict, Verdict::proved)
        << (proved.violations.empty() ? proved.bound : proved.violations[0].message);
    const std::vector<Plan> hasty = plans(body(true), 2, arguments, options);
    const CheckReport refuted = check({{&hasty, nullptr, {}}});
    EXPECT_EQ(refuted.verdict, Verdict::violated);

    options.blocks = 0;
    EXPECT_EQ(error("", options), "a rank has 1 to 1024 blocks, found 0");
    options.blocks = 2;
    EXPECT_THAT(error("if (get_block_idx() == 1) throw 1;", options),
                StartsWith("kernel.cpp, rank 0, block 1: the kernel throws"));
}

TEST_F(PtoTrace, MovesRowsOneByOneUnlessTheyFollowEachOther) {
    const std::string body = R"(
    float* in = pointer<float>(args[0]);
    GlobalTensor<float, Shape<1, 1, 1, 3, 8>, Stride<1, 1, 1, 16, 1>> apart(in);
    GlobalTensor<float, Shape<1, 1, 2, 2, 8>, Stride<1, 1, 64, 8, 1>> blocks(in);
    Tile<TileType::Vec, float, 4, 8, BLayout::RowMajor, -1, -1> three(3, 8), four(4, 8), narrow(2, 5);
    TASSIGN(three, 0);
    TASSIGN(four, 128);
    TASSIGN(narrow, 256);
    TLOAD(three, apart);
    TLOAD(four, blocks);
    TLOAD(narrow, blocks);
    TADDS(four, four, 1.5f);
    TADDS(narrow, narrow, 1.5f);)";
    EXPECT_THAT(
        texts(body),
        ElementsAre(
            "copy tile[0..32) <- in[0..32) on MTE2", "copy tile[32..64) <- in[64..96) on MTE2",
            "copy tile[64..96) <- in[128..160) on MTE2", "copy tile[128..192) <- in[0..64) on MTE2",
            "copy tile[192..256) <- in[256..320) on MTE2",
            "copy tile[256..276) <- in[0..20) on MTE2", "copy tile[288..308) <- in[32..52) on MTE2",
            "add_scalar f32 tile[128..256) <- tile[128..256), 1.5 on V",
            "add_scalar f32 tile[256..276) <- tile[256..276), 1.5 on V",
            "add_scalar f32 tile[288..308) <- tile[288..308), 1.5 on V"));
    const Plan plan = plans(body)[0];
    std::vector<bool> joined;
    for (const Instruction& instruction : plan.instructions) joined.push_back(instruction.joined);
    EXPECT_EQ(joined,
              (std::vector<bool>{false, true, true, false, true, false, true, false, false, true}));
}

TEST_F(PtoTrace, HasEveryVectorInstruction) {
    EXPECT_THAT(
        texts(R"(
    Tile<TileType::Vec, float, 2, 8> a, b, c;
    Tile<TileType::Vec, half, 2, 16, BLayout::RowMajor, 2, 8> narrow;
    Tile<TileType::Vec, float, 2, 8, BLayout::RowMajor, 2, 1> sums;
    TASSIGN(a, 0); TASSIGN(b, 64); TASSIGN(c, 128); TASSIGN(narrow, 192); TASSIGN(sums, 256);
    TADD(c, a, b);
    TMUL(c, a, b);
    TMAX(c, c, a);
    TMIN(c, c, a);
    TMULS(c, c, -2);
    TMOV(b, a);
    TMOV(a, a);
    TEXPANDS(a, 0.25f);
    TCVT(narrow, c);
    TROWSUM(sums, c, b);)"),
        ElementsAre("reduce sum f32 tile[128..192) <- tile[0..64), tile[64..128) on V",
                    "reduce prod f32 tile[128..192) <- tile[0..64), tile[64..128) on V",
                    "reduce max f32 tile[128..192) <- tile[128..192), tile[0..64) on V",
                    "reduce min f32 tile[128..192) <- tile[128..192), tile[0..64) on V",
                    "mul_scalar f32 tile[128..192) <- tile[128..192), -2 on V",
                    "copy tile[64..128) <- tile[0..64) on V", "fill f32 tile[0..64) <- 0.25 on V",
                    "convert f16 tile[192..208) <- f32 tile[128..160) on V",
                    "convert f16 tile[224..240) <- f32 tile[160..192) on V",
                    "clobber f32 tile[64..128) <- anything on V",
                    "row_sum f32 tile[256..260) <- tile[128..160) on V",
                    "row_sum f32 tile[288..292) <- tile[160..192) on V"));
}

TEST_F(PtoTrace, PutsInPiecesThroughTheTile) {
    EXPECT_THAT(texts(R"(
    auto* context = reinterpret_cast<CommContext*>(args[4]);
    float* window = pointer<float>(args[2]);
    using Memory = GlobalTensor<float, Shape<1, 1, 1, 1, 24>, Stride<24, 24, 24, 24, 1>>;
    Tile<TileType::Vec, float, 1, 16> tile;
    TASSIGN(tile, 0);
    TPUT<AtomicType::AtomicAdd>(Memory(remote(context, window, 1)), Memory(pointer<float>(args[0])), tile);)"),
                ElementsAre("copy tile[0..64) <- in[0..64) on MTE2",
                            "set_flag MTE2 -> MTE3, event 0", "wait_flag MTE2 -> MTE3, event 0",
                            "accumulate f32 window@1[0..64) <- tile[0..64) on MTE3",
                            "set_flag MTE3 -> MTE2, event 0", "wait_flag MTE3 -> MTE2, event 0",
                            "copy tile[0..32) <- in[64..96) on MTE2",
                            "set_flag MTE2 -> MTE3, event 0", "wait_flag MTE2 -> MTE3, event 0",
                            "accumulate f32 window@1[64..96) <- tile[0..32) on MTE3",
                            "set_flag MTE3 -> MTE2, event 0", "wait_flag MTE3 -> MTE2, event 0"));
}

TEST_F(PtoTrace, LetsSignalsGrowWithTheGeneration) {
    const std::string body = R"(
    float* window = pointer<float>(args[2]);
    auto* signals = reinterpret_cast<int32_t*>(window + 256);
    TNOTIFY(Signal(signals), static_cast<int32_t>(args[5]) * 3 + 1, NotifyOp::Set);
    TWAIT(Signal(signals), static_cast<int32_t>(args[5]) * 3 - 2, WaitCmp::GE);)";
    EXPECT_THAT(texts(body), ElementsAre("notify signals[0] = 3*generation + 1 on S",
                                         "wait signals[0] >= 3*generation - 2 on S"));
    EXPECT_THAT(plans(body)[0].advance, ElementsAre(0, 0, 0, 1));
}

// A notify of `value`, a function of the generation g.
std::string notify_of(const std::string& value) {
    return "    auto* signals = reinterpret_cast<int32_t*>(pointer<float>(args[2]) + 256);\n"
           "    const int32_t g = args[5];\n"
           "    TNOTIFY(Signal(signals), " +
           value + ", NotifyOp::Set);";
}

TEST_F(PtoTrace, RefusesSignalsThatDoNotGrowByAConstant) {
    const auto complaint = [&](const std::string& value) {
        const std::string text = error(notify_of(value));
        const std::string before =
            fmt::format("kernel.cpp:{}, rank 0: TNOTIFY: the value is ", kBodyLine + 2);
        const std::string after =
            ": it must grow by a constant from one call on a window to the next";
        EXPECT_THAT(text, testing::AllOf(StartsWith(before), testing::EndsWith(after)));
        return text.substr(before.size(), text.size() - before.size() - after.size());
    };
    EXPECT_EQ(complaint("1 << g"), "1 and 2 in generations 0 and 1, and 4 in generation 2, not 3");
    EXPECT_EQ(complaint("g % 3"), "0 and 1 in generations 0 and 1, and 0 in generation 3, not 3");
    EXPECT_EQ(complaint("g % 16 + 1"),
              "1 and 2 in generations 0 and 1, and 1 in generation 16, not 17");
    EXPECT_EQ(complaint("g < 5 ? 2 * g : 10"),
              "0 and 2 in generations 0 and 1, and 10 in generation 6, not 12");
    EXPECT_EQ(complaint("g % 31 == 30"),
              "0 and 0 in generations 0 and 1, and 1 in generation 30, not 0");
    EXPECT_EQ(complaint("g % 50"),
              "0 and 1 in generations 0 and 1, and 13 in generation 63, not 63");
    EXPECT_EQ(complaint("g % 999983"),
              "0 and 1 in generations 0 and 1, and 0 in generation 999983, not 999983");
}

TEST_F(PtoTrace, LooksAtEveryGenerationThatIsClaimed) {
    TraceOptions options;
    options.calls = 50;
    const std::string body = notify_of("g == 50 ? 7 : g");
    EXPECT_THAT(plans(body, 1, kUsual, options)[0].instructions, testing::SizeIs(1));
    options.calls = 51;
    EXPECT_EQ(error(body, options),
              fmt::format("kernel.cpp:{}, rank 0: TNOTIFY: the value is 0 and 1 in generations 0 "
                          "and 1, and 7 in generation 50, not 50: it must grow by a constant from "
                          "one call on a window to the next",
                          kBodyLine + 2));
    options.calls = 0;
    EXPECT_EQ(error(body, options), "a kernel is traced for 1 call or more, found 0");
}

// What is claimed must fit; what nobody claims may not.
TEST_F(PtoTrace, LetsSignalsExceedTheirCellsInCallsThatNobodyClaims) {
    TraceOptions options;
    options.calls = 2;
    const std::string body = notify_of("static_cast<int32_t>(1500000000u * g)");
    EXPECT_THAT(plans(body, 1, kUsual, options)[0].instructions, testing::SizeIs(1));
    options.calls = 3;
    EXPECT_THAT(error(body, options), HasSubstr("-1294967296 in generation 2, not 3000000000: "));
}

TEST_F(PtoTrace, RefusesWorkThatDependsOnTheGeneration) {
    const auto complaint = [&](const std::string& statements) {
        const std::string text = error("    const int g = args[5];\n" + statements);
        const std::string after =
            "; only the values of signals, and where in memory data is, may depend on the "
            "generation, all else is one plan";
        EXPECT_THAT(text, testing::EndsWith(after));
        return text.substr(0, text.size() - std::min(text.size(), after.size()));
    };
    EXPECT_EQ(complaint("    if (g == 1) pipe_barrier(PIPE_V);\n    pipe_barrier(PIPE_ALL);"),
              fmt::format("kernel.cpp:{}, rank 0: pipe_barrier: generation 1 issues pipe_barrier "
                          "instead (kernel.cpp:{})",
                          kBodyLine + 2, kBodyLine + 1));
    EXPECT_EQ(complaint("    set_flag(PIPE_V, PIPE_MTE3, g % 8 == 7 ? EVENT_ID1 : EVENT_ID0);"),
              fmt::format("kernel.cpp:{}, rank 0: set_flag: generation 7 gives it other operands",
                          kBodyLine + 1));
    EXPECT_EQ(complaint("    if (g < 5) pipe_barrier(PIPE_ALL);"),
              fmt::format("kernel.cpp:{}, rank 0: pipe_barrier: in generation 5 the kernel ends "
                          "before it",
                          kBodyLine + 1));
    EXPECT_EQ(complaint("    if (g >= 1000) pipe_barrier(PIPE_ALL);"),
              fmt::format("kernel.cpp:{}, rank 0: pipe_barrier: generation 1023 issues it after "
                          "the last instruction of generation 0",
                          kBodyLine + 1));
}

// Where memory is may go by turns.
TEST_F(PtoTrace, FollowsCallsThatTakeTurns) {
    const auto stores_at = [](const std::string& place) {
        return "    const int64_t g = args[5];\n    float* out = pointer<float>(args[1]);\n"
               "    store_scalar(out + " +
               place + ", 1.0f);\n    store_scalar(out + 9, 1.0f);";
    };
    const Plan plan = plans(stores_at("(2 - g % 3)"), 1)[0];
    ASSERT_EQ(plan.instructions.size(), 2u);
    EXPECT_EQ(plan.turns.count, 3u);
    EXPECT_EQ(plan.buffers[plan.turns.signal].kind, BufferKind::signal);
    EXPECT_THAT(to_text(plan.instructions[0], plan),
                StartsWith("fill f32 out[8..12)|[4..8)|[0..4) <- 1"));
    EXPECT_THAT(to_text(plan.instructions[1], plan), StartsWith("fill f32 out[36..40) <- 1"));
    const auto complaint = [&](const std::string& place) { return error(stores_at(place)); };
    EXPECT_THAT(
        complaint("(g / 64 % 2)"),
        HasSubstr("its memory moves with the generation, and is not back where it was after "
                  "16 generations or fewer: calls may take so many turns"));
    EXPECT_THAT(complaint("(g % 17)"), HasSubstr("16 generations or fewer"));
    EXPECT_THAT(complaint("(g == 9973)"), HasSubstr("16 generations or fewer"));
}

// A kernel that remembers its last call is called again and again like any other.
TEST_F(PtoTrace, SeesWhatAKernelRemembers) {
    EXPECT_THAT(error("    static int calls = 0;\n"
                      "    if (++calls == 3) pipe_barrier(PIPE_V);"),
                HasSubstr("generation 2 issues it after the last instruction of generation 0"));
}

TEST_F(PtoTrace, NamesTheGenerationThatDoesNotEnd) {
    EXPECT_EQ(error("    if (args[5] == 6) throw 1;"),
              "kernel.cpp, rank 0, generation 6: the kernel throws something that is no "
              "std::exception");
    TraceOptions options;
    options.timeout = std::chrono::milliseconds(1000);
    EXPECT_EQ(error("    for (volatile int i = 0; args[5] == 2; ++i) {}", options),
              "kernel.cpp, rank 0, generation 2: the kernel does not return: it was stopped after "
              "1000 ms; it issued no instruction");
}

TEST_F(PtoTrace, NamesLinesOfIncludedFiles) {
    folder_.write("barrier.hpp",
                  "#include \"intrinsic.h\"\ninline void drain() {\n"
                  "    pipe_barrier(PIPE_ALL);\n}\n");
    const Kernel kernel = Kernel::compile(
        folder_.write("kernel.cpp",
                      "#include \"barrier.hpp\"\n"
                      "extern \"C\" void kernel_entry(int64_t*) {\n    pipe_barrier(PIPE_V);\n"
                      "    drain();\n}"));
    const Plan plan = trace(kernel, {}, 1)[0];
    ASSERT_EQ(plan.instructions.size(), 2u);
    EXPECT_EQ(plan.source->place(plan.instructions[0].line), "line 3");
    EXPECT_EQ(plan.source->place(plan.instructions[1].line), "barrier.hpp:3");
    EXPECT_EQ(plan.source->line(plan.instructions[1].line), "    pipe_barrier(PIPE_ALL);");
}

// ---------------------------------------------------------------------------- not traceable

TEST_F(PtoTrace, RefusesDataThatTheKernelTouchesItself) {
    EXPECT_THAT(error("    volatile float* in = pointer<float>(args[0]);\n"
                      "    if (in[4] > 0) pipe_barrier(PIPE_ALL);"),
                testing::AllOf(
                    StartsWith("kernel.cpp, rank 0: not traceable: the kernel itself reads "
                               "in[16..17); data may be touched by instructions only, and may not "
                               "decide what is done\n"),
                    HasSubstr(fmt::format("kernel_entry at kernel.cpp:{}", kBodyLine + 1))));
    EXPECT_THAT(error("    *(pointer<float>(args[1]) + 255) = 1;"),
                StartsWith("kernel.cpp, rank 0: not traceable: the kernel itself writes "
                           "out[1020..1021); "));
    EXPECT_THAT(error("    auto* context = reinterpret_cast<CommContext*>(args[4]);\n"
                      "    *reinterpret_cast<int*>(context->windowsIn[1] + 1024 + 8) = 0;"),
                StartsWith("kernel.cpp, rank 0: not traceable: the kernel itself writes "
                           "signals[2]@1; "));
    EXPECT_EQ(
        error("    auto* signals = reinterpret_cast<int32_t*>(pointer<float>(args[2]) + 256);\n"
              "    while (!TTEST(Signal(signals), 1, WaitCmp::GE)) {}"),
        fmt::format("kernel.cpp:{}, rank 0: TTEST: not traceable: what follows depends on the "
                    "moment it is asked; use TWAIT to wait",
                    kBodyLine + 1));
}

TEST_F(PtoTrace, SurvivesKernelsThatDoNotReturn) {
    TraceOptions options;
    options.timeout = std::chrono::milliseconds(100);
    std::string found;
    do {  // it may not have begun by then
        options.timeout *= 2;
        found = error("    pipe_barrier(PIPE_V);\n    for (volatile int i = 0;; ++i) {}", options);
    } while (found.find("last instruction") == found.npos &&
             options.timeout < std::chrono::minutes(1));
    EXPECT_EQ(found, fmt::format("kernel.cpp, rank 0: the kernel does not return: it was stopped "
                                 "after {} ms; its last instruction was pipe_barrier "
                                 "(kernel.cpp:{}), number 1",
                                 options.timeout.count(), kBodyLine));
    options.timeout = std::chrono::seconds(60);
    options.max_operations = 1000;
    EXPECT_EQ(error("    for (;;) pipe_barrier(PIPE_V);", options),
              "kernel.cpp, rank 0: the kernel issues more than 1000 instructions: does it end?");
}

TEST_F(PtoTrace, SurvivesKernelsThatCrash) {
    EXPECT_THAT(
        error("    *reinterpret_cast<volatile int*>(0x12340) = 1;"),
        StartsWith("kernel.cpp, rank 0: the kernel crashes: signal 11 (Segmentation fault) at "
                   "address 0x12340; it issued no instruction\n    kernel_entry at kernel.cpp:"));
    EXPECT_THAT(error("    __builtin_trap();"),
                StartsWith("kernel.cpp, rank 0: the kernel crashes: signal "));
    EXPECT_THAT(
        error("    volatile int zero = args[5] * 0; volatile int one = 7 / zero; (void)one;"),
        StartsWith("kernel.cpp, rank 0: the kernel crashes: signal 8 (Floating point "
                   "exception); it issued no instruction"));
}

TEST_F(PtoTrace, SaysWhichArgumentIsMissing) {
    const std::string all = "args[0] in, args[1] window, args[2] nranks, args[3] context";
    const std::vector<std::string> list = {"in:f32[256]", "window:f32[256]", "nranks", "context"};
    const auto complaint = [&](const std::string& body) {
        const std::string text = error(body, {}, list);
        return text.substr(0, text.find('\n'));
    };
    EXPECT_EQ(complaint("    volatile int64_t g = args[4]; (void)g;"),
              "kernel.cpp, rank 0: the kernel reads args[4], which is missing: it is given " + all +
                  "; list what it takes with --arg");
    EXPECT_EQ(complaint("    volatile int64_t g = args[7]; (void)g;"),
              "kernel.cpp, rank 0: the kernel reads args[7], which is missing: it is given " + all +
                  "; list what it takes with --arg");
    EXPECT_EQ(error("    volatile int64_t g = args[0]; (void)g;", {}, {}).substr(0, 91),
              "kernel.cpp, rank 0: the kernel reads args[0], which is missing: it is given no "
              "arguments; l");
    // `out` was left out.
    EXPECT_THAT(
        complaint("    TNOTIFY(Signal(reinterpret_cast<int32_t*>(pointer<float>(args[2]))), "
                  "1, NotifyOp::Set);"),
        testing::AllOf(
            StartsWith("kernel.cpp, rank 0: the kernel touches address 0x"),
            HasSubstr(", where nothing is; if it took args[2] (nranks 2) for an address, "
                      "an argument is missing or in another place: it is given " +
                      all)));
    EXPECT_EQ(complaint("    TNOTIFY(Signal(reinterpret_cast<int32_t*>(pointer<float>(args[0]))), "
                        "1, NotifyOp::Set);"),
              fmt::format("kernel.cpp:{}, rank 0: TNOTIFY: the kernel keeps signals at in[0..4): "
                          "signals are in windows",
                          kBodyLine));
}

TEST_F(PtoTrace, SurvivesKernelsThatThrowOrEndTheProcess) {
    const auto with = [&](const std::string& include, const std::string& body) {
        const std::string path = folder_.write(
            "kernel.cpp", include + kKernelHead + "extern \"C\" void kernel_entry(int64_t*) {\n" +
                              body + "\n}\n");
        return error_of(folder_, [&] { trace(Kernel::compile(path), {}, 1); });
    };
    EXPECT_EQ(with("#include <stdexcept>\n", "throw std::runtime_error(\"no luck\");"),
              "kernel.cpp, rank 0: the kernel throws: no luck");
    EXPECT_EQ(with("", "throw 1;"),
              "kernel.cpp, rank 0: the kernel throws something that is no std::exception");
    EXPECT_EQ(with("#include <cstdlib>\n", "std::_Exit(3);"),
              "kernel.cpp, rank 0: the kernel ends its process, with exit status 3; it issued no "
              "instruction");
    EXPECT_EQ(
        with("#include <signal.h>\n", "raise(SIGKILL);"),
        "kernel.cpp, rank 0: the kernel's process was ended by signal 9 (Killed); it issued no "
        "instruction");
    EXPECT_THAT(with("",
                     "struct Deep { static int down(volatile int* x) { volatile char big[4096]; "
                     "big[0] = *x; return down(x) + big[0]; } }; volatile int x = 1; "
                     "x = Deep::down(&x);"),
                StartsWith("kernel.cpp, rank 0: the kernel crashes: signal 11"));
}

// ---------------------------------------------------------------------------- no meaning

TEST_F(PtoTrace, RefusesWhatHasNoMeaningOnADevice) {
    const std::string head = R"(
    float* in = pointer<float>(args[0]);
    using Memory = GlobalTensor<float, Shape<1, 1, 1, 1, 16>, Stride<16, 16, 16, 16, 1>>;
    Tile<TileType::Vec, float, 1, 16, BLayout::RowMajor, -1, -1> a(1, 16), b(1, 8), wide(2, 16);
    Tile<TileType::Vec, int32_t, 1, 16> other;
)";
    const int line = kBodyLine + 5;
    const auto complaint = [&](const std::string& statement) {
        std::string text = error(head + "    " + statement);
        const std::string prefix = fmt::format("kernel.cpp:{}, rank 0: ", line);
        EXPECT_THAT(text, StartsWith(prefix));
        return text.substr(std::min(prefix.size(), text.size()));
    };
    EXPECT_EQ(complaint("TLOAD(a, Memory(in));"),
              "TLOAD: a tile is used before TASSIGN says where it is");
    EXPECT_EQ(complaint("TASSIGN(a, 0); TASSIGN(b, 64); TADD(a, a, b);"),
              "TADD: the valid shapes differ: 1x16 and 1x8");
    EXPECT_EQ(complaint("TASSIGN(a, 0); TASSIGN(other, 64); TADD(a, a, other);"),
              "TADD: a tile of f32 meets one of i32");
    EXPECT_EQ(complaint("TASSIGN(wide, 0); TLOAD(wide, Memory(in));"),
              "TLOAD: 2 valid rows and 16 columns in a tile of 1x16");
    EXPECT_EQ(complaint("TASSIGN(other, 0); TLOAD(other, GlobalTensor<int32_t, "
                        "Shape<1,1,1,1,16>, Stride<1,1,1,16,1>>(reinterpret_cast<int32_t*>(in)));"),
              "TLOAD: a tensor of i32 is made from the argument 'in', which is of f32");
    EXPECT_EQ(complaint("TASSIGN(other, 0); TLOAD(other, Memory(in));"),
              "TLOAD: the tile is of i32, the tensor of f32");
    EXPECT_EQ(complaint("float x[16]; TASSIGN(a, 0); (void)x; TLOAD(a, "
                        "Memory(reinterpret_cast<float*>(4096)));"),
              "TLOAD: 0x1000 is no address of an argument or window: is an argument missing or in "
              "another place? it is given args[0] in, args[1] out, args[2] window, args[3] nranks, "
              "args[4] context, args[5] generation");
    EXPECT_EQ(complaint("TASSIGN(b, 0); TLOAD(b, GlobalTensor<float, Shape<1,1,1,4096,8>, "
                        "Stride<1,1,1,8,1>>(in));"),
              "TLOAD: shape[3] is 4096, at most 4095 rows can be moved at once");
    EXPECT_EQ(complaint("TASSIGN(b, 0); TLOAD(b, GlobalTensor<float, Shape<1,1,1,1,8>, "
                        "Stride<1,1,1,8,2>>(in));"),
              "TLOAD: columns are 2 elements apart, only neighbouring ones can be moved");
    EXPECT_EQ(complaint("TASSIGN(a, 0); TLOAD(a, GlobalTensor<float, Shape<1,1,1,1,8>, "
                        "Stride<1,1,1,8,1>>(in));"),
              "TLOAD: the tile has 1x16 valid elements, the tensor 1x8");
    EXPECT_EQ(
        complaint("TNOTIFY(Signal(reinterpret_cast<int32_t*>(pointer<float>(args[2]))), 1, "
                  "NotifyOp::Set);"),
        "TNOTIFY: the kernel keeps signals at window@0[0..4), but those of args[2] begin at "
        "byte 1024, behind its data: does the kernel expect another size? Without +signals any "
        "word of a window can be one");
    EXPECT_EQ(complaint("auto* c = reinterpret_cast<CommContext*>(args[4]); "
                        "TWAIT(Signal(reinterpret_cast<int32_t*>(c->windowsIn[1] + 1024)), 1, "
                        "WaitCmp::GE);"),
              "TWAIT: the cell is rank 1's; a rank can poll its own cells only");
    EXPECT_EQ(complaint("set_flag(PIPE_V, PIPE_V, EVENT_ID0);"),
              "set_flag: a flag goes from one pipe to another");
}

TEST_F(PtoTrace, HasOneToSixtyFourRanks) {
    const Kernel kernel = Kernel::compile(folder_.write_body("    pipe_barrier(PIPE_V);"));
#if !defined(__SANITIZE_THREAD__)  // which has no such range of addresses left
    EXPECT_EQ(trace(kernel, {}, 64).size(), 64u);
#endif
    EXPECT_EQ(trace(kernel, {}, 3).size(), 3u);
    EXPECT_EQ(error_of(folder_, [&] { trace(kernel, {}, 65); }),
              "PTO kernels have 1 to 64 ranks, found 65");
    EXPECT_EQ(error_of(folder_, [&] { trace(kernel, {}, 0); }),
              "PTO kernels have 1 to 64 ranks, found 0");
}

}  // namespace trace_test
}  // namespace peal::pto
