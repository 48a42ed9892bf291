// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "cli/document.hpp"
#include "cli/racy_kernel.hpp"
#include "peal/collective.hpp"
#include "support/patterns.hpp"

namespace peal::test {
namespace run_test {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::StartsWith;

TEST(PealRun, RingAllreduceGivesGolden) {
    const Ran ran = peal({"run", "allreduce", "--recipe", "ring", "-n", "4", "--count", "256"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, HasSubstr("allreduce   ring"));
    EXPECT_THAT(ran.out, HasSubstr("ok"));
}

// Each rank's part of a window is summed up where it is.
constexpr const char* kInItsWindow =
    R"(kernel held_sum(data: window f32[n], sig: window i32[nranks]) {
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    total = data@0
    for r in 1..nranks { total = total + data@r }
    for peer in peers { notify sig[rank]@peer = generation(sig) + 2 }
    for peer in peers { wait sig[peer] >= generation(sig) + 2 }
    data = total
    advance sig by 2
}
kernel held_copy(out: out f32[n], data: window f32[n], rest: window f32[n]) { out = data + rest }
)";

TEST(PealRun, OnWindowsThatHoldSomething) {
    const TemporaryFile file("held.peal", kInItsWindow);
    const auto run = [&](const std::string& kernel, std::vector<std::string> more) {
        std::vector<std::string> arguments = {
            "run", file.path() + ":" + kernel, "-n", "3", "--calls", "2"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return peal(arguments);
    };
    for (const std::vector<std::string>& where :
         std::vector<std::vector<std::string>>{{}, {"--processes"}}) {
        std::vector<std::string> arguments = {"--holds", "data", "--expect", "allreduce",
                                              "--check"};
        arguments.insert(arguments.end(), where.begin(), where.end());
        const Ran ran = run("held_sum", arguments);
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        EXPECT_THAT(ran.out, HasSubstr("ok      proved"));
    }
    const Ran ran = run("held_copy", {"--holds", "data", "--holds", "rest=zeros", "--count", "3"});
    EXPECT_THAT(ran.out, HasSubstr("rank 2  out[3] = 200 201 202\n"));
    EXPECT_THAT(ran.out, HasSubstr("proof: proved"));
}

TEST(PealRun, TakesTheOlderNameOfRecipe) {
    EXPECT_EQ(peal({"show", "allreduce", "--algo", "ring", "--lowered"}).out,
              peal({"show", "allreduce", "--recipe", "ring", "--lowered"}).out);
}

TEST(PealRun, EveryRecipeOnAllRanksOfTheSeeds) {
    for (const CollectiveKind kind : kCollectives) {
        for (const Recipe& recipe : recipes(kind)) {
            const Ran ran =
                peal({"run", std::string(name(kind)), "--recipe", std::string(recipe.name), "-p",
                      "a2a3sim", "-d", "0-3", "--count", "64", "--calls", "2"});
            EXPECT_EQ(ran.exit_code, 0) << name(kind) << " " << recipe.name << "\n" << ran.err;
        }
    }
}

TEST(PealRun, DevicesTellWhenEachTaskWasWhere) {
    const TemporaryFile place("place.txt", "");
    const std::string trace = place.directory() + "/trace.json";
    const Ran ran = peal({"run", "allreduce", "-p", "a2a3sim", "-d", "5-6", "--calls", "3",
                          "--timings", "--trace", trace});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("took us"));
    EXPECT_THAT(ran.err, HasSubstr("allreduce  2 ranks"));
    EXPECT_THAT(read_file(trace), HasSubstr("\"traceEvents\""));
    std::filesystem::remove(trace);
}

TEST(PealRun, AKernelThatCannotEndIsFoundOnDevices) {
    const TemporaryFile file("stuck.peal",
                             "kernel stuck(inp: in f32[n], out: out f32[n], sig: window "
                             "i32[nranks]) {\n    wait sig[0] >= 1\n    out = inp\n}\n");
    const Ran ran = peal({"run", file.path(), "-p", "a2a3sim", "-d", "0-1"});
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("wait sig[0] >= 1"));
}

TEST(PealRun, DevicesSelectRanks) {
    EXPECT_THAT(peal({"run", "broadcast", "-d", "5-6", "--json"}).out, HasSubstr("\"ranks\": 2"));
    EXPECT_THAT(peal({"run", "broadcast", "-d", "0,2,4", "--json"}).out, HasSubstr("\"ranks\": 3"));
}

struct Bad {
    std::vector<std::string> arguments;
    std::string message;
};

TEST(PealRun, BadUsageSaysWhatAndWhatToDo) {
    const std::vector<Bad> cases = {
        {{"run", "allreduce", "-d", ""},
         "peal: devices '': expected 2..16 devices, found 0; write for example 0-3 or 0,2,4\n"},
        {{"run", "allreduce", "--timings"},
         "peal: --timings and --trace are about devices: choose some with -p a2a3sim -d 0-3\n"},
        {{"run", "allreduce", "-p", "a2a3sim", "--seed", "1"},
         "peal: -p a2a3sim runs on devices; leave out --processes and --seed\n"},
        {{"run", "allreduce", "-d", "3"},
         "peal: devices '3': expected 2..16 devices, found 1; write for example 0-3 or 0,2,4\n"},
        {{"run", "allreduce", "-d", "0-16"},
         "peal: devices '0-16': expected 2..16 devices, found 17; write for example 0-3 or "
         "0,2,4\n"},
        {{"run", "allreduce", "-d", "3-1"},
         "peal: devices '3-1': the range 3-1 runs backwards; write for example 0-3 or 0,2,4\n"},
        {{"run", "allreduce", "-d", "0,0"},
         "peal: devices '0,0': device 0 appears twice; write for example 0-3 or 0,2,4\n"},
        {{"run", "allreduce", "-d", "a-b"},
         "peal: devices 'a-b': 'a' is not a device number (0..1023); write for example 0-3 or "
         "0,2,4\n"},
        {{"run", "allreduce", "-d", "0-3", "-n", "2"},
         "peal: -n 2 and -d 0-3 (4 devices) disagree\n"},
        {{"run", "allreduce", "-p", "gpu"},
         "peal: there is no platform 'gpu'; choose one of host, a2a3sim, a5sim\n"},
        {{"run", "allreduce", "-n", "0"}, "peal: -n: expected 1..1024 ranks, found 0\n"},
        {{"run", "allreduce", "--recipe", "star"},
         "peal: allreduce: there is no recipe 'star'; choose one of auto, mesh, two_phase, "
         "lanes, ring, bidirectional_ring, halving_doubling, direct, pipeline, push, pull, hosts, "
         "leaders\n"},
        {{"run", "allreduce", "--dtype", "f8"},
         "peal: --dtype: there is no element type 'f8'; choose one of f16, bf16, f32, f64, i8, "
         "i16, "
         "i32, i64, u8, u16, u32, u64\n"},
        {{"run", "allreduce", "--op", "avg"},
         "peal: --op: there is no reduction 'avg'; choose one of sum, prod, max, min\n"},
        {{"run", "broadcast", "-n", "4", "--root", "4"},
         "peal: broadcast: root must be 0..3, found 4\n"},
        {{"run", "allreduce", "--calls", "0"}, "peal: --calls: expected at least 1, found 0\n"},
        {{"run", "nothing"},
         "peal: 'nothing' is neither a collective nor a .peal, .cpp or .xml file; collectives are "
         "allreduce, "
         "reduce_scatter, allgather, broadcast, all_to_all, all_to_all_v, allgather_v, "
         "reduce_scatter_v, reduce, gather, scatter, scan, exscan, barrier\n"},
        {{"run", "missing.peal"}, "peal: cannot read 'missing.peal': No such file or directory\n"},
        {{"run", "examples/composite.peal"},
         "peal: examples/composite.peal has 7 kernels; say which: examples/composite.peal:mesh or "
         "examples/composite.peal:ring or examples/composite.peal:broadcast_from or "
         "examples/composite.peal:exchange or examples/composite.peal:collect or "
         "examples/composite.peal:add_and_share or examples/composite.peal:average_step\n"},
        {{"run", "examples/composite.peal:no", "-n", "2"},
         "peal: examples/composite.peal has no kernel 'no'; it has mesh, ring, broadcast_from, "
         "exchange, collect, add_and_share, average_step\n"},
        {{"run", "examples/mesh_allreduce.peal", "--set", "n"},
         "peal: --set 'n': expected name=value\n"},
        {{"run", "examples/mesh_allreduce.peal", "--set", "n=x"},
         "peal: --set n: 'x' is not an integer\n"},
        {{"run", "examples/mesh_allreduce.peal", "--expect", "sum"},
         "peal: --expect: there is no collective 'sum'; choose one of allreduce, reduce_scatter, "
         "allgather, broadcast, all_to_all, all_to_all_v, allgather_v, reduce_scatter_v, reduce, "
         "gather, scatter, scan, exscan, barrier\n"},
        {{"run", "examples/mesh_allreduce.peal", "--expect", "allgather", "-n", "2"},
         "peal: --expect allgather: output 'out' of rank 0 has 256 elements, expected 512\n"},
        {{"run", "all_to_all_v", "-n", "2", "--set", "counts=1,2,3"},
         "peal: all_to_all_v: counts must have 4 entries (one for each pair of 2 ranks), found "
         "3\n"},
        {{"run", "all_to_all_v", "-n", "2", "--set", "counts=1,2,3,-4"},
         "peal: all_to_all_v: counts must not be negative, found -4\n"},
        {{"run", "allgather_v", "-n", "2", "--set", "counts=1,2,3,4"},
         "peal: allgather_v: counts must have 2 entries (one for each of 2 ranks), found 4\n"},
        {{"show", "allreduce", "--rank", "4"}, "peal: --rank: expected 0..3, found 4\n"},
        {{"show", "allreduce", "--ir", "--json"},
         "peal: --json goes with --plan; --ir, --lowered, --after and --passes print text\n"},
        {{"show", "allreduce", "--after", "Lower"},
         "peal: --after: there is no pass 'Lower'; the passes are InlineCalls, "
         "ConvertTensorToTileOps, LowerCompositeOps, Simplify\n"},
    };
    for (const Bad& bad : cases) {
        const Ran ran = peal(bad.arguments);
        EXPECT_EQ(ran.exit_code, 2) << bad.message;
        EXPECT_EQ(ran.err, bad.message);
        EXPECT_EQ(ran.out, "");
    }
}

TEST(PealRun, UnknownOptionsAndCommandsAreBadUsage) {
    EXPECT_EQ(peal({}).exit_code, 2);
    EXPECT_EQ(peal({"fly"}).exit_code, 2);
    EXPECT_EQ(peal({"run"}).exit_code, 2);
    EXPECT_EQ(peal({"run", "allreduce", "--fast"}).exit_code, 2);
    EXPECT_EQ(peal({"run", "allreduce", "--count", "-1"}).exit_code, 2);
}

TEST(PealRun, HelpHasExamples) {
    for (const char* command : {"run", "show", "check"}) {
        const Ran ran = peal({command, "--help"});
        EXPECT_EQ(ran.exit_code, 0);
        EXPECT_THAT(ran.out, HasSubstr(std::string("peal ") + command + " "));
        EXPECT_THAT(ran.out, HasSubstr("Examples:"));
    }
}

TEST(PealRun, ErrorsInAProgramAreShownInPlace) {
    const TemporaryFile file("bad.peal", "kernel k(out: out f32[n]) {\n    out = missing\n}\n");
    const Ran ran = peal({"run", file.path()});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, StartsWith(file.path() + ":2:11: error: "));
    EXPECT_THAT(ran.err, HasSubstr("    out = missing\n"));
}

TEST(PealRun, WrongResultIsExitCodeOne) {
    const TemporaryFile file(
        "wrong.peal", "kernel wrong(inp: in f32[n], out: out f32[n]) {\n    out = inp + inp\n}\n");
    const Ran ran = peal({"run", file.path(), "-n", "3", "--set", "n=4", "--expect", "allreduce"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, HasSubstr("WRONG"));
    EXPECT_EQ(ran.err,
              "peal: wrong result: call 0: rank 0: element 0 is 0, expected 300 (4 of 4 differ)\n");
}

TEST(PealRun, DeadlockIsExitCodeOneAndNamesWhoShouldRing) {
    const TemporaryFile file("stuck.peal",
                             "kernel stuck(sig: window i32[nranks]) {\n    wait sig[0] >= 1\n}\n");
    const Ran ran = peal({"run", file.path(), "-n", "2"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.err, HasSubstr("deadlock"));
    EXPECT_THAT(ran.err, HasSubstr("wait sig[0] >= 1"));
}

TEST(PealRun, KernelWithoutExpectationShowsItsOutputs) {
    const Ran ran = peal({"run", "examples/mesh_allreduce.peal", "-n", "2", "--set", "n=3"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out,
                StartsWith("rank 0  out[3] = 100 102 104\nrank 1  out[3] = 100 102 104\n"));
    EXPECT_THAT(ran.out, EndsWith("; proof: proved, protocol only; not compared (use --expect)\n"));
}

// That something is proved says little without what.
TEST(PealRun, SaysWhatWasProved) {
    const std::vector<std::string> run = {
        "run", "examples/mesh_allreduce.peal", "-n", "2", "--set", "n=3", "--json"};
    EXPECT_THAT(peal(run).out, HasSubstr("\"proof\": \"proved\",\n"));
    EXPECT_THAT(peal(run).out, HasSubstr("\"proof_result\": \"protocol only\",\n"));
    std::vector<std::string> expected = run;
    expected.insert(expected.end(), {"--expect", "allreduce"});
    EXPECT_THAT(peal(expected).out, HasSubstr("\"proof_result\": \"allreduce\",\n"));
    const TemporaryFile racy("racy.peal", kRacy);
    EXPECT_THAT(peal({"run", racy.path(), "-n", "2", "--json"}).out,
                AllOf(HasSubstr("\"proof\": \"data race\""), Not(HasSubstr("proof_result"))));
}

// Three calls fit the cell, the fourth does not.
TEST(PealRun, ProvesTheCallsThatItRuns) {
    const TemporaryFile file(
        "far.peal",
        "kernel far(sig: window i32[1]) {\n"
        "    notify sig[0]@((rank + 1) % nranks) = generation(sig) + 600000000\n"
        "    wait sig[0] >= generation(sig) + 600000000\n"
        "    advance sig by 600000000\n}\n");
    const auto run = [&](const char* calls) {
        return peal({"run", file.path(), "-n", "2", "--check", "--calls", calls});
    };
    EXPECT_THAT(run("3").out, HasSubstr("3 calls"));
    EXPECT_EQ(run("4").exit_code, 1);
    EXPECT_EQ(
        run("4").err,
        "peal: not run: overflow: rank 1 (`notify sig[0]@0 = generation + 600000000`, line 2, "
        "call 3) makes sig[0]@0 2400000000, which does not fit an i32 (see peal check)\n");
}

TEST(PealRun, SameSeedSameOutput) {
    const auto run = [](const std::string& seed) {
        return peal({"run", "examples/ring_allreduce.peal", "-n", "5", "--set", "n=11", "--seed",
                     seed, "--expect", "allreduce", "--calls", "2"});
    };
    for (const char* seed : {"0", "1", "2", "3"}) EXPECT_EQ(run(seed).exit_code, 0) << seed;
}

struct Example {
    std::string file, collective;
};

// Each hand-written example and each one-line form, call after call on the same windows.
TEST(Examples, GiveGoldenOnEveryRankCount) {
    const std::vector<Example> examples = {
        {"mesh_allreduce.peal", "allreduce"},
        {"ring_allreduce.peal", "allreduce"},
        {"broadcast.peal", "broadcast"},
        {"all_to_all.peal", "all_to_all"},
        {"allgather.peal", "allgather"},
        {"reduce_scatter.peal", "reduce_scatter"},
        {"composite.peal:mesh", "allreduce"},
        {"composite.peal:ring", "allreduce"},
        {"composite.peal:broadcast_from", "broadcast"},
        {"composite.peal:exchange", "all_to_all"},
        {"composite.peal:collect", "allgather"},
        {"composite.peal:add_and_share", "reduce_scatter"},
        {"composite.peal:average_step", "allreduce"},
    };
    for (const Example& example : examples) {
        for (const char* ranks : {"1", "2", "3", "4", "8"}) {
            const Ran ran = peal({"run", "examples/" + example.file, "-n", ranks, "--set", "n=13",
                                  "--expect", example.collective, "--calls", "3", "--seed", "7"});
            EXPECT_EQ(ran.exit_code, 0) << example.file << " on " << ranks << "\n"
                                        << ran.out << ran.err;
        }
    }
}

// Which half a call takes is asked of the memory, whoever carries the call out.
TEST(Examples, TakeTurnsOnEveryEngine) {
    for (const std::vector<std::string>& where :
         {std::vector<std::string>{"--seed", "3"}, {"--processes"}, {"-p", "a2a3sim"}}) {
        std::vector<std::string> arguments = {"run",      "examples/halves_allreduce.peal",
                                              "-n",       "3",
                                              "--set",    "n=13",
                                              "--calls",  "5",
                                              "--expect", "allreduce"};
        arguments.insert(arguments.end(), where.begin(), where.end());
        const Ran ran = peal(arguments);
        EXPECT_EQ(ran.exit_code, 0) << where.front() << "\n" << ran.out << ran.err;
    }
    const Ran checked =
        peal({"check", "examples/halves_allreduce.peal", "-n", "1..9", "--expect", "allreduce"});
    EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
    EXPECT_THAT(checked.out, testing::HasSubstr("any    as allreduce, same bits  proved"));
}

// Lanes change who does what, and no bit of the result: in process in any order, by processes of
// which each carries the lanes of its rank, and on devices.
TEST(Examples, GiveGoldenOnEveryNumberOfLanes) {
    const std::vector<Example> examples = {{"lanes_allreduce.peal", "allreduce"},
                                           {"lanes_all_to_all.peal", "all_to_all"}};
    for (const Example& example : examples) {
        for (const char* lanes : {"1", "2", "3", "5"}) {
            for (const std::vector<std::string>& where :
                 {std::vector<std::string>{"--seed", "3"}, {"--processes"}, {"-p", "a2a3sim"}}) {
                std::vector<std::string> arguments = {"run",      "examples/" + example.file,
                                                      "-n",       "3",
                                                      "--lanes",  lanes,
                                                      "--set",    "n=13",
                                                      "--calls",  "3",
                                                      "--expect", example.collective};
                arguments.insert(arguments.end(), where.begin(), where.end());
                const Ran ran = peal(arguments);
                EXPECT_EQ(ran.exit_code, 0)
                    << example.file << ", " << lanes << " lanes, " << where.front() << "\n"
                    << ran.out << ran.err;
            }
            const Ran checked = peal({"check", "examples/" + example.file, "-n", "1..4", "--lanes",
                                      lanes, "--expect", example.collective, "--no-store"});
            EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
        }
    }
}

TEST(PealRun, LanesAreForKernelsThatAskForThem) {
    const Ran ran = peal({"run", "examples/mesh_allreduce.peal", "-n", "2", "--lanes", "2"});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_EQ(ran.err,
              "peal: kernel mesh_allreduce does not ask for `lane`: 2 lanes would all do the same; "
              "compile it with one\n");
}

TEST(PealShow, TextParsesBack) {
    const Ran shown = peal({"show", "examples/ring_allreduce.peal", "--lowered"});
    EXPECT_EQ(shown.exit_code, 0) << shown.err;
    const TemporaryFile file("lowered.peal", shown.out);
    EXPECT_EQ(peal({"show", file.path(), "--lowered"}).out, shown.out);
    const Ran ran = peal({"run", file.path(), "-n", "4", "--expect", "allreduce", "--calls", "2"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
}

TEST(PealShow, PlanOfOneRank) {
    const Ran ran =
        peal({"show", "barrier", "--recipe", "mesh", "-n", "2", "--plan", "--rank", "1"});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(ran.out, HasSubstr("notify signal[1]@0 = generation + 1"));
    EXPECT_THAT(ran.out, HasSubstr("wait signal[0] >= generation + 1"));
}

// Names what the table of recipes gives for a kernel's target, and what the plan then is.
TEST(PealShow, AutoNamesItsRecipe) {
    struct Case {
        const char *collective, *count, *ranks, *recipe;
    };
    for (const Case& each : {Case{"allreduce", "64", "4", "mesh"},
                             {"allreduce", "5000", "4", "two_phase"},
                             {"allreduce", "64", "17", "halving_doubling"},
                             {"broadcast", "64", "9", "tree"},
                             {"all_to_all", "20000", "2", "pairwise"},
                             {"barrier", "0", "9", "dissemination"}}) {
        const Ran run =
            peal({"run", each.collective, "-n", each.ranks, "--count", each.count, "--json"});
        EXPECT_EQ(run.exit_code, 0) << run.err;
        EXPECT_THAT(run.out, HasSubstr(std::string("\"recipe\": \"auto: ") + each.recipe + "\""));
        const Ran shown = peal({"show", each.collective, "-n", each.ranks, "--count", each.count});
        EXPECT_THAT(shown.out, StartsWith(std::string("recipe auto: ") + each.recipe + "\nplan "));
    }
    EXPECT_THAT(peal({"show", "allreduce", "--recipe", "mesh"}).out, StartsWith("plan "));
    EXPECT_THAT(peal({"show", "allreduce", "--json"}).out, StartsWith("{\"format\""));
}

TEST(Readme, ShowsTheExampleAsItIs) {
    const std::string readme = read_file(PEAL_SOURCE_DIR "/README.md");
    const auto begin = readme.find("```peal\n");
    ASSERT_NE(begin, std::string::npos);
    const auto end = readme.find("```", begin + 8);
    const std::string code = readme.substr(begin + 8, end - begin - 8);
    EXPECT_THAT(read_file(PEAL_SOURCE_DIR "/examples/mesh_allreduce.peal"), HasSubstr(code));
}

// What its first screen shows: a refutation, line by line, and a figure of the benchmarks.
TEST(Readme, ShowsARefutationAsItIs) {
    const std::string readme = read_file(PEAL_SOURCE_DIR "/README.md");
    const auto begin = readme.find("$ build/peal check examples/broken/");
    ASSERT_NE(begin, std::string::npos);
    const auto steps = steps_of(readme.substr(begin, readme.find("```", begin) - begin));
    ASSERT_EQ(steps.size(), 1u);
    const Ran ran = peal({steps[0].words.begin() + 1, steps[0].words.end()});
    EXPECT_EQ(ran.exit_code, 1);
    for (const std::string& line : lines_of(steps[0].output)) {
        if (line == "..." || line.empty()) continue;
        EXPECT_THAT(ran.out, HasSubstr(line + "\n"));
    }
}

TEST(Readme, ShowsAFigureOfTheBenchmarks) {
    const std::string readme = read_file(PEAL_SOURCE_DIR "/README.md");
    const auto figures =
        matches(readme,
                "allreduce of 1 MiB takes ([0-9.]+) µs, with the best of Open MPI, MPICH and "
                "Gloo\\s([0-9.]+) µs");
    ASSERT_EQ(figures.size(), 1u);
    EXPECT_THAT(read_file(PEAL_SOURCE_DIR "/docs/benchmarks.md"),
                HasSubstr(figures[0][1] + " / " + figures[0][2]));
}

}  // namespace run_test
}  // namespace peal::test
