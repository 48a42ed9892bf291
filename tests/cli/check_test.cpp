// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/command.hpp"
#include "cli/document.hpp"
#include "cli/racy_kernel.hpp"

namespace peal::test {
namespace check_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(PealCheck, WarnsOnceOfAFile) {
    const TemporaryFile file("mixed.peal",
                             "kernel mixed(sig: window i32[2]) {\n"
                             "    notify sig[0]@rank += 1\n"
                             "    notify sig[0]@rank = 1\n"
                             "}\n");
    const Ran ran = peal({"check", file.path(), "-n", "2..4"});
    EXPECT_EQ(ran.err, file.path() +
                           ":2:5: warning: signal 'sig' is both set (line 3) and added to\n"
                           "    2 |     notify sig[0]@rank += 1\n"
                           "      |     ^~~~~~~~~~~~~~~~~~~~~~~\n"
                           "hint: a set that lands on a cell after an add loses the count; use one "
                           "of the two\n");
}

TEST(PealCheck, EveryRecipeProves) {
    const Ran ran = peal({"check", "all", "--recipe", "all", "-n", "2..8", "--calls", "3"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, Not(HasSubstr("violated")));
    EXPECT_THAT(ran.out, HasSubstr("halving_doubling     2..8  P+1, 4P+3, 1, P-1, 0      3  as "
                                   "allreduce, same bits         proved   linear"));
}

TEST(PealCheck, RecipesThatKnowHostsProve) {
    const Ran uneven = peal({"check", "allreduce", "--recipe", "hosts", "--hosts", "3+5"});
    EXPECT_EQ(uneven.exit_code, 0) << uneven.out << uneven.err;
    EXPECT_THAT(uneven.out, HasSubstr("allreduce  hosts 3+5      8  P+1, 4P+3, 1, P-1, 0  any    "
                                      "as allreduce, same bits  proved"));
    const Ran all = peal({"check", "all", "--recipe", "all", "--hosts", "0,1,1,0", "-n", "4"});
    EXPECT_EQ(all.exit_code, 0) << all.out << all.err;
    EXPECT_THAT(all.out, HasSubstr("leaders 0,1,1,0"));
    const TemporaryFile file("hosts.peal",
                             "kernel k(hosts: index[nranks], inp: in f32[n], out: out f32[n],\n"
                             "         data: window f32[1024], sig: window i32[nranks]) {\n"
                             "    out = allreduce(inp, data, sig, recipe=hosts, hosts=hosts)\n"
                             "}\n");
    const Ran kernel = peal({"check", file.path(), "--hosts", "2+1", "--expect", "allreduce"});
    EXPECT_EQ(kernel.exit_code, 0) << kernel.out << kernel.err;
    EXPECT_THAT(kernel.out, HasSubstr("proved"));
}

TEST(PealCheck, SaysWhatIsWrongWithHosts) {
    const auto complaint = [](std::vector<std::string> arguments) {
        const Ran ran = peal(std::move(arguments));
        EXPECT_EQ(ran.exit_code, 2) << ran.out;
        return ran.err;
    };
    EXPECT_EQ(complaint({"check", "allreduce", "--recipe", "hosts", "-n", "5"}),
              "peal: allreduce: recipe hosts asks where ranks are, as in --hosts 3+2\n");
    for (const char* text : {"2+x", "2+0", "0,-1", "+", "2000+1"}) {
        EXPECT_EQ(complaint({"check", "allreduce", "--recipe", "hosts", "--hosts", text}),
                  std::string("peal: --hosts '") + text +
                      "': expected ranks on each host, as in 3+5, or the host of each rank, as in "
                      "0,1,0,1\n");
    }
    EXPECT_EQ(complaint({"run", "allreduce", "--recipe", "hosts", "--hosts", "2+2", "-n", "5"}),
              "peal: -n 5 and --hosts 2+2 (4 ranks) disagree\n");
    const TemporaryFile file("hosts.peal",
                             "kernel k(sig: window i32[nranks]) {\n    barrier(sig)\n}\n");
    EXPECT_EQ(complaint({"check", file.path(), "--hosts", "2+1"}),
              "peal: --hosts: kernel 'k' has no table 'hosts'\n");
}

TEST(PealCheck, InPlaceAndOnAWindowProveToo) {
    for (const char* placement : {"--in-place", "--window"}) {
        const Ran ran = peal({"check", "all", "--recipe", "all", "-n", "2..5", placement});
        EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    }
}

TEST(PealCheck, AfterOtherCollectivesOnTheSameWindows) {
    const Ran ran = peal({"check", "allreduce", "--recipe", "all", "-n", "2..4", "--after",
                          "broadcast:tree", "all_to_all", "barrier"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
}

TEST(PealCheck, ViolationNamesInstructionsLinesAndMemory) {
    const TemporaryFile file("racy.peal", kRacy);
    const Ran ran = peal({"check", file.path(), "-n", "2", "--set", "n=4"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, HasSubstr("data race: "));
    EXPECT_THAT(ran.out, HasSubstr(file.path() + ":2: data = inp\n"));
    EXPECT_THAT(ran.out, HasSubstr("  memory:   data@1[0;4]\n"));
    EXPECT_THAT(ran.out, HasSubstr("✗ copy data <- inp"));
}

TEST(PealCheck, WrongResultNamesTheTerms) {
    const TemporaryFile file("wrong.peal",
                             "kernel wrong(inp: in f32[n], out: out f32[n]) {\n    out = inp\n}\n");
    const Ran ran =
        peal({"check", file.path(), "-n", "2", "--set", "n=4", "--expect", "allreduce"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, HasSubstr("wrong result: "));
    EXPECT_THAT(ran.out, HasSubstr("  found:    "));
    EXPECT_THAT(ran.out, HasSubstr("  expected: "));
}

// Up to the work, which is counted, and the time.
std::string before_work(const std::string& line) { return line.substr(0, line.find("  linear")); }

// The same kernel is proved with and without a result that is asked for: the row says which.
TEST(PealCheck, SaysWhatWasProved) {
    const TemporaryFile file("copy.peal",
                             "kernel copy(inp: in f32[n], out: out f32[n]) {\n    out = inp\n}\n");
    const Ran protocol = peal({"check", file.path(), "-n", "2"});
    EXPECT_EQ(protocol.exit_code, 0);
    const std::vector<std::string> lines = lines_of(protocol.out);
    ASSERT_EQ(lines.size(), 3U) << protocol.out;
    EXPECT_EQ(before_work(lines[1]),
              file.path() + "  -           2  P+1, 4P+3, 1, P-1, 0  any    protocol only  proved ");
    EXPECT_EQ(lines[2],
              "protocol only: no result was asked for; --expect NAME names the collective that it "
              "must be");
    const auto row = [](const std::vector<std::string>& arguments) {
        const Ran ran = peal(arguments);
        EXPECT_EQ(ran.exit_code, 0) << ran.err;
        return lines_of(ran.out).at(1);
    };
    const std::string ring = "examples/mesh_allreduce.peal";
    EXPECT_THAT(row({"check", ring, "-n", "2", "--expect", "allreduce"}),
                HasSubstr("  any    as allreduce, same bits  proved   linear"));
    EXPECT_THAT(row({"check", "reduce", "-n", "2"}),
                HasSubstr("  any    as reduce, any order  proved   linear"));
    EXPECT_THAT(row({"check", "broadcast", "-n", "2"}),
                HasSubstr("  any    as broadcast  proved   linear"));
}

TEST(PealCheck, SaysForHowManyCalls) {
    const std::vector<std::string> mesh = {
        "check", "examples/mesh_allreduce.peal", "-n", "2", "--expect", "allreduce"};
    const auto with_calls = [](std::vector<std::string> words, const char* calls) {
        words.insert(words.end(), {"--calls", calls});
        return peal(words, PEAL_SOURCE_DIR).out;
    };
    EXPECT_THAT(with_calls(mesh, "any"),
                EndsWith("\nany number of calls: 32 bits of a signal have room for 1073741823\n"));
    EXPECT_THAT(with_calls(mesh, "5"),
                HasSubstr("      5  as allreduce, same bits  proved   linear"));
}

TEST(PealCheck, JsonSaysWhatWasProved) {
    const Ran ran = peal({"check", "allreduce", "--recipe", "ring", "-n", "2", "--json"});
    EXPECT_THAT(ran.out, HasSubstr(R"(    "calls": "any",
    "result": "allreduce",
    "order": "same bits",
    "holds": [
      "no data race",
      "no deadlock",
      "no stale signal",
      "no read of unwritten bytes",
      "signals end where the next call expects them",
      "no overflow",
      "result as allreduce, same bits"
    ],
    "verdict": "proved",
)"));
    const TemporaryFile file("racy.peal", kRacy);
    EXPECT_THAT(peal({"check", file.path(), "-n", "2", "--json"}).out,
                HasSubstr("    \"result\": \"protocol only\",\n    \"order\": \"\",\n    "
                          "\"holds\": [],\n    \"verdict\": \"violated\",\n"));
}

// The load of line 5 is fused into the store of line 7, and that is where the bytes are written.
constexpr const char* kInPlace =
    R"(kernel in_place(inp: in f32[n], data: window f32[n], sig: window i32[nranks]) {
    data = inp
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    acc = data@0
    for r in 1..nranks { acc = acc + data@r }
    data = acc
    advance sig by 1
}
)";

TEST(PealCheck, AClashIsNamedByTheLineThatTouchesThoseBytes) {
    const TemporaryFile file("in_place.peal", kInPlace);
    const Ran ran = peal({"check", file.path(), "-n", "2"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, HasSubstr("`, line 7, call 0) writes"));
    EXPECT_THAT(ran.out, HasSubstr("in_place.peal:7: data = acc\n"));
    EXPECT_THAT(ran.out, HasSubstr("in_place.peal:6: for r in 1..nranks { acc = acc + data@r }\n"));
    EXPECT_THAT(peal({"check", file.path(), "-n", "2", "--github"}).out,
                HasSubstr("in_place.peal,line=7,"));
}

constexpr const char* kGathering =
    R"(kernel gathering(inp: window f32[n], all: window f32[nranks, n], sig: window i32[nranks]) {
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    for r in 0..nranks { all[r] = inp@r }
    for peer in peers { notify sig[rank]@peer = generation(sig) + 2 }
    for peer in peers { wait sig[peer] >= generation(sig) + 2 }
    advance sig by 2
}
)";

TEST(PealCheck, WindowsThatHoldSomething) {
    const TemporaryFile file("gathering.peal", kGathering);
    const auto check = [&](std::vector<std::string> more) {
        std::vector<std::string> arguments = {"check", file.path(), "-n", "2..3"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return peal(arguments);
    };
    EXPECT_THAT(check({}).out, HasSubstr("read of unwritten bytes"));
    const Ran ran = check({"--holds", "inp", "--result", "all", "--expect", "allgather"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("any    as allgather  proved"));
    EXPECT_THAT(ran.out, HasSubstr("\nwhen a call begins: inp holds input\n"));
    EXPECT_THAT(check({"--holds", "inp=fresh", "--holds", "all=zeros"}).out,
                HasSubstr("\nwhen a call begins: inp is as it was made, zeros; all is cleared\n"));
    EXPECT_THAT(check({"--holds", "inp", "--holds", "all=zeros", "--json"}).out,
                HasSubstr(R"(    "windows": {
      "inp": "input",
      "all": "zeros"
    })"));
    EXPECT_EQ(check({"--holds", "inp=ones"}).err,
              "peal: --holds inp=ones: expected input, zeros or fresh, found 'ones'\n");
    EXPECT_EQ(check({"--holds", "sig"}).err,
              "peal: check: stage 0: 'sig' should hold data, but kernel gathering has no such "
              "window: it has inp, all\n");
    EXPECT_EQ(peal({"check", "allreduce", "-n", "2", "--holds", "data"}).err,
              "peal: --holds and --result are for kernels; a collective works on its window with "
              "--window\n");
}

TEST(PealCheck, RecipesWithLanes) {
    const Ran two = peal({"check", "allreduce", "--recipe", "lanes", "-n", "2..3"});
    EXPECT_EQ(two.exit_code, 0) << two.err;
    EXPECT_THAT(two.out, HasSubstr("any    as allreduce, same bits  proved"));
    EXPECT_THAT(two.out, HasSubstr("\nlanes: each rank has 2 lanes\n"));
    const Ran five =
        peal({"check", "all_to_all", "--recipe", "lanes", "--lanes", "5", "-n", "3", "--json"});
    EXPECT_THAT(five.out, HasSubstr("\"lanes\": 5"));
    // Where all recipes are asked for, those without lanes have one.
    EXPECT_EQ(peal({"check", "all_to_all", "--recipe", "all", "--lanes", "3", "-n", "2"}).exit_code,
              0);
    EXPECT_EQ(peal({"check", "allreduce", "--recipe", "ring", "--lanes", "3"}).err,
              "peal: allreduce: recipe 'ring' has one lane, found 3; with more there is lanes\n");
    EXPECT_EQ(peal({"check", "broadcast", "--lanes", "3"}).err,
              "peal: broadcast: recipe 'auto' has one lane, found 3; there is none with more\n");
    EXPECT_EQ(peal({"check", "allreduce", "--recipe", "lanes", "--lanes", "0"}).err,
              "peal: --lanes: expected 1..1024, found 0\n");
    EXPECT_EQ(peal({"emit", "all_to_all", "--recipe", "lanes", "--target", "a2a3"}).err,
              "peal: kernel all_to_all asks for `lane`: an emitted kernel has one lane; choose a "
              "recipe without lanes, or write the kernel without `lane`\n");
    EXPECT_EQ(peal({"emit", "allreduce", "--recipe", "hosts"}).err,
              "peal: allreduce: recipe hosts is for ranks on several hosts, and what is emitted is "
              "for the devices of one\n");
}

constexpr const char* kDoubling =
    R"(kernel doubling(inp: in f32[n], out: out f32[n], sig: window i32[nranks]) {
    require 1 << log2(nranks) == nranks
    for step in 0..log2(nranks) {
        notify sig[step]@(rank xor 1 << step) = generation(sig) + 1
        wait sig[step] >= generation(sig) + 1
    }
    out = inp
    advance sig by 1
}
)";

TEST(PealCheck, RankCountsThatAreExcludedAreSkipped) {
    const TemporaryFile file("doubling.peal", kDoubling);
    const std::string why =
        "required: 1 << log2(nranks) == nranks, found 2 and 3 (kernel doubling, rank 0 of 3), "
        "line 2";
    const Ran ran = peal({"check", file.path(), "-n", "2..9"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    const std::vector<std::string> lines = lines_of(ran.out);
    ASSERT_EQ(lines.size(), 6U) << ran.out;
    EXPECT_THAT(lines[1],
                StartsWith(file.path() + "  -       2, 4, 8     P+1, 4P+3, 1, P-1, 0  any    "
                                         "protocol only  proved    linear  "));
    EXPECT_EQ(lines[2].substr(0, lines[2].find("excluded") + 8),
              file.path() +
                  "  -       3, 5..7, 9  -                     -      -              "
                  "excluded");
    EXPECT_EQ(lines[3], "excluded, for 3 ranks: " + why);
    EXPECT_THAT(peal({"check", file.path(), "-n", "3,2", "--json"}).out,
                HasSubstr("\"ranks\": 3,\n        \"why\": \"" + why + "\""));
}

TEST(PealCheck, ListsOfRankCounts) {
    const TemporaryFile file("doubling.peal", kDoubling);
    const Ran ran = peal({"check", file.path(), "-n", "2,4,8"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out,
                HasSubstr("  2, 4, 8  P+1, 4P+3, 1, P-1, 0  any    protocol only  proved "));
    EXPECT_THAT(ran.out, Not(HasSubstr("excluded")));
}

TEST(PealCheck, AllRankCountsExcludedIsBadUsage) {
    const TemporaryFile file("doubling.peal", kDoubling);
    const Ran several = peal({"check", file.path(), "-n", "3,5..7"});
    EXPECT_EQ(several.exit_code, 2);
    EXPECT_EQ(several.err,
              "peal: -n '3,5..7': the kernel excludes every one; for 3 ranks: required: 1 << "
              "log2(nranks) == nranks, found 2 and 3 (kernel doubling, rank 0 of 3), line 2\n");
    const Ran one = peal({"check", file.path(), "-n", "3"});
    EXPECT_EQ(one.exit_code, 2);
    EXPECT_THAT(one.err, StartsWith(file.path() + ":2:5: error: required: 1 << log2(nranks) == "
                                                  "nranks, found 2 and 3 (kernel doubling, rank 0 "
                                                  "of 3)\n"));
}

// A length that is refused is for the user to choose: leaving it out could leave next to nothing.
TEST(PealCheck, LengthsThatAreExcludedAreNotSkipped) {
    const TemporaryFile file("even.peal",
                             "kernel even(inp: in f32[n], out: out f32[n]) {\n"
                             "    require n % nranks == 0\n    out = inp\n}\n");
    const Ran open = peal({"check", file.path(), "-n", "2..4"});
    EXPECT_EQ(open.exit_code, 2);
    EXPECT_THAT(open.err, StartsWith(file.path() + ":2:5: error: required: n % nranks == 0, found "
                                                   "1 (kernel even, rank 0 of 2)\n"));
    const Ran given = peal({"check", file.path(), "-n", "2..4", "--count", "8"});
    EXPECT_EQ(given.exit_code, 0);
    EXPECT_THAT(given.out, HasSubstr("  2, 4        8  any    protocol only  proved "));
}

TEST(PealCheck, BoundReachedIsExitCodeThree) {
    const TemporaryFile file("reset.peal",
                             "kernel reset(sig: window i32[nranks]) {\n"
                             "    for peer in peers { notify sig[0]@peer += 1 }\n"
                             "    wait sig[0] == nranks - 1\n"
                             "    notify sig[0]@rank = 0\n"
                             "}\n");
    const Ran ran = peal({"check", file.path(), "-n", "4", "--calls", "1", "--max-states", "20"});
    EXPECT_EQ(ran.exit_code, 3);
    EXPECT_THAT(ran.out, HasSubstr("not proved: bound reached: 20 states\n"));
    EXPECT_EQ(peal({"check", file.path(), "-n", "4", "--calls", "1"}).exit_code, 0);
}

TEST(PealCheck, PlansFromAFile) {
    const Ran shown =
        peal({"show", "allreduce", "--recipe", "ring", "-n", "3", "--count", "5", "--json"});
    const TemporaryFile file("plan.json", shown.out);
    EXPECT_EQ(peal({"check", file.path(), "--expect", "allreduce", "-n", "2..4"}).exit_code, 0);
    const Ran others = peal({"check", file.path(), "-n", "4..6"});
    EXPECT_EQ(others.exit_code, 2);
    EXPECT_EQ(others.err, "peal: -n 4..6: the plans are for 3 ranks\n");
    const Ran wrong = peal({"check", file.path(), "--expect", "broadcast"});
    EXPECT_EQ(wrong.exit_code, 1);
    EXPECT_THAT(wrong.out, HasSubstr("wrong result"));
}

// What cannot be run is not proved either, with a meaning or without.
TEST(PealCheck, PlansThatAreNotValid) {
    const std::string text =
        peal({"show", "allreduce", "--recipe", "ring", "-n", "2", "--count", "4", "--json"}).out;
    // The last place is in the plan of rank 1.
    const auto complaint = [&](const std::string& from, const std::string& to) {
        std::string changed = text;
        const auto at = changed.rfind(from);
        EXPECT_NE(at, std::string::npos) << text;
        if (at != std::string::npos) changed.replace(at, from.size(), to);
        const TemporaryFile file("plan.json", changed);
        const Ran ran = peal({"check", file.path()});
        EXPECT_EQ(ran.exit_code, 2) << ran.out;
        EXPECT_EQ(ran.out, "");
        const Ran meant = peal({"check", file.path(), "--expect", "allreduce"});
        EXPECT_EQ(meant.exit_code, 2) << meant.out;
        EXPECT_EQ(meant.err, ran.err);
        return ran.err;
    };
    const std::string data = R"({"name":"data","kind":"window","direction":"inout",)";
    const auto on_rank_1 = [](const std::string& buffer, const std::string& difference) {
        return "plan allreduce, rank 1 of 2, buffer '" + buffer + "': differs from buffer '" +
               buffer + "' of rank 0: " + difference + "\n";
    };
    EXPECT_EQ(
        complaint(data + R"("element":"f32","bytes":16})", data + R"("element":"f16","bytes":16})"),
        on_rank_1("data", "f16, there f32"));
    EXPECT_EQ(
        complaint(data + R"("element":"f32","bytes":16})", data + R"("element":"f32","bytes":32})"),
        on_rank_1("data", "32 bytes, there 16"));
    EXPECT_EQ(complaint(R"("name":"data","kind":"window")", R"("name":"data","kind":"argument")"),
              on_rank_1("data", "argument, there window"));
    EXPECT_EQ(complaint(R"("element":"i64","cells":2)", R"("element":"i32","cells":2)"),
              on_rank_1("signal", "i32, there i64"));
    EXPECT_EQ(complaint(R"("element":"i64","cells":2)", R"("element":"i64","cells":9)"),
              on_rank_1("signal", "9 cells, there 2"));
    EXPECT_EQ(complaint(R"({"buffer":1,"rank":1,"offset":0,"length":16})",
                        R"({"buffer":0,"rank":1,"offset":0,"length":16})"),
              "plan allreduce, rank 1 of 2, instruction 8 (allreduce.peal (lowered):23), copy "
              "input[0..16) <- data[0..16): the destination is in 'input', which is an input: only "
              "out and inout arguments are written\n");
}

// What does not exist is a violation.
TEST(PealCheck, PlansThatLeaveTheirBuffers) {
    std::string text =
        peal({"show", "allreduce", "--recipe", "ring", "-n", "2", "--count", "4", "--json"}).out;
    const std::string whole = R"("dst":{"buffer":1,"rank":1,"offset":0,)";
    text.replace(text.rfind(whole), whole.size(), R"("dst":{"buffer":1,"rank":1,"offset":4,)");
    const TemporaryFile file("plan.json", text);
    const Ran ran = peal({"check", file.path()});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, HasSubstr("out of range: rank 1: `copy output[4..20) <- data[0..16)`: the "
                                   "destination leaves output, which has 16 bytes\n"));
}

TEST(PealCheck, SvgIsWrittenWholeOrNotAtAll) {
    const TemporaryFile file("racy.peal", kRacy);
    const std::string picture = file.directory() + "/race.svg";
    EXPECT_EQ(peal({"check", file.path(), "-n", "2", "--svg", picture}).exit_code, 1);
    EXPECT_THAT(read_file(picture), StartsWith("<svg"));
    const Ran nowhere =
        peal({"check", file.path(), "-n", "2", "--svg", file.directory() + "/no/race.svg"});
    EXPECT_EQ(nowhere.exit_code, 2);
    EXPECT_EQ(nowhere.err, "peal: cannot write the picture " + file.directory() +
                               "/no/race.svg: No such file or directory\n");
}

TEST(PealCheck, JsonHasVerdictAndSchedule) {
    const TemporaryFile file("racy.peal", kRacy);
    const Ran ran = peal({"check", file.path(), "-n", "2", "--json"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, HasSubstr("\"verdict\": \"violated\""));
    EXPECT_THAT(ran.out, HasSubstr("\"kind\": \"data race\""));
    EXPECT_THAT(ran.out, HasSubstr("\"schedule\": ["));
}

TEST(PealCheck, ExplainListsWhatOrdersConflicts) {
    const Ran ran =
        peal({"check", "broadcast", "--recipe", "mesh", "-n", "2", "--count", "4", "--explain"});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(ran.out, HasSubstr("  comes before\n"));
    EXPECT_THAT(ran.out, HasSubstr("      lets pass  "));
}

TEST(PealCheck, AloneRedundantPerRankCountWithItsCriticalPath) {
    const std::string mesh = "examples/mesh_allreduce.peal";
    const Ran ran = peal({"check", mesh, "-n", "2..3", "--redundant"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_THAT(
        ran.out,
        HasSubstr("\n2 ranks: 2 alone redundant (without any one everything still proves, without "
                  "several it may not):\n"
                  "  rank 0: notify sig[0]@1 = generation + 1 (line 8, peer=1); critical path 24 "
                  "steps, without it 33\n"
                  "  rank 1: notify sig[1]@0 = generation + 1 (line 8, peer=0); critical path 24 "
                  "steps, without it 33\n"
                  "\n3 ranks: 6 alone redundant (without any one everything still proves, without "
                  "several it may not):\n"
                  "  rank 0: notify sig[0]@1 = generation + 1 (line 8, peer=1); critical path 36 "
                  "steps, without it 46\n"));
    EXPECT_THAT(
        peal({"check", mesh, "-n", "2", "--redundant", "--json"}).out,
        HasSubstr("        \"critical_path\": 24,\n        \"critical_path_without\": 33\n"));
}

TEST(PealCheck, NothingIsRedundant) {
    const Ran ran =
        peal({"check", "barrier", "--recipe", "dissemination", "-n", "2..3", "--redundant"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out, EndsWith("\n2 ranks: no notify or wait is redundant\n"
                                  "\n3 ranks: no notify or wait is redundant\n"));
    EXPECT_THAT(
        peal({"check", "barrier", "--recipe", "dissemination", "-n", "2", "--redundant", "--json"})
            .out,
        HasSubstr("\n    \"alone_redundant\": []"));
    EXPECT_THAT(peal({"check", "barrier", "--recipe", "dissemination", "-n", "2", "--json"}).out,
                Not(HasSubstr("alone_redundant")));
}

TEST(PealCheck, RedundantOfEachRecipeUnderItsName) {
    const Ran ran = peal({"check", "allreduce", "--recipe", "all", "-n", "2", "--redundant"});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    EXPECT_THAT(ran.out,
                HasSubstr("\n\nallreduce mesh, 2 ranks: 2 alone redundant (without any one "
                          "everything still proves, without several it may not):\n"
                          "  rank 0: notify signal[0]@1 = generation + 1 (line 9, peer=1); "
                          "critical path 24 steps, without it 33\n"));
    EXPECT_THAT(ran.out, HasSubstr("\n\nallreduce two_phase, 2 ranks: 4 alone redundant "));
    EXPECT_THAT(ran.out, EndsWith("\n\nallreduce pull, 2 ranks: no notify or wait is redundant\n"));
}

// What does not prove has nothing that it could be proved without.
TEST(PealCheck, NothingIsRedundantInWhatIsRefuted) {
    const TemporaryFile file("racy.peal", kRacy);
    EXPECT_THAT(
        peal({"check", file.path(), "-n", "2", "--redundant"}).out,
        EndsWith("\n--redundant: nothing is proved here that a sync could be left out of\n"));
}

TEST(PealCheck, ALongListOfRedundantSyncsIsFoldedByTheStepsOfTheKernel) {
    const std::vector<std::string> check = {"check", "allreduce", "--recipe",   "pipeline",
                                            "-n",    "4",         "--redundant"};
    EXPECT_THAT(
        peal(check).out,
        EndsWith(
            "\n"
            "4 ranks: 48 alone redundant (without any one everything still proves, without several "
            "it may not; --full lists each):\n"
            "  notify (line 19): 12 on ranks 0..3, such as rank 0: notify signal[0]@1 = generation "
            "+ 1 (line 19, i=0 peer=1); critical path 72 steps, without one 77..84\n"
            "  notify (line 52): 12 on ranks 0..3, such as rank 0: notify signal[0]@1 = generation "
            "+ 4 (line 52, i=1 peer_2=1); critical path 72 steps, without one 77..90\n"
            "  wait (line 63): 6 on ranks 0..3, such as rank 0: wait signal[2] >= generation + 4 "
            "(line 63, i=2 i_1=2); critical path 72 steps, without one 72\n"
            "  wait (line 76): 12 on ranks 0..3, such as rank 0: wait signal[1] >= generation + 5 "
            "(line 76, peer_4=1); critical path 72 steps, without one 72\n"
            "  wait (line 28): 6 on ranks 2..3, such as rank 2: wait signal[0] >= generation + 1 "
            "(line 28, i=1 peer_1=0); critical path 72 steps, without one 72\n"));
    std::vector<std::string> full = check;
    full.emplace_back("--full");
    const std::string each = peal(full).out;
    EXPECT_THAT(each, HasSubstr("\n4 ranks: 48 alone redundant (without any one everything still "
                                "proves, without several it may not):\n"));
    EXPECT_EQ(std::count(each.begin(), each.end(), ';'), 48);
}

constexpr const char* kSlots =
    R"(kernel slots(inp: in f32[n], out: out f32[n], slot: window f32[2, n], sig: window i32[nranks]) {
    for t in 0..2 { slot[t] = inp }
    for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }
    for peer in peers { wait sig[peer] >= generation(sig) + 1 }
    out = slot@((rank + 1) % nranks)[1]
    advance sig by 1
}
)";

TEST(PealCheck, ReportsSpeakElementsAndLoopValues) {
    const TemporaryFile file("slots.peal", kSlots);
    const Ran ran = peal({"check", file.path(), "-n", "2"});
    EXPECT_THAT(ran.out,
                HasSubstr("\n  rank 1, call 1: copy slot[1][0;3] <- inp[0;3] (line 2, t=1)\n"));
    EXPECT_THAT(ran.out, HasSubstr("\n  memory:   slot@1[1][0;3]\n"));
    const Ran bytes = peal({"check", file.path(), "-n", "2", "--bytes"});
    EXPECT_THAT(bytes.out,
                HasSubstr("\n  rank 1, call 1: copy slot[12..24) <- inp[0..12) (line 2, t=1)\n"));
    EXPECT_THAT(bytes.out, HasSubstr("\n  memory:   slot@1[12..24)\n"));
}

TEST(PealCheck, ShowsTheCounterexampleOnTheFewestRanks) {
    const TemporaryFile file("slots.peal", kSlots);
    const Ran ran = peal({"check", file.path(), "-n", "8"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.out, HasSubstr("\nshown on 2 ranks, the fewest that have it; --full shows it "
                                   "on 8\n\ndata race: rank 0 "));
    const Ran full = peal({"check", file.path(), "-n", "8", "--full"});
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_THAT(full.out, Not(HasSubstr("shown on")));
    EXPECT_THAT(full.out, HasSubstr("● notify sig[0]@6 = 1"));
    EXPECT_THAT(peal({"check", file.path(), "-n", "2..8"}).out, Not(HasSubstr("shown on")));
}

TEST(PealRunCheck, RefusesToRunWhatDoesNotProve) {
    const TemporaryFile file("racy.peal", kRacy);
    const Ran ran = peal({"run", file.path(), "-n", "2", "--check"});
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, StartsWith("peal: not run: data race: "));
    EXPECT_EQ(peal({"run", "allreduce", "--check"}).exit_code, 0);
}

TEST(PealCheck, BadUsage) {
    const auto error = [](const std::vector<std::string>& arguments) {
        const Ran ran = peal(arguments);
        EXPECT_EQ(ran.exit_code, 2);
        return ran.err;
    };
    EXPECT_EQ(error({"check", "allreduce", "-n", "x"}),
              "peal: -n 'x': expected numbers of ranks (1..1024) or ranges: 4, 2..16 or 2,4,8\n");
    EXPECT_EQ(
        error({"check", "allreduce", "-n", "2,,4"}),
        "peal: -n '2,,4': expected numbers of ranks (1..1024) or ranges: 4, 2..16 or 2,4,8\n");
    EXPECT_EQ(error({"check", "allreduce", "-n", "8..2"}),
              "peal: -n '8..2': the range runs backwards\n");
    EXPECT_EQ(error({"check", "allreduce", "--calls", "0"}),
              "peal: --calls: expected any, or a number from 1 on, found 0\n");
    EXPECT_EQ(error({"check", "allreduce", "--after", "nothing"}),
              "peal: --after: there is no collective 'nothing'; write a name or name:recipe\n");
    EXPECT_EQ(error({"check", "missing.json"}),
              "peal: cannot read 'missing.json': No such file or directory\n");
    const TemporaryFile file("bad.json", "{\"plans\": 3}");
    EXPECT_NE(error({"check", file.path()}), "");
}

}  // namespace check_test
}  // namespace peal::test
