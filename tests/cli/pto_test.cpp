// SPDX-License-Identifier: Apache-2.0
// PTO kernels from the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "cli/pto_kernels.hpp"

namespace peal::test {
namespace pto_test {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kOnePhase = "examples/pto/allreduce_one_phase.cpp";

const std::string kCopy = pto_kernel(R"(    Global from(in), to(out);
    TLOAD(a, from);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(to, a);
)");
const std::vector<std::string> kCopyArguments = {"--arg", "in:f32[64]", "--arg", "out:f32[64]"};

Ran peal_with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return peal(arguments);
}

struct Example {
    std::string kernel, collective;
};
const std::vector<Example> kExamples = {
    {"allreduce_one_phase", "allreduce"}, {"allreduce_two_phase", "allreduce"},
    {"allreduce_ring", "allreduce"},      {"allreduce_bidirectional_ring", "allreduce"},
    {"allgather", "allgather"},           {"reduce_scatter", "reduce_scatter"},
    {"broadcast", "broadcast"},           {"all_to_all", "all_to_all"},
};

class PtoExamples : public ::testing::TestWithParam<Example> {
protected:
    const std::string path_ = "examples/pto/" + GetParam().kernel + ".cpp";
    Ran peal_as(const std::string& command, const std::vector<std::string>& more) {
        return peal_with({command, path_, "--as", GetParam().collective}, more);
    }
};

TEST_P(PtoExamples, AreProvedUnderBothOrders) {
    const Ran ran = peal_as("check", {"-n", "2..4", "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out,
                AllOf(HasSubstr(R"("verdict": "proved")"), HasSubstr(R"("memory_order": "any")")));
}

TEST_P(PtoExamples, GiveGoldenInProcess) {
    for (const char* ranks : {"2", "3", "4", "16"}) {
        const Ran ran = peal_as("run", {"-n", ranks, "--calls", "3"});
        EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
        EXPECT_THAT(ran.out, AllOf(HasSubstr(GetParam().kernel + " as " + GetParam().collective),
                                   HasSubstr("  ok  "), HasSubstr("  proved  ")));
    }
}

TEST_P(PtoExamples, GiveGoldenInProcesses) {
    for (const char* ranks : {"2", "4"}) {
        const Ran ran = peal_as("run", {"-n", ranks, "--calls", "20", "--processes"});
        EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
        EXPECT_EQ(ran.err, "");
        EXPECT_THAT(ran.out, HasSubstr("  ok  "));
    }
}

TEST_P(PtoExamples, ProveOnBothDevices) {
    for (const char* device : {"a2a3", "a5"}) {
        const Ran ran = peal_as("check", {"-n", "2..5", "--device", device});
        EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
        EXPECT_THAT(ran.out, HasSubstr("  2..5  "));
    }
}

INSTANTIATE_TEST_SUITE_P(Pto, PtoExamples, ::testing::ValuesIn(kExamples),
                         [](const auto& info) { return info.param.kernel; });

TEST(PtoRun, TakesCountTypeAndRoot) {
    EXPECT_EQ(peal({"run", kOnePhase, "--as", "allreduce", "-n", "3", "--count", "1001"}).exit_code,
              0);
    const Ran ran = peal({"run", "examples/pto/broadcast.cpp", "--as", "broadcast", "-p", "a5sim",
                          "-d", "0-3", "--root", "2", "--json"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, AllOf(HasSubstr("\"target\": \"broadcast as broadcast\""),
                               HasSubstr("\"elements\": 64"), HasSubstr("\"golden\": \"ok\""),
                               HasSubstr("\"proof\": \"proved\"")));
}

TEST(PtoRun, ShowsTheOutputsOfAKernelThatMeansNothingKnown) {
    const TemporaryFile file("copy.cpp", kCopy);
    for (const bool in_processes : {false, true}) {
        std::vector<std::string> arguments = {"run", file.path(), "-n", "2"};
        if (in_processes) arguments.push_back("--processes");
        const Ran ran = peal_with(arguments, kCopyArguments);
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        EXPECT_THAT(ran.out, StartsWith("rank 0  out[64] = 0 1 2 3 4 5 6 7 ...\n"
                                        "rank 1  out[64] = 100 101 102 103 104 105 106 107 ...\n"
                                        "copy on 2 ranks: 1 call, "));
        EXPECT_THAT(ran.out,
                    HasSubstr("; proof: proved, protocol only; not compared (use --as)\n"));
    }
}

// Stores are issued before the loads that they wait for: the order of the list is not the order of
// the work.
TEST(PtoRun, FlagsMayBeAwaitedBeforeTheyAreSet) {
    const TemporaryFile file("late.cpp", pto_kernel(R"(    const int me = context->rankId;
    auto move = [&](float* to, float* from) {
        Global source(from), target(to);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        TSTORE(target, a);
        TLOAD(a, source);
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        pipe_barrier(PIPE_ALL);
    };
    const int g = args[5];
    TWAIT(row(me, 1 - me), 2 * g, WaitCmp::GE);
    move(window, in);
    dsb(DSB_DDR);
    TNOTIFY(row(1 - me, me), 2 * g + 1, NotifyOp::Set);
    TWAIT(row(me, 1 - me), 2 * g + 1, WaitCmp::GE);
    for (int peer = 0; peer < 2; ++peer) {
        auto mine = reinterpret_cast<uint64_t>(window) - context->windowsIn[me];
        move(out + 64 * peer, reinterpret_cast<float*>(context->windowsIn[peer] + mine));
    }
    TNOTIFY(row(1 - me, me), 2 * g + 2, NotifyOp::Set);
)"));
    const std::vector<std::string> kernel = {file.path(), "--as",    "allgather", "-n",
                                             "2",         "--calls", "3"};
    EXPECT_EQ(peal_with({"check"}, kernel).exit_code, 0);
    for (const std::vector<std::string>& where : std::vector<std::vector<std::string>>{
             {"run"}, {"run", "--seed", "1"}, {"run", "--processes"}, {"run", "-p", "a2a3sim"}}) {
        const Ran ran = peal_with(where, kernel);
        EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
        EXPECT_THAT(ran.out, AllOf(HasSubstr("  ok  "), HasSubstr("  proved  ")));
    }
}

TEST(PtoRun, RefusesFlagsThatAreNeverSet) {
    const TemporaryFile file("stuck.cpp", pto_kernel(R"(    Global from(in), to(out);
    TLOAD(a, from);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(to, a);
)"));
    const Ran ran = peal_with({"run", file.path(), "-n", "2"}, kCopyArguments);
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err, "plan stuck, rank 0 of 2, instruction 1 (" + file.path() + ":" +
                           std::to_string(kBodyLine + 2) +
                           "), wait_flag MTE2 -> MTE3, event 0: it waits for ever: nobody sets "
                           "its flag\n");
    const Ran checked = peal_with({"run", file.path(), "-n", "2", "--check"}, kCopyArguments);
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_THAT(checked.err, StartsWith("peal: not run: flag: "));
}

TEST(PtoRun, ArgumentsAndMeaningTogether) {
    const TemporaryFile file("copy.cpp", kCopy);
    const Ran ran = peal_with({"run", file.path(), "-n", "2", "--as", "allreduce", "--op", "max"},
                              kCopyArguments);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("copy as allreduce"), HasSubstr("WRONG")));
    EXPECT_THAT(ran.err, StartsWith("peal: wrong result: call 0: rank 0: element "));
}

// The compiler's options reach it.
TEST(PtoRun, DefinesAndDirectories) {
    const TemporaryFile header("answer.hpp", "inline constexpr int kAnswer = 42;\n");
    const TemporaryFile file("copy.cpp",
                             "#include \"answer.hpp\"\nstatic_assert(kAnswer == WANTED);"
                             "\n#ifndef GIVEN\n#error missing\n#endif\n" +
                                 kCopy);
    const Ran ran = peal_with({"run", "-I", header.directory(), "-DGIVEN", "-D", "WANTED=42",
                               file.path(), "-n", "2", "--cxx", "c++"},
                              kCopyArguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

TEST(PtoShow, PlanHasPipesFlagsAndLines) {
    const TemporaryFile file("copy.cpp", kCopy);
    const Ran ran =
        peal_with({"show", file.path(), "-n", "2", "--plan", "--rank", "1"}, kCopyArguments);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("copy tile[0..256) <- in[0..256)"));
    EXPECT_THAT(ran.out, HasSubstr("set_flag"));
    EXPECT_THAT(ran.out, HasSubstr("line " + std::to_string(kBodyLine + 1) + "\n"));
}

TEST(PtoShow, JsonCanBeChecked) {
    const TemporaryFile file("copy.cpp", kCopy);
    const Ran shown = peal_with({"show", file.path(), "-n", "2", "--json"}, kCopyArguments);
    const TemporaryFile plans("plans.json", shown.out);
    const Ran ran = peal({"check", plans.path(), "--device", "a2a3"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST(PtoCheck, ReportNamesTheLine) {
    const TemporaryFile file("early.cpp", pto_kernel(R"(    Global from(in), to(out);
    TLOAD(a, from);
    TSTORE(to, a);
)"));
    const Ran ran = peal_with({"check", file.path(), "-n", "2"}, kCopyArguments);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, HasSubstr("pipe hazard: "));
    EXPECT_THAT(ran.out,
                HasSubstr("early.cpp:" + std::to_string(kBodyLine + 1) + ": TLOAD(a, from);\n"));
    EXPECT_THAT(ran.out,
                HasSubstr("early.cpp:" + std::to_string(kBodyLine + 2) + ": TSTORE(to, a);\n"));
}

TEST(PtoCheck, WrongMeaningIsFound) {
    const TemporaryFile file("copy.cpp", kCopy);
    const Ran ran =
        peal_with({"check", file.path(), "-n", "2", "--as", "allreduce"}, kCopyArguments);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, HasSubstr("wrong result: "));
    EXPECT_EQ(
        peal_with({"check", file.path(), "-n", "1", "--as", "allreduce"}, kCopyArguments).exit_code,
        0);
}

// Each device has its rules; a platform is a device too.
TEST(PtoCheck, DevicesHaveTheirRules) {
    const TemporaryFile file("two.cpp", pto_kernel(R"(    Global from(in), to(out);
    TLOAD(a, from);
    TLOAD(b, from);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(a, a, b);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(to, a);
)"));
    const auto check = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"check", file.path()});
        Ran ran = peal_with(more, kCopyArguments);
        EXPECT_EQ(ran.err, "");
        return ran;
    };
    const std::string message =
        "rank 0: `copy tile[1024..1280) <- in[0..256) on MTE2` is issued while the load of "
        "instruction 0 is outstanding: the device takes one at a time; await its flag first";
    const std::string warning =
        "\n\nwarning: " + message + "\n      " + file.path() + ":" + std::to_string(kBodyLine + 2) +
        ": TLOAD(b, from);\n--strict-loads makes this an error, --outstanding-loads says nothing "
        "of it\n";
    // It is told, and proved nevertheless.
    for (const std::vector<std::string>& device :
         {std::vector<std::string>{}, {"--device", "a2a3"}, {"-p", "a2a3sim"}}) {
        const Ran ran = check(device);
        EXPECT_EQ(ran.exit_code, 0) << ran.out;
        EXPECT_THAT(ran.out, HasSubstr("  proved  "));
        EXPECT_THAT(ran.out, HasSubstr("\n\nwarning: " + message + "\n"));
    }
    EXPECT_THAT(check({"-n", "1"}).out, EndsWith(warning));
    // It is an error on request.
    const Ran strict = check({"--strict-loads"});
    EXPECT_EQ(strict.exit_code, 1);
    EXPECT_THAT(strict.out, HasSubstr("\n\npipe hazard: " + message + "\n"));
    EXPECT_THAT(strict.out, Not(HasSubstr("warning")));
    // It is none where it may be.
    for (const std::vector<std::string>& fine : {std::vector<std::string>{"--outstanding-loads"},
                                                 {"--device", "a5", "--strict-loads"},
                                                 {"--device", "a5"},
                                                 {"--device", "host"},
                                                 {"-p", "a5sim"}}) {
        const Ran ran = check(fine);
        EXPECT_EQ(ran.exit_code, 0) << ran.out;
        EXPECT_THAT(ran.out, Not(HasSubstr("warning")));
    }
    const Ran json = check({"--json"});
    EXPECT_EQ(json.exit_code, 0);
    EXPECT_THAT(json.out, HasSubstr("\"verdict\": \"proved\""));
    EXPECT_THAT(json.out, HasSubstr("\"warnings\": [\n      {\n        \"kind\": \"pipe hazard\",\n"
                                    "        \"message\": \"" +
                                    message + "\",\n"));
    EXPECT_THAT(check({"--json", "--outstanding-loads"}).out, Not(HasSubstr("warnings")));
    const Ran both = peal({"check", file.path(), "--strict-loads", "--outstanding-loads"});
    EXPECT_EQ(both.exit_code, 2);
    EXPECT_EQ(both.err, "peal: --outstanding-loads and --strict-loads disagree\n");
}

// A run proves first, by the same rules.
TEST(PtoRun, LoadsAreStrictOnRequest) {
    const TemporaryFile file("two.cpp", pto_kernel(R"(    Global from(in), to(out);
    TLOAD(a, from);
    TLOAD(b, from);
    pipe_barrier(PIPE_ALL);
    TSTORE(to, b);
)"));
    EXPECT_EQ(peal_with({"run", file.path(), "-n", "1", "--check"}, kCopyArguments).exit_code, 0);
    const Ran ran =
        peal_with({"run", file.path(), "-n", "1", "--check", "--strict-loads"}, kCopyArguments);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.err, StartsWith("peal: not run: pipe hazard: rank 0: `copy tile[1024..1280)"));
}

// A window that was used before is not zeroed: --calls 1 is the first call only.
TEST(PtoCheck, CallsInARow) {
    const TemporaryFile file("once.cpp", pto_kernel(R"(    int me = context->rankId;
    for (int r = 0; r < args[3]; ++r) TNOTIFY(row(r, me), 1, NotifyOp::Set);
    for (int r = 0; r < args[3]; ++r) TWAIT(row(me, r), 1, WaitCmp::GE);
)"));
    const std::vector<std::string> arguments = {
        "--arg", "in:f32[64]", "--arg", "out:f32[64]", "--arg", "window:f32[64]+signals:Px16",
        "--arg", "nranks",     "--arg", "context"};
    EXPECT_EQ(peal_with({"check", file.path(), "-n", "2..3", "--calls", "1"}, arguments).exit_code,
              0);
    const Ran ran = peal_with({"check", file.path(), "-n", "2..3", "--calls", "2"}, arguments);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, HasSubstr("stale signal: "));
    EXPECT_THAT(ran.out, HasSubstr("once.cpp:" + std::to_string(kBodyLine + 2) + ": "));
}

TEST(PtoCheck, ARefutedKernelIsDrawnAndNotRun) {
    const TemporaryFile file("early.cpp", pto_kernel("    Global from(in), to(out);\n"
                                                     "    TLOAD(a, from);\n    TSTORE(to, a);\n"));
    const std::string picture = file.directory() + "/hazard.svg";
    EXPECT_EQ(
        peal_with({"check", file.path(), "-n", "2", "--svg", picture}, kCopyArguments).exit_code,
        1);
    EXPECT_THAT(read_file(picture), StartsWith("<svg"));
    const Ran ran = peal_with({"run", file.path(), "-n", "2", "--check"}, kCopyArguments);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, StartsWith("peal: not run: pipe hazard: "));
}

// A wait that nobody rings for.
TEST(PtoRun, DeadlocksAreReported) {
    const TemporaryFile file("stuck.cpp",
                             pto_kernel("    TWAIT(row(context->rankId, 1), 7, WaitCmp::GE);\n"));
    const std::vector<std::string> arguments = {
        "--arg", "in:f32[64]", "--arg", "out:f32[64]", "--arg", "window:f32[64]+signals:Px16",
        "--arg", "nranks",     "--arg", "context"};
    const Ran in_process = peal_with({"run", file.path(), "-n", "2"}, arguments);
    EXPECT_EQ(in_process.exit_code, 1);
    EXPECT_THAT(in_process.err,
                AllOf(HasSubstr("deadlock"), HasSubstr("stuck.cpp:" + std::to_string(kBodyLine))));
    const Ran in_processes = peal_with({"run", file.path(), "-n", "2", "--processes"}, arguments);
    EXPECT_EQ(in_processes.exit_code, 1);
    EXPECT_THAT(in_processes.err,
                AllOf(HasSubstr("deadlock: no rank"), HasSubstr("wait signals[16] >= 7"),
                      HasSubstr("stuck.cpp:" + std::to_string(kBodyLine)), HasSubstr("sees 0")));
}

// What --as gives may not be what the kernel takes.
TEST(PtoCheck, SaysWhoseArgumentsAreOutOfRange) {
    const TemporaryFile file("longer.cpp", pto_kernel("    Global from(in), to(window + 64);\n"
                                                      "    TLOAD(a, from);\n    TSTORE(to, a);\n"));
    const Ran ran = peal({"check", file.path(), "-n", "2", "--as", "allreduce", "--count", "64"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("out of range: "),
                               HasSubstr("\nthe kernel was given the arguments of --as allreduce; "
                                         "if it takes others, list them: --arg\n")));
}

// ---------------------------------------------------------------------------- orders

TEST(PtoOrder, IsPartOfTheVerdict) {
    const std::vector<std::string> check = {"check",   "tests/museum/pto/drained_not_fenced.cpp",
                                            "-n",      "2",
                                            "--as",    "allreduce",
                                            "--count", "64"};
    const Ran drained = peal_with(check, {"--order", "drained", "--json"});
    EXPECT_EQ(drained.exit_code, 0) << drained.err;
    EXPECT_THAT(drained.out, HasSubstr(R"("memory_order": "drained")"));
    const Ran fenced = peal_with(check, {"--order", "fenced"});
    EXPECT_EQ(fenced.exit_code, 1);
    EXPECT_THAT(fenced.out, AllOf(HasSubstr("violated (fenced)"), Not(HasSubstr("drained,"))));
    const Ran both = peal_with(check, {});
    EXPECT_EQ(both.exit_code, 1);
    EXPECT_THAT(both.out, HasSubstr("proved under drained, refuted under fenced: data race: "));
    const Ran annotated = peal_with(check, {"--github"});
    EXPECT_THAT(annotated.out + annotated.err,
                HasSubstr("::proved under drained, refuted under fenced: rank "));
    // A run says which of them its proof is about.
    std::vector<std::string> run = check;
    run[0] = "run";
    EXPECT_THAT(peal_with(run, {}).out, HasSubstr("  ok      proved (drained)  "));
    EXPECT_THAT(peal_with(run, {"--json"}).out, HasSubstr(R"("memory_order": "drained")"));
    const Ran refused = peal_with(run, {"--order", "fenced", "--check"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_THAT(refused.err, HasSubstr("not run: data race: "));
    EXPECT_THAT(peal_with(run, {"--order", "lazy"}).err,
                HasSubstr("--order: expected drained, fenced or both, found 'lazy'"));
    const Ran neither = peal_with(check, {"--order", "lazy"});
    EXPECT_EQ(neither.exit_code, 2);
    EXPECT_THAT(neither.err, HasSubstr("--order: expected drained, fenced or both, found 'lazy'"));
}

// ---------------------------------------------------------------------------- emitted kernels

// Emits into a file of its own, and says what the commands say of it.
class PtoEmitted : public ::testing::Test {
protected:
    std::string emitted(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "emit");
        arguments.insert(arguments.end(), {"-o", path_});
        const Ran ran = peal(arguments);
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        return ran.out;
    }
    void expect_round_trip(const std::string& meaning) {
        const Ran checked = peal({"check", path_, "-n", "2..5"});
        EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
        EXPECT_THAT(checked.out, AllOf(HasSubstr("  2..5  "), HasSubstr(meaning)));
        const Ran ran = peal({"run", path_, "-n", "4"});
        EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    }

    TemporaryFile file_{"emitted.cpp", ""};
    const std::string path_ = file_.path();
};

// A kernel for a5 needs more than another device has.
TEST_F(PtoEmitted, SayForWhichDeviceTheyAre) {
    emitted({"allreduce", "--recipe", "mesh", "--target", "a5"});
    expect_round_trip("  as allreduce, any order  ");
    EXPECT_EQ(peal({"check", path_, "-n", "2", "--device", "a5"}).exit_code, 0);
    const Ran other = peal({"check", path_, "-n", "2", "--device", "a2a3"});
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_THAT(other.out, HasSubstr("tile memory"));
}

TEST_F(PtoEmitted, NeedNoArgumentsOnTheCommandLine) {
    EXPECT_THAT(emitted({"broadcast", "--recipe", "pipeline"}),
                EndsWith("its arguments, which peal check, run and show read from it: in:f32[n] "
                         "out:f32[n] window:f32[max(stage,4)]+signals:Px16 nranks scalar:root "
                         "scalar:stage context generation\n"));
    expect_round_trip("  as broadcast  ");
    emitted({"allreduce", "--recipe", "halving_doubling", "--op", "max", "--dtype", "i32"});
    expect_round_trip("  as allreduce, any order  ");
    emitted({"barrier", "--recipe", "dissemination"});
    expect_round_trip("  as barrier  ");
    emitted({"examples/mesh_allreduce.peal"});
    expect_round_trip("  protocol only  ");
    emitted({"examples/mesh_allreduce.peal", "--expect", "allreduce"});
    expect_round_trip("  as allreduce, any order  ");
    EXPECT_THAT(peal({"run", path_, "-n", "4", "--json"}).out, HasSubstr("\"golden\": \"ok\""));
}

TEST_F(PtoEmitted, GiveWayToTheCommandLine) {
    emitted({"broadcast", "--recipe", "pipeline"});
    const Ran longer = peal({"run", path_, "-n", "3", "--count", "1000", "--root", "2", "--set",
                             "stage=96", "--calls", "3", "--json"});
    EXPECT_EQ(longer.exit_code, 0) << longer.out << longer.err;
    EXPECT_THAT(longer.out,
                AllOf(HasSubstr("\"elements\": 1000"), HasSubstr("\"golden\": \"ok\"")));
    // It is no such thing, and the list is another one.
    EXPECT_EQ(peal({"check", path_, "-n", "3", "--as", "reduce"}).exit_code, 1);
    const Ran other = peal({"check", path_, "-n", "3", "--arg", "in:f32[4]"});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_THAT(other.err,
                HasSubstr(", which is missing: it is given args[0] in; list what it takes "
                          "with --arg\n"));
    EXPECT_EQ(peal({"check", path_, "-n", "3", "--set", "m=4"}).err,
              "peal: --set m: no argument of the kernel speaks of 'm'\n");
    EXPECT_EQ(peal({"check", path_, "-n", "3", "--set", "stage=x"}).err,
              "peal: --set stage: 'x' is not an integer\n");
}

TEST_F(PtoEmitted, ExcludeTheRankCountsThatTheyRefuse) {
    const TemporaryFile program("even.peal",
                                "kernel even(inp: in f32[n], out: out f32[n]) {\n"
                                "    require nranks % 2 == 0\n"
                                "    out = inp\n"
                                "}\n");
    emitted({program.path()});
    const Ran some = peal({"check", path_, "-n", "2..5"});
    EXPECT_EQ(some.exit_code, 0) << some.err;
    EXPECT_THAT(some.out, AllOf(HasSubstr("  2, 4  "), HasSubstr("  3, 5  "),
                                HasSubstr("\nexcluded, for 3 ranks: rank 0 of 3: kernel_check "
                                          "refuses these arguments with 1, line ")));
    const Ran none = peal({"run", path_, "-n", "3"});
    EXPECT_EQ(none.exit_code, 2);
    EXPECT_THAT(none.err, HasSubstr("kernel_check refuses these arguments with 1\n"));
    EXPECT_THAT(none.err, HasSubstr("|     if (!(nranks % 2 == 0)) return 1;\n"));
}

TEST_F(PtoEmitted, AskForValuesThatNobodyGave) {
    const TemporaryFile program(
        "rows.peal", "kernel rows(inp: in f32[m, k], out: out f32[m, k]) { out = inp }\n");
    emitted({program.path()});
    EXPECT_EQ(peal({"check", path_, "-n", "2"}).err,
              "peal: --arg 'in:f32[m*k]': 'm' has no value; say --set m=<value>\n");
    EXPECT_EQ(peal({"check", path_, "-n", "2", "--set", "m=3", "k=5"}).exit_code, 0);
    emitted({program.path(), "--set", "m=3", "k=5"});
    expect_round_trip("  protocol only  ");
    EXPECT_EQ(peal({"emit", program.path(), "--set", "n=3"}).err,
              "peal: --set n: no argument of the kernel speaks of 'n'\n");
    EXPECT_THAT(
        peal({"emit", program.path(), "--expect", "sum"}).err,
        StartsWith("peal: --expect: there is no collective 'sum'; choose one of allreduce, "));
    EXPECT_EQ(peal({"emit", "allreduce", "--expect", "allreduce"}).err,
              "peal: --expect is for .peal kernels; a collective knows its own result\n");
}

}  // namespace pto_test
}  // namespace peal::test
