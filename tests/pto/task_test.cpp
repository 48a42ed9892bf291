// SPDX-License-Identifier: Apache-2.0
// Chip tasks: shims, the kernels that they launch, and windows whose words are what kernels make of
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "peal/check.hpp"
#include "peal/pto_task.hpp"
#include "pto/kernel_file.hpp"

namespace peal::pto {
namespace task_test {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kShimHead = "#include \"pto_orchestration_api.h\"\n";

// Forwards two tensors and two scalars to kernel 0.
constexpr const char* kForward = R"(
extern "C" PTO2OrchestrationConfig forward_config(const ChipTaskArgs&) { return {4}; }
extern "C" void forward(const ChipTaskArgs& args) {
    CoreTaskArgs task;
    task.add_input(args.tensor(0).ref());
    task.add_inout(args.tensor(1).ref());
    task.add_scalar(args.scalar(0), args.scalar(1));
    rt_submit_aiv_task(0, task);
}
)";

// Puts 64 floats into the next rank's window at byte 256 and rings the word at byte 1024.
constexpr const char* kNeighbour = R"(
    auto* context = reinterpret_cast<CommContext*>(args[3]);
    const int next = (context->rankId + 1) % context->rankNum;
    float* window = pointer<float>(args[1]);
    int32_t* cell = reinterpret_cast<int32_t*>(window + 256);
    using Memory = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
    Tile<TileType::Vec, float, 1, 64> tile;
    TASSIGN(tile, 0);
    Memory mine(pointer<float>(args[0])), theirs(remote(context, window + 64, next));
    TPUT(theirs, mine, tile);
    pipe_barrier(PIPE_ALL);
    TNOTIFY(Signal(remote(context, cell, next)), 1, NotifyOp::AtomicAdd);
    TWAIT(Signal(cell), 1, WaitCmp::GE);)";

TaskMemory memory(Direction direction, std::uint64_t bytes, Element element = Element::f32) {
    return {direction, element, bytes, {}};
}
TaskMemory window(std::vector<int> ranks, std::uint64_t bytes) {
    return {Direction::inout, Element::u8, bytes, std::move(ranks)};
}
TaskTensor tensor(std::size_t memory, std::vector<std::uint64_t> shape, std::uint64_t base = 0) {
    return {memory, base, 0, Element::f32, std::move(shape), {}};
}
TaskScalar number(std::uint64_t value) { return {TaskScalar::Kind::number, value, 0}; }
TaskScalar context(std::size_t memory) { return {TaskScalar::Kind::context, 0, memory}; }

// Input, window, number of ranks, context.
ChipTask usual(std::vector<int> ranks) {
    ChipTask task;
    task.scalars = {number(ranks.size()), context(1)};
    task.memories = {memory(Direction::in, 256), window(std::move(ranks), 2048)};
    task.tensors = {tensor(0, {64}), tensor(1, {256})};
    return task;
}

class PtoTask : public testing::Test {
protected:
    ChipProgram program(const std::string& shim, const std::vector<std::string>& bodies) {
        std::vector<std::pair<int, Kernel>> kernels;
        for (std::size_t i = 0; i < bodies.size(); ++i) {
            kernels.emplace_back(
                static_cast<int>(i),
                Kernel::compile(folder_.write_body(bodies[i], fmt::format("kernel{}.cpp", i))));
        }
        return {"task", Shim::compile(folder_.write("shim.cpp", kShimHead + shim)), "forward",
                "forward_config", std::move(kernels)};
    }
    std::string error(const std::string& shim, const std::vector<std::string>& bodies,
                      const ChipTask& task) {
        return error_of(folder_, [&] { trace(program(shim, bodies), {task, task}); });
    }
    static std::vector<std::string> texts(const Plan& plan) {
        std::vector<std::string> list;
        for (const Instruction& instruction : plan.instructions) {
            list.push_back(to_text(instruction, plan));
        }
        return list;
    }
    static CheckReport checked(const std::vector<Plan>& plans) {
        CheckOptions options;
        options.calls = 1;
        options.any_calls = false;
        return check({{&plans, nullptr, {}}}, options);
    }

    KernelFolder folder_;
};

TEST_F(PtoTask, BecomesOnePlanForEachRank) {
    const TracedTask traced =
        trace(program(kForward, {kNeighbour}), {usual({0, 1}), usual({0, 1})});
    EXPECT_THAT(texts(traced.plans[1]),
                ElementsAre("copy tile[0..256) <- in[0..256) on MTE2",
                            "set_flag MTE2 -> MTE3, event 0", "wait_flag MTE2 -> MTE3, event 0",
                            "copy window@0[256..512) <- tile[0..256) on MTE3",
                            "set_flag MTE3 -> MTE2, event 0", "wait_flag MTE3 -> MTE2, event 0",
                            "pipe_barrier ALL", "notify signals[256]@0 += 1 on S",
                            "wait signals[256] >= 1 on S"));
    EXPECT_THAT(traced.memory_of, ElementsAre(0, 1, 1));
    EXPECT_EQ(checked(traced.plans).verdict, Verdict::proved);
}

// The ranks of a domain have their own order, and others have nothing to do with it.
TEST_F(PtoTask, KnowsTheRanksOfItsDomain) {
    const ChipProgram neighbour = program(kForward, {kNeighbour});
    const ChipTask task = usual({3, 0, 2});
    const TracedTask traced = trace(neighbour, {task, std::nullopt, task, task});
    EXPECT_THAT(texts(traced.plans[3]), testing::Contains("notify signals[256]@0 += 1 on S"));
    EXPECT_THAT(texts(traced.plans[0]), testing::Contains("notify signals[256]@2 += 1 on S"));
    EXPECT_THAT(texts(traced.plans[2]), testing::Contains("notify signals[256]@3 += 1 on S"));
    EXPECT_TRUE(traced.plans[1].instructions.empty());
    EXPECT_EQ(checked(traced.plans).verdict, Verdict::proved);
}

// Who is not there is missed.
TEST_F(PtoTask, IsRefutedWhenARankHasNoTask) {
    const TracedTask traced = trace(program(kForward, {kNeighbour}), {usual({0, 1}), std::nullopt});
    ASSERT_EQ(checked(traced.plans).verdict, Verdict::violated);
    EXPECT_EQ(checked(traced.plans).violations[0].kind, ViolationKind::deadlock);
}

TEST_F(PtoTask, LaunchesOneKernelAfterTheOther) {
    const std::string store = R"(
    Tile<TileType::Vec, float, 1, 64> tile;
    TASSIGN(tile, 0);
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> in(pointer<float>(args[0])),
        out(pointer<float>(args[1]));
    TLOAD(tile, in);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, tile);)";
    const std::string shim = R"(
extern "C" void forward(const ChipTaskArgs& args) {
    CoreTaskArgs first, second;
    ChipTensor in = args.tensor(0).ref(), middle = args.tensor(1).ref();
    first.add_input(in);
    first.add_output(middle);
    rt_submit_aiv_task(0, first);
    second.add_input(middle);
    second.add_output(args.tensor(2).ref());
    rt_submit_aiv_task(1, second);
}
)";
    ChipTask task;
    task.memories = {memory(Direction::in, 256), memory(Direction::out, 256),
                     memory(Direction::out, 256)};
    task.tensors = {tensor(0, {64}), tensor(1, {64}), tensor(2, {64})};
    const TracedTask traced = trace(program(shim, {store, store}), {task});
    EXPECT_THAT(
        texts(traced.plans[0]),
        ElementsAre("copy tile[0..256) <- in[0..256) on MTE2", "set_flag MTE2 -> MTE3, event 0",
                    "wait_flag MTE2 -> MTE3, event 0", "copy out[0..256) <- tile[0..256) on MTE3",
                    "pipe_barrier ALL", "evict in[0..256) on S", "evict out[0..256) on S",
                    "evict out2[0..256) on S", "fence on S",
                    "copy tile[0..256) <- out[0..256) on MTE2", "set_flag MTE2 -> MTE3, event 0",
                    "wait_flag MTE2 -> MTE3, event 0",
                    "copy out2[0..256) <- tile[0..256) on MTE3"));
    EXPECT_EQ(checked(traced.plans).verdict, Verdict::proved);

    // A tensor of the runtime's stands in the middle as well.
    const std::string creating = R"(
extern "C" void forward(const ChipTaskArgs& args) {
    const uint32_t shape[] = {64};
    TensorCreateInfo info(shape, 1);
    CoreTaskArgs first;
    first.add_input(args.tensor(0).ref());
    first.add_output(info);
    const TaskOutputTensors made = rt_submit_aiv_task(0, first);
    CoreTaskArgsWithDeps<> second;
    second.add_input(made.get_ref(0));
    second.add_output(args.tensor(1).ref());
    second.add_dep(made.task_id());
    rt_submit_task({-1, 1, -1}, second);
}
)";
    ChipTask shorter;
    shorter.memories = {task.memories[0], task.memories[1]};
    shorter.tensors = {tensor(0, {64}), tensor(1, {64})};
    const TracedTask created = trace(program(creating, {store, store}), {shorter, std::nullopt});
    EXPECT_THAT(created.created, ElementsAre(ElementsAre(256), ElementsAre(256)));
    EXPECT_THAT(created.memory_of, ElementsAre(0, 1, 2));
    EXPECT_EQ(texts(created.plans[0])[3], "copy created[0..256) <- tile[0..256) on MTE3");
    EXPECT_EQ(texts(created.plans[0])[9], "copy tile[0..256) <- created[0..256) on MTE2");
    EXPECT_EQ(checked(created.plans).verdict, Verdict::proved);
    const std::string hasty = R"(
extern "C" void forward(const ChipTaskArgs& args) {
    const uint32_t shape[] = {2, 32};
    const TaskOutputTensors made = alloc_tensors(TensorCreateInfo(shape, 2, DataType::FLOAT32));
    CoreTaskArgs task;
    task.add_input(made.get_ref(0));
    task.add_output(args.tensor(1).ref());
    rt_submit_aiv_task(0, task);
}
)";
    const CheckReport unwritten = checked(trace(program(hasty, {store, store}), {shorter}).plans);
    ASSERT_EQ(unwritten.verdict, Verdict::violated);
    EXPECT_EQ(unwritten.violations[0].kind, ViolationKind::unwritten_read);

    const std::string lazy = R"(
    Tile<TileType::Vec, float, 1, 64> tile;
    TASSIGN(tile, 0);
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> out(pointer<float>(args[1]));
    TSTORE(out, tile);)";
    EXPECT_EQ(error_of(folder_,
                       [&] {
                           trace(program(shim, {store, lazy}), {task});
                       }),
              fmt::format("kernel1.cpp:{}, rank 0: the kernel reads byte 0 of tile memory, which "
                          "it has not written: what an earlier kernel left there does not count",
                          kBodyLine + 4));
    const std::string forgetful = store + "\n    set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID3);";
    EXPECT_EQ(error_of(folder_,
                       [&] {
                           trace(program(shim, {forgetful, store}), {task});
                       }),
              fmt::format("kernel0.cpp:{}, rank 0: the flag is still set when the kernel ends, and "
                          "another kernel of the chip task begins",
                          kBodyLine + 9));
}

// Shapes, offsets and raw addresses arrive as they were given; old and new names mean the same.
TEST_F(PtoTask, PassesOnWhatTensorsSayOfThemselves) {
    const std::string shim = R"(
extern "C" void forward(const ChipStorageTaskArgs& args) {
    Tensor in = from_tensor_arg(args.tensor(0));
    Tensor rows = in.slice(0, 2, 4);
    const uint32_t sizes[] = {1, 4}, offsets[] = {1, 4};
    Tensor part = in.view(sizes, offsets);
    Tensor turned = in.transpose(0, 1);
    const uint32_t flat[] = {64};
    Tensor line = in.reshape(flat, 1);
    Arg task;
    task.add_input(in, rows, part, turned, line);
    task.add_scalar(args.scalar(0), 1.5f, int8_t{-1}, args.scalar(1));
    rt_submit_aiv_task(0, task);
}
)";
    const std::string body = R"(
    auto at = [&](int i) { return reinterpret_cast<ChipTensor*>(args[i]); };
    const bool is_right =
        at(0)->ndims == 2 && at(0)->shapes[0] == 8 && at(0)->shapes[1] == 8 && at(0)->strides[0] == 8 &&
        at(0)->start_offset == 4 && at(0)->is_contiguous == 1 && at(0)->numel() == 64 &&
        at(1)->shapes[0] == 2 && at(1)->start_offset == 20 && at(1)->is_contiguous == 1 &&
        at(2)->shapes[1] == 4 && at(2)->start_offset == 16 &&
        at(3)->strides[0] == 1 && at(3)->strides[1] == 8 && at(3)->is_contiguous == 0 &&
        at(4)->ndims == 1 && at(4)->shapes[0] == 64 && at(4)->nbytes() == 256 &&
        args[5] == 7 && from_u64<float>(args[6]) == 1.5f && args[6] == 0x3fc00000 && args[7] == 0xff &&
        get_block_idx(args) == 0 && get_block_num(args) == 1 && get_sub_block_id(args) == 0;
    if (!is_right) throw 1;
    TNOTIFY(Signal(reinterpret_cast<int32_t*>(args[8])), 1, NotifyOp::AtomicAdd);)";
    ChipTask task;
    task.memories = {memory(Direction::in, 16 + 256), window({0}, 4096)};
    TaskTensor matrix = tensor(0, {8, 8});
    matrix.offset = 16;
    task.tensors = {matrix};
    task.scalars = {number(7), {TaskScalar::Kind::address, 1280, 1}};
    const TracedTask traced = trace(program(shim, {body}), {task});
    EXPECT_THAT(texts(traced.plans[0]), ElementsAre("notify signals[320] += 1 on S"));
}

// pipe_sync() makes the scalar unit wait for stores.
TEST_F(PtoTask, RunsAKernelOnSeveralBlocks) {
    const std::string shim = R"(
extern "C" void forward(const ChipTaskArgs& args) {
    CoreTaskArgs task;
    task.add_inout(args.tensor(0).ref());
    task.launch_spec.set_block_num(3);
    rt_submit_aiv_task(0, task);
}
)";
    const std::string body = R"(
    auto* cell = pointer<int32_t>(args[0]) + 16 * get_block_idx(args);
    pipe_sync();
    TNOTIFY(Signal(cell), get_block_num(args), NotifyOp::AtomicAdd);)";
    ChipTask task;
    task.memories = {window({0}, 1024)};
    task.tensors = {tensor(0, {256})};
    const TracedTask traced = trace(program(shim, {body}), {task});
    const Plan& plan = traced.plans[0];
    ASSERT_EQ(plan.lane_count(), 3U);
    EXPECT_THAT(texts(plan),
                ElementsAre("set_flag MTE3 -> S, event 7", "wait_flag MTE3 -> S, event 7",
                            "notify signals[0] += 3 on S", "set_flag MTE3 -> S, event 7",
                            "wait_flag MTE3 -> S, event 7", "notify signals[16] += 3 on S",
                            "set_flag MTE3 -> S, event 7", "wait_flag MTE3 -> S, event 7",
                            "notify signals[32] += 3 on S"));
}

TEST_F(PtoTask, KeepsDataAndSignalsApart) {
    const std::string move = R"(
    float* window = pointer<float>(args[1]);
    Tile<TileType::Vec, float, 1, 64> tile;
    TASSIGN(tile, 0);
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> in(pointer<float>(args[0])),
        out(window);
    TLOAD(tile, in);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(out, tile);
    int32_t* words = reinterpret_cast<int32_t*>(window);
)";
    EXPECT_EQ(
        error(kForward, {move + "TWAIT(Signal(words + 63), 0, WaitCmp::GE);"}, usual({0, 1})),
        fmt::format("kernel0.cpp:{}, rank 0: bytes [0..256) of window are data here, and hold "
                    "a signal (kernel0.cpp:{}, rank 0): keep data and signals apart",
                    kBodyLine + 9, kBodyLine + 11));
    // A line belongs to its signals, if they are set; if they are added to, it does not.
    const std::string odd = "    out = decltype(out)(window + 4);\n    TSTORE(out, tile);\n";
    EXPECT_EQ(
        error(kForward, {move + odd + "TNOTIFY(Signal(words + 68), 1, NotifyOp::Set);"},
              usual({0, 1})),
        fmt::format("kernel0.cpp:{}, rank 0: bytes [16..272) of window are data here, and lie "
                    "in the line of a signal that a notify with Set writes back whole "
                    "(kernel0.cpp:{}, rank 0): keep data and signals apart",
                    kBodyLine + 12, kBodyLine + 13));
    EXPECT_EQ(error(kForward, {move + odd + "TNOTIFY(Signal(words + 68), 1, NotifyOp::AtomicAdd);"},
                    usual({0, 1})),
              "");
}

TEST_F(PtoTask, RefusesWhatItCannotDo) {
    const auto shim = [&](const std::string& body) {
        return error(
            "extern \"C\" void forward(const ChipTaskArgs& args) {\n    CoreTaskArgs task;\n" +
                body + "\n}\n",
            {kNeighbour}, usual({0, 1}));
    };
    EXPECT_EQ(shim("rt_submit_aiv_task(3, task);"),
              "shim.cpp:4, rank 0: the chip callable has no kernel 3");
    EXPECT_EQ(shim("args.tensor(2);"),
              "shim.cpp:4, rank 0: the shim asks for tensor 2; the task was given 2 tensors and 2 "
              "scalars");
    EXPECT_EQ(shim("task.add_scalar(1); task.add_input(args.tensor(0).ref());\n"
                   "rt_submit_aiv_task(0, task);"),
              "shim.cpp:5, rank 0: a tensor is added after a scalar");
    EXPECT_EQ(shim("uint32_t n[] = {1}; TensorCreateInfo made(n, 1); made.set_initial_value(1);"),
              "shim.cpp:4, rank 0: a tensor that is created with a value is not supported; write "
              "it with a kernel");
    EXPECT_EQ(shim("uint32_t n[] = {1u << 31}; alloc_tensors(TensorCreateInfo(n, 1));"),
              "shim.cpp:4, rank 0: a created tensor has 1 to 4294967296 bytes, found 8589934592");
    EXPECT_EQ(shim("uint32_t n[] = {1};\n"
                   "for (int i = 0; i < 65; ++i) alloc_tensors(TensorCreateInfo(n, 1));"),
              "shim.cpp:5, rank 0: a shim creates at most 64 tensors");
    EXPECT_EQ(shim("rt_submit_task({0, 0, -1}, task);"),
              "shim.cpp:4, rank 0: several kernels in one task are not supported: expected "
              "aiv0_kernel_id alone");
    EXPECT_EQ(shim("rt_submit_aic_task(0, task);"),
              "shim.cpp:4, rank 0: rt_submit_aic_task: the cube is not supported; "
              "rt_submit_aiv_task takes a kernel for a vector core");
    EXPECT_EQ(shim("uint32_t i[] = {0}; get_tensor_data(args.tensor(0).ref(), 1, i);"),
              "shim.cpp:4, rank 0: not traceable: get_tensor_data reads what a tensor holds");
    EXPECT_EQ(shim("rt_report_fatal(PTO2_ERROR_EXPLICIT_ORCH_FATAL, \"no %d\", 3);"),
              "shim.cpp:4, rank 0: the shim reports fatal error 9: no 3");
    EXPECT_EQ(shim("task.launch_spec.set_block_num(0); rt_submit_aiv_task(0, task);"),
              "shim.cpp:4, rank 0: a kernel is launched on 1 to 1024 blocks, found 0");
    EXPECT_THAT(shim("*reinterpret_cast<int*>(args.tensor(0).buffer.addr) = 1;"),
                HasSubstr("not traceable: the kernel itself writes in[0..1)"));
    ChipTask few = usual({0, 1});
    few.scalars.pop_back();
    EXPECT_EQ(error(kForward, {kNeighbour}, few),
              "kernel0.cpp, rank 0: forward_config expects 4 arguments, found 3");
    const ChipProgram neighbour = program(kForward, {kNeighbour});
    EXPECT_EQ(error_of(folder_, [&] { trace(neighbour, {std::nullopt}); }),
              "task: no rank has a task");
    ChipTask long_one = usual({0, 1});
    long_one.tensors[0].shape = {65};
    EXPECT_EQ(error_of(folder_, [&] { trace(neighbour, {long_one}); }),
              "task, rank 0: tensor 0 ends at byte 260 of a memory of 256");
    EXPECT_EQ(error_of(folder_,
                       [&] {
                           trace(neighbour, {usual({0, 1}), usual({1, 0})});
                       }),
              "task: its ranks are given different memories: expected the same number, directions, "
              "types and windows");
    EXPECT_EQ(error_of(folder_,
                       [&] {
                           trace(neighbour, {usual({1}), usual({1})});
                       }),
              "task, rank 0: scalar 1 speaks of a domain that the rank is not in");
    EXPECT_EQ(error_of(folder_, [&] { Shim::compile(folder_.write("none.cpp", "int x;")); }),
              "none.cpp submits no kernel: include pto_orchestration_api.h");
}

}  // namespace task_test
}  // namespace peal::pto
