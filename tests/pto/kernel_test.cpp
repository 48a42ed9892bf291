// SPDX-License-Identifier: Apache-2.0
// Compiling kernels, and the headers they are compiled against.
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "pto/kernel_file.hpp"

namespace peal::pto {
namespace kernel_test {

using testing::HasSubstr;
using testing::StartsWith;

std::size_t libraries_in(const KernelFolder& folder) {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder.path() / "cache")) {
        count += file.path().extension() == ".so";
    }
    return count;
}

TEST(PtoKernel, IsCompiledOnceForEachContent) {
    const KernelFolder folder;
    const std::string path = folder.write(
        "kernel.cpp", std::string(kKernelHead) + "#include \"steps.hpp\"\n" +
                          "#ifndef OTHER\n#define OTHER kPipe\n#endif\n"
                          "extern \"C\" void kernel_entry(int64_t*) { pipe_barrier(OTHER); }\n");
    folder.write("steps.hpp", "inline constexpr pipe_t kPipe = PIPE_V;\n");
    const Kernel first = Kernel::compile(path);
    EXPECT_EQ(first.name(), "kernel");
    EXPECT_EQ(first.path(), path);
    EXPECT_EQ(Kernel::compile(path).library(), first.library());

    folder.write("steps.hpp", "inline constexpr pipe_t kPipe = PIPE_ALL;\n");
    const Kernel second = Kernel::compile(path);
    EXPECT_NE(second.library(), first.library()) << "an included file has changed";
    KernelOptions options;
    options.defines = {"OTHER=PIPE_M"};
    EXPECT_NE(Kernel::compile(path, options).library(), second.library());
    EXPECT_EQ(libraries_in(folder), 3u);
}

// What is in the cache is loaded and run.
TEST(PtoKernel, IsNotTakenFromWhereEverybodyMayPutOne) {
    const KernelFolder folder;
    const auto cache = folder.path() / "cache";
    std::filesystem::create_directory(cache);
    std::filesystem::permissions(cache, std::filesystem::perms::all);
    const std::string path = folder.write_body("");
    testing::internal::CaptureStderr();
    const std::string library = Kernel::compile(path).library();
    EXPECT_EQ(Kernel::compile(path).library(), library) << "for this process it is kept";
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "peal: what is compiled is not kept: " + cache.string() +
                  " can be written by others: chmod go-w it or name another directory in "
                  "PEAL_CACHE\n");
    EXPECT_EQ(libraries_in(folder), 0u);
    EXPECT_FALSE(library.starts_with(cache.string())) << library;
    struct stat status {};
    ASSERT_EQ(stat(std::filesystem::path(library).parent_path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(PtoKernel, IsCompiledElsewhereWithoutAHome) {
    const KernelFolder folder;
    for (const char* name : {"PEAL_CACHE", "XDG_CACHE_HOME", "HOME"}) unsetenv(name);
    testing::internal::CaptureStderr();
    const std::string library = Kernel::compile(folder.write_body("")).library();
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "peal: what is compiled is not kept: there is no place for a cache, HOME is not set "
              "to a directory of the user's own: name a directory in PEAL_CACHE\n");
    EXPECT_FALSE(std::filesystem::exists(fmt::format("/tmp/peal-{}", getuid()))) << library;
}

// Somebody may have put files there before the directory was closed to others.
TEST(PtoKernel, ThatWasDamagedOrPlantedIsMadeAgain) {
    const KernelFolder folder;
    const std::string path = folder.write_body("");
    const std::string library = Kernel::compile(path).library();
    std::ofstream(library, std::ios::app) << "more";
    const std::string again = Kernel::compile(path).library();
    EXPECT_EQ(again, library);
    EXPECT_EQ(error_of(folder, [&] { Kernel::compile(path); }), "");
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(folder.path() / "cache")) {
        if (file.path().filename() == "tensor.h") std::ofstream(file.path()) << "#error planted\n";
    }
    std::filesystem::remove(library);
    EXPECT_EQ(error_of(folder, [&] { Kernel::compile(path); }), "");
}

// A proof is about the kernel that is there now.
class PtoStaleKernel : public testing::Test {
protected:
    std::string kernel(const std::string& include) const {
        return folder_.write("kernel.cpp", kKernelHead + include +
                                               "\nextern \"C\" void kernel_entry(int64_t*) { "
                                               "pipe_barrier(kPipe); }\n");
    }
    void header(const std::string& name, const std::string& pipe) const {
        std::filesystem::create_directories((folder_.path() / name).parent_path());
        folder_.write(name, "inline constexpr pipe_t kPipe = " + pipe + ";\n");
    }
    std::string instruction(const std::string& path, const KernelOptions& options = {}) const {
        const Plan plan = trace(Kernel::compile(path, options), {}, 1)[0];
        return to_text(plan.instructions.at(0), plan);
    }

    KernelFolder folder_;
};

TEST_F(PtoStaleKernel, IsSeenWhateverItsHeadersAreCalled) {
    for (const std::string name : {"a#b.hpp", "a$b.hpp", "a b.hpp", "a\\b.hpp", "a:b.hpp"}) {
        const std::string path = kernel("#include \"" + name + "\"");
        header(name, "PIPE_V");
        EXPECT_EQ(instruction(path), "pipe_barrier V") << name;
        header(name, "PIPE_ALL");
        EXPECT_EQ(instruction(path), "pipe_barrier ALL") << name;
    }
}

TEST_F(PtoStaleKernel, IsSeenWhenAHeaderHidesAnother) {
    const std::string path = kernel("#include <steps.hpp>");
    KernelOptions options;
    options.include_directories = {folder_.path() / "first", folder_.path() / "second"};
    std::filesystem::create_directory(folder_.path() / "first");
    header("second/steps.hpp", "PIPE_V");
    EXPECT_EQ(instruction(path, options), "pipe_barrier V");
    header("first/steps.hpp", "PIPE_ALL");
    EXPECT_EQ(instruction(path, options), "pipe_barrier ALL");
}

TEST_F(PtoStaleKernel, IsSeenWhenAHeaderThatWasAskedForAppears) {
    const std::string path = kernel(
        "#if __has_include(\"steps.hpp\")\n#include \"steps.hpp\"\n#else\n"
        "inline constexpr pipe_t kPipe = PIPE_V;\n#endif");
    EXPECT_EQ(instruction(path), "pipe_barrier V");
    header("steps.hpp", "PIPE_ALL");
    EXPECT_EQ(instruction(path), "pipe_barrier ALL");
}

TEST(PtoKernel, FindsIncludesAndDefinesOfTheCaller) {
    const KernelFolder folder;
    std::filesystem::create_directory(folder.path() / "shared");
    folder.write("shared/limits.hpp", "inline constexpr int kLimit = LIMIT;\n");
    const std::string path =
        folder.write("kernel.cpp", std::string("#include \"limits.hpp\"\n") + kKernelHead +
                                       "static_assert(kLimit == 7);\n"
                                       "extern \"C\" void kernel_entry(int64_t*) {}\n");
    KernelOptions options;
    options.include_directories = {folder.path() / "shared"};
    options.defines = {"LIMIT=7"};
    EXPECT_EQ(error_of(folder, [&] { Kernel::compile(path, options); }), "");
}

TEST(PtoKernel, SaysWhatTheCompilerSays) {
    const KernelFolder folder;
    const std::string path = folder.write_body("    TLAOD();");
    const std::string error = error_of(folder, [&] { Kernel::compile(path); });
    EXPECT_THAT(error, StartsWith("kernel.cpp does not compile with "));
    EXPECT_THAT(error, HasSubstr("TLAOD"));
    EXPECT_THAT(error, HasSubstr(fmt::format("kernel.cpp:{}:", kBodyLine)));
    EXPECT_EQ(libraries_in(folder), 0u);
}

TEST(PtoKernel, NamesWhatIsNotSupported) {
    const KernelFolder folder;
    const std::string path = folder.write_body(
        "    Tile<TileType::Vec, float, 1, 8> tile; TASSIGN(tile, 0); TEXP(tile, tile);");
    EXPECT_THAT(error_of(folder, [&] { Kernel::compile(path); }),
                HasSubstr("TEXP is not supported by Peal's PTO headers"));
    for (const auto& [type, words] :
         {std::pair{
              "Tile<TileType::Vec, double, 1, 8> tile; TASSIGN(tile, 0); TADDS(tile, tile, 1);",
              "this element type is not supported"},
          {"Tile<TileType::Vec, float, 1, 7> tile;", "multiple of 32 bytes"},
          {"Tile<TileType::Mat, float, 1, 8> tile;", "only TileType::Vec is supported"}}) {
        const std::string file = folder.write_body(std::string("    ") + type);
        EXPECT_THAT(error_of(folder, [&] { Kernel::compile(file); }), HasSubstr(words));
    }
}

TEST(PtoKernel, NeedsAFileACompilerAndAnEntry) {
    const KernelFolder folder;
    EXPECT_EQ(error_of(folder, [&] { Kernel::compile(folder.path() / "none.cpp"); }),
              "there is no file 'none.cpp'");
    EXPECT_EQ(error_of(folder, [&] { Kernel::compile(folder.path()); }),
              fmt::format("cannot read '{}'", folder.path().string()));
    const std::string path = folder.write_body("");
    KernelOptions options;
    options.compiler = "no-such-compiler";
    EXPECT_EQ(error_of(folder, [&] { Kernel::compile(path, options); }),
              "there is no compiler 'no-such-compiler': install g++ or clang, or name another one "
              "with --cxx");
    const std::string other =
        folder.write("other.cpp", std::string(kKernelHead) + "void entry() {}\n");
    EXPECT_EQ(error_of(folder, [&] { Kernel::compile(other); }),
              "other.cpp has no entry: expected extern \"C\" void kernel_entry(int64_t* args)");
    const std::string plain = folder.write(
        "plain.cpp", "#include <cstdint>\nextern \"C\" void kernel_entry(int64_t*) {}\n");
    EXPECT_EQ(error_of(folder, [&] { Kernel::compile(plain); }),
              "plain.cpp uses no PTO instruction: include pto/pto-inst.hpp");
}

// Every name that kernels use, found the way kernels find it, on each compiler that is there.
constexpr const char* kEveryName = R"(
#include <initializer_list>
#include "pto/pto-inst.hpp"
#include "pto/comm/comm_types.hpp"
#include "pto/comm/pto_comm_inst.hpp"
#include "pto/common/pto_tile.hpp"
#include "pto/common/constants.hpp"
#include "platform_comm/comm_context.h"
#include "tensor.h"
#include "intrinsic.h"
#include "pipe_sync.h"
#ifdef __CPU_SIM
#error "simulator branches are selected"
#endif
#ifndef __DAV_VEC__
#error "the vector core's branches are not selected"
#endif
#ifdef __CCE_AICORE__
#error "this is no device"
#endif
template <class T>
AICORE inline void each_type(__gm__ T* data, T scalar) {
    constexpr int kCols = 64;
    using Row = pto::Tile<pto::TileType::Vec, T, 2, kCols, pto::BLayout::RowMajor, -1, -1>;
    using Fixed = pto::Tile<pto::TileType::Vec, T, 2, kCols>;
    using OneOpen = pto::Tile<pto::TileType::Vec, T, 2, kCols, pto::BLayout::RowMajor, 2, pto::DYNAMIC>;
    using Memory = pto::GlobalTensor<T, pto::Shape<1, 1, 1, -1, -1>, pto::Stride<1, 1, 1, -1, 1>,
                                     pto::Layout::ND>;
    Memory memory(data, pto::Shape<1, 1, 1, -1, -1>(2, kCols), pto::Stride<1, 1, 1, -1, 1>(kCols));
    Memory whole(data, pto::Shape<1, 1, 1, -1, -1>(1, 1, 1, 2, kCols),
                 pto::Stride<1, 1, 1, -1, 1>(1, 1, 1, kCols, 1));
    Row a(2, kCols), b(2, kCols);
    Fixed c;
    OneOpen d(kCols);
    TASSIGN(a, 0);
    TASSIGN(b, 1024);
    TASSIGN(c, 2048);
    TASSIGN(d, 3072);
    TLOAD(a, memory);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TMOV(b, a);
    TADD(c, a, b);
    TMAX(c, c, b);
    TMIN(c, c, b);
    TMUL(d, c, b);
    TADDS(d, d, scalar);
    TMULS(d, d, scalar);
    TEXPANDS(b, scalar);
    pto::Tile<pto::TileType::Vec, float, 2, kCols> wide;
    TASSIGN(wide, 8192);
    TCVT(wide, d);
    pto::Tile<pto::TileType::Vec, T, 2, 32, pto::BLayout::RowMajor, 2, 1> sums;
    TASSIGN(sums, 16384);
    TROWSUM(sums, d);
    TROWSUM(sums, d, a);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID1);
    TSTORE(whole, d);
    pipe_barrier(PIPE_ALL);
    TPUT(memory, whole, c);
    TPUT<pto::AtomicType::AtomicAdd>(memory, whole, c);
    pto::comm::TPUT<pto::AtomicType::AtomicNone>(memory, whole, c);
    TGET(memory, whole, c);
}
extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
    auto* tensor = reinterpret_cast<__gm__ Tensor*>(args[0]);
    auto* context = reinterpret_cast<__gm__ CommContext*>(args[1]);
    void* data = reinterpret_cast<void*>(tensor->buffer.addr);
    if (tensor->dtype == DataType::FLOAT32) each_type(static_cast<float*>(data), 2.0f);
    if (tensor->dtype == DataType::FLOAT16) each_type(static_cast<half*>(data), half(2.0f));
    if (tensor->dtype == DataType::BFLOAT16) each_type(static_cast<bfloat16_t*>(data), bfloat16_t(2.0f));
    if (tensor->dtype == DataType::INT32) each_type(static_cast<int32_t*>(data), int32_t{2});
    if (tensor->dtype == DataType::INT16) each_type(static_cast<int16_t*>(data), int16_t{2});
    if (tensor->dtype == DataType::INT8) each_type(static_cast<int8_t*>(data), int8_t{2});
    if (tensor->dtype == DataType::UINT8) each_type(static_cast<uint8_t*>(data), uint8_t{2});
    auto* cells = reinterpret_cast<int32_t*>(context->windowsIn[context->rankId] + 1024);
    for (auto op : {pto::comm::NotifyOp::Set, pto::comm::NotifyOp::AtomicAdd}) {
        pto::comm::TNOTIFY(pto::comm::Signal(cells), 1, op);
    }
    using pto::comm::WaitCmp;
    pto::comm::Signal signal(cells);
    for (auto compare : {WaitCmp::EQ, WaitCmp::NE, WaitCmp::GT, WaitCmp::GE, WaitCmp::LT, WaitCmp::LE}) {
        TWAIT(signal, 2, compare);
    }
    for (pipe_t pipe : {PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL}) {
        pipe_barrier(pipe);
    }
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID7);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID7);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID6);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID6);
    dcci(cells, SINGLE_CACHE_LINE);
    dsb(DSB_DDR);
    if (get_block_idx() != 0) TTEST(signal, 1, WaitCmp::EQ);
}
)";

TEST(PtoHeaders, HaveEveryNameForEveryTypeOnEveryCompiler) {
    const KernelFolder folder;
    const std::string path = folder.write("names.cpp", kEveryName);
    for (const char* compiler : {"g++", "clang++"}) {
        KernelOptions options;
        options.compiler = compiler;
        std::vector<std::size_t> lengths;
        for (const char* type : {"f32", "f16", "bf16", "i32", "i16", "i8", "u8"}) {
            const Kernel kernel = Kernel::compile(path, options);
            const std::vector<Parameter> parameters = {
                parameter_from(fmt::format("window:{}[128]+signals:64x16", type), 1),
                parameter_from("context", 1)};
            lengths.push_back(trace(kernel, parameters, 1)[0].instructions.size());
        }
        EXPECT_GT(lengths[0], 30u);
        for (const std::size_t length : lengths) EXPECT_NEAR(length, lengths[0], 4) << compiler;
    }
}

// half and bfloat16_t convert like Peal's own kernels do, for every pattern of bits.
TEST(PtoHeaders, ConvertNarrowFloatsExactly) {
    const KernelFolder folder;
    const std::string path = folder.write_body(R"(
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        half h; h.bits = static_cast<uint16_t>(bits);
        const float wide = h;
        if (wide == wide && half(wide).bits != h.bits) throw 1;
        bfloat16_t b; b.bits = static_cast<uint16_t>(bits);
        const float wide_b = b;
        if (wide_b == wide_b && bfloat16_t(wide_b).bits != b.bits) throw 2;
    }
    if (half(65519.0f).bits != 0x7bff || half(65520.0f).bits != 0x7c00) throw 3;
    if (half(0x1p-25f).bits != 0 || half(0x1.8p-25f).bits != 1) throw 4;
    if (half(1.0f + 0x1p-11f).bits != 0x3c00 || half(1.0f + 0x1.8p-11f).bits != 0x3c01) throw 5;
    if (bfloat16_t(1.0f + 0x1p-8f).bits != 0x3f80 || bfloat16_t(1.0f + 0x1.8p-8f).bits != 0x3f81) throw 6;)");
    const Kernel kernel = Kernel::compile(path);
    EXPECT_EQ(error_of(folder, [&] { trace(kernel, {}, 1); }), "");
}

}  // namespace kernel_test
}  // namespace peal::pto
