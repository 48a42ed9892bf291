// SPDX-License-Identifier: Apache-2.0
// PTO kernels that cannot be used: exit code 2, and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/pto_kernels.hpp"

namespace peal::test {
namespace pto_bad_input_test {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kOnePhase = "examples/pto/allreduce_one_phase.cpp";

// What is said to stderr, with exit code 2 and nothing on stdout.
std::string complaint(const std::vector<std::string>& arguments) {
    const Ran ran = peal(arguments);
    EXPECT_EQ(ran.exit_code, 2) << ran.err;
    EXPECT_EQ(ran.out, "");
    return ran.err;
}

TEST(PtoBadInput, NoSuchFile) {
    for (const char* command : {"run", "check", "show"}) {
        EXPECT_EQ(complaint({command, "missing.cpp", "--as", "allreduce"}),
                  "peal: there is no file 'missing.cpp'\n");
    }
    EXPECT_EQ(complaint({"run", "missing.cxx"}), "peal: there is no file 'missing.cxx'\n");
}

TEST(PtoBadInput, NoArguments) {
    for (const char* command : {"run", "check", "show"}) {
        EXPECT_EQ(
            complaint({command, kOnePhase}),
            "peal: examples/pto/allreduce_one_phase.cpp: what are the kernel's arguments? Say "
            "--as allreduce (allgather, reduce_scatter, broadcast, all_to_all), or list them: "
            "--arg in:f32[256] --arg out:f32[256] --arg window:f32[256]+signals:2x16 --arg "
            "nranks --arg context\n");
    }
}

TEST(PtoBadInput, ArgumentsThatAreNone) {
    const auto argument = [](const std::string& text) {
        return complaint({"run", kOnePhase, "-n", "2", "--arg", text});
    };
    const std::string examples =
        "; examples: in:f32[256], out:f32[64*P], window:f32[256]+signals:2x16, scalar:7, nranks, "
        "context\n";
    EXPECT_EQ(argument("input:f32[4]"),
              "peal: --arg 'input:f32[4]': expected in, out, inout, window, scalar, address, "
              "nranks, rank, context or generation, found 'input:f32[4]'" +
                  examples);
    EXPECT_EQ(argument("in:f64[4]"),
              "peal: --arg 'in:f64[4]': expected an element type (f32 f16 bf16 i32 i16 i8 u8), "
              "found 'f64[4]'" +
                  examples);
    EXPECT_EQ(argument("in:f32[0]"),
              "peal: --arg 'in:f32[0]': expected a number of elements from 1 to 2147483648, found "
              "'0]'" +
                  examples);
    EXPECT_EQ(
        argument("in:f32[P-2]"),
        "peal: --arg 'in:f32[P-2]': expected a number of elements from 1 to 2147483648, found "
        "'P-2]'" +
            examples);
    EXPECT_EQ(argument("window:f32[4]+signals:0x16"),
              "peal: --arg 'window:f32[4]+signals:0x16': expected a number of rows from 1 to "
              "1048576, found '0x16'" +
                  examples);
    EXPECT_EQ(argument("in"), "peal: --arg 'in': expected ':', found the end" + examples);
}

TEST(PtoBadInput, MeaningsThatDoNotFit) {
    const auto as = [](std::vector<std::string> more) {
        more.insert(more.begin(), {"run", kOnePhase, "-n", "2"});
        return complaint(more);
    };
    EXPECT_EQ(as({"--as", "sum"}),
              "peal: --as: there is no collective 'sum'; choose one of allreduce, allgather, "
              "reduce_scatter, broadcast, all_to_all\n");
    EXPECT_EQ(as({"--as", "gather"}),
              "peal: there is no argument list for gather: expected allreduce, allgather, "
              "reduce_scatter, broadcast or all_to_all, or arguments with --arg\n");
    EXPECT_EQ(as({"--as", "allreduce", "--count", "0"}),
              "peal: --count: expected at least 1 element for a PTO kernel, found 0\n");
    EXPECT_EQ(as({"--as", "allreduce", "--dtype", "f64"}),
              "peal: PTO kernels have no f64: expected f32 f16 bf16 i32 i16 i8 or u8\n");
    EXPECT_EQ(as({"--as", "broadcast", "--root", "2"}),
              "peal: broadcast: root must be 0..1, found 2\n");
    EXPECT_EQ(as({"--as", "allreduce", "--expect", "allreduce"}),
              "peal: --expect is for .peal kernels; for a PTO kernel say --as\n");
    EXPECT_EQ(as({"--as", "allreduce", "--set", "n=3"}),
              "peal: --set is for .peal kernels; a PTO kernel takes scalars as --arg scalar:7\n");
    EXPECT_EQ(as({"--as", "allreduce", "--in-place"}),
              "peal: --in-place and --window are for collectives; a PTO kernel takes --arg "
              "inout:f32[256]\n");
}

TEST(PtoBadInput, PortsThatAreMissingOrOfTheWrongSize) {
    const TemporaryFile nothing("nothing.cpp",
                                "#include \"pto/pto-inst.hpp\"\n"
                                "extern \"C\" void kernel_entry(int64_t*) {}\n");
    const auto as = [&](const std::string& collective, const std::vector<std::string>& list) {
        std::vector<std::string> arguments = {"run", nothing.path(), "-n", "2", "--as", collective};
        for (const std::string& each : list) arguments.insert(arguments.end(), {"--arg", each});
        return complaint(arguments);
    };
    EXPECT_EQ(as("allreduce", {"in:f32[4]"}),
              "peal: kernel nothing has no argument to write: its meaning cannot be checked\n");
    EXPECT_EQ(as("allreduce", {"out:f32[4]"}),
              "peal: kernel nothing has no argument to read: its meaning cannot be checked\n");
    EXPECT_EQ(as("allreduce", {"nranks"}),
              "peal: kernel nothing has no window: its meaning cannot be checked\n");
    EXPECT_EQ(as("allgather", {"in:f32[4]", "out:f32[4]"}),
              "peal: --as allgather: output 'out' of rank 0 has 4 elements, expected 8\n");
    EXPECT_EQ(as("sum", {"in:f32[4]"}),
              "peal: --as: there is no collective 'sum'; choose one of allreduce, reduce_scatter, "
              "allgather, broadcast, all_to_all, all_to_all_v, allgather_v, reduce_scatter_v, "
              "reduce, gather, scatter, scan, exscan, barrier\n");
}

TEST(PtoBadInput, RankCounts) {
    const auto ranks = [](std::vector<std::string> more) {
        more.insert(more.begin(), {"run", kOnePhase, "--as", "allreduce"});
        return complaint(more);
    };
    EXPECT_EQ(ranks({"-n", "0"}), "peal: -n: expected 1..64 ranks for a PTO kernel, found 0\n");
    EXPECT_EQ(ranks({"-n", "65"}), "peal: -n: expected 1..64 ranks for a PTO kernel, found 65\n");
    EXPECT_EQ(ranks({"-n", "1", "-p", "a2a3sim"}),
              "peal: -n: expected 2..16 ranks on a2a3sim, found 1\n");
    EXPECT_EQ(ranks({"-n", "17", "-p", "a5sim"}),
              "peal: -n: expected 2..16 ranks on a5sim, found 17\n");
    EXPECT_EQ(ranks({"-d", "3"}),
              "peal: devices '3': expected 2..16 devices, found 1; write for example 0-3 or "
              "0,2,4\n");
    EXPECT_EQ(complaint({"check", kOnePhase, "--as", "allreduce", "-n", "63..65", "--max-states",
                         "1", "-p", "a2a3sim"}),
              "peal: -n: expected 2..16 ranks on a2a3sim, found 63\n");
}

TEST(PtoBadInput, Devices) {
    const auto device = [](std::vector<std::string> more) {
        more.insert(more.begin(), {"check", kOnePhase, "--as", "allreduce"});
        return complaint(more);
    };
    EXPECT_EQ(device({"--device", "a3"}),
              "peal: there is no device 'a3'; choose one of host, a2a3, a5\n");
    EXPECT_EQ(device({"--device", "a2a3", "-p", "a5sim"}),
              "peal: -p a5sim and --device a2a3 disagree\n");
    EXPECT_EQ(device({"-p", "a5"}),
              "peal: there is no platform 'a5'; choose one of host, a2a3sim, a5sim\n");
}

TEST(PtoBadInput, OptionsOfPtoKernelsForOtherTargets) {
    const auto other = [](const std::string& option, const std::string& value) {
        return complaint({"run", "allreduce", option, value});
    };
    const std::string rest =
        " is for PTO kernels, files that end in .cpp, .cc or .cxx; found 'allreduce'\n";
    EXPECT_EQ(other("--as", "allreduce"), "peal: --as" + rest);
    EXPECT_EQ(other("--arg", "nranks"), "peal: --arg" + rest);
    EXPECT_EQ(other("--cxx", "g++"), "peal: --cxx" + rest);
    EXPECT_EQ(other("-I", "."), "peal: -I" + rest);
    EXPECT_EQ(other("-D", "X"), "peal: -D" + rest);
}

TEST(PtoBadInput, ShowHasOnlyPlans) {
    for (const char* form : {"--ir", "--lowered", "--after=Simplify", "--passes"}) {
        EXPECT_EQ(complaint({"show", kOnePhase, "--as", "allreduce", form}),
                  "peal: --ir, --lowered, --after and --passes are for programs; a PTO kernel has "
                  "plans\n");
    }
}

TEST(PtoBadInput, DoesNotCompile) {
    const TemporaryFile file("broken.cpp",
                             "extern \"C\" void kernel_entry(int64_t* args) { oops; }\n");
    const std::string message = complaint({"run", file.path(), "--as", "allreduce"});
    EXPECT_THAT(message, StartsWith(file.path() + " does not compile with "));
    EXPECT_THAT(message, AllOf(HasSubstr("broken.cpp:1:"), HasSubstr("error: ")));
    EXPECT_EQ(
        complaint({"run", kOnePhase, "--as", "allreduce", "--cxx", "no-such-compiler"}),
        "peal: there is no compiler 'no-such-compiler': install g++ or clang, or name another "
        "one with --cxx\n");
}

TEST(PtoBadInput, HasNoEntry) {
    const TemporaryFile file("headless.cpp",
                             "#include \"pto/pto-inst.hpp\"\nvoid kernel_entry(int64_t*) {}\n");
    EXPECT_EQ(
        complaint({"check", file.path(), "--as", "allreduce"}),
        file.path() + " has no entry: expected extern \"C\" void kernel_entry(int64_t* args)\n");
}

TEST(PtoBadInput, NotTraceable) {
    const TemporaryFile file("peeks.cpp",
                             pto_kernel("    if (in[3] > 0) pipe_barrier(PIPE_ALL);\n"));
    const std::string message =
        complaint({"run", file.path(), "-n", "2", "--as", "allreduce", "--count", "64"});
    EXPECT_THAT(message,
                StartsWith(file.path() + ", rank 0: not traceable: the kernel itself reads "));
    EXPECT_THAT(message, HasSubstr("peeks.cpp:" + std::to_string(kBodyLine)));
}

// The calls that are claimed are traced, each of them: generation 50 is the 51st.
TEST(PtoBadInput, DoesNotGrowByAConstant) {
    const TemporaryFile file(
        "leaps.cpp", pto_kernel("    TNOTIFY(row(context->rankId, 0), args[5] == 50 ? 7 : args[5], "
                                "NotifyOp::Set);\n"));
    const auto calls = [&](const char* command, const char* number) {
        return std::vector<std::string>{command,     file.path(), "-n", "1",       "--as",
                                        "allreduce", "--count",   "64", "--calls", number};
    };
    for (const char* command : {"check", "run"}) {
        EXPECT_EQ(complaint(calls(command, "51")),
                  "leaps.cpp:" + std::to_string(kBodyLine) +
                      ", rank 0: TNOTIFY: the value is 0 and 1 in generations 0 and 1, and 7 in "
                      "generation 50, not 50: it must grow by a constant from one call on a window "
                      "to the next\n");
        EXPECT_EQ(peal(calls(command, "50")).exit_code, 1);  // traced; it is no allreduce
    }
}

TEST(PtoBadInput, NeverReturns) {
    const TemporaryFile file("spins.cpp", pto_kernel("    for (volatile int i = 0;;) i = 1;\n"));
    std::string found;
    int tenths = 1;
    do {  // on a busy machine it may not have begun by then
        tenths *= 2;
        found = complaint({"run", file.path(), "-n", "2", "--as", "allreduce", "--trace-timeout",
                           fmt::format("{:.1f}", 0.1 * tenths)});
    } while (found.find("cannot be loaded") != found.npos && tenths < 600);
    EXPECT_EQ(found, fmt::format("{}, rank 0: the kernel does not return: it was stopped after {} "
                                 "ms; it issued no instruction\n",
                                 file.path(), 100 * tenths));
    EXPECT_EQ(
        complaint({"run", file.path(), "-n", "2", "--as", "allreduce", "--trace-timeout", "0"}),
        "peal: --trace-timeout: expected more than 0 seconds, found 0\n");
}

}  // namespace pto_bad_input_test
}  // namespace peal::test
