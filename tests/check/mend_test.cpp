// SPDX-License-Identifier: Apache-2.0
// What reports add to a violation: who waits for whom, and syncs that would mend it.
#include "check/mend.hpp"

#include <gtest/gtest.h>

#include "peal/compile.hpp"
#include "peal/program.hpp"

namespace peal {
namespace mend_test {

struct Checked {
    std::vector<Plan> plans;
    std::vector<CheckStage> stages;
    CheckReport report;

    explicit Checked(const std::string& body, int nranks = 2, int lanes = 1) {
        const std::string head =
            "kernel k(inp: in f32[n], out: out f32[n], data: window f32[n], sig: window "
            "i32[nranks]) {\n";
        const auto source = std::make_shared<Source>("k.peal", head + body + "}\n");
        Bindings bindings;
        bindings.integers["n"] = 4;
        CompileOptions options;
        options.lanes = lanes;
        plans = compile(parse(source), "k", bindings, nranks, options);
        stages = {{&plans, nullptr, {}}};
        report = check(stages);
    }
    std::string circle() const { return checker::circle_text(report.violations.front(), stages); }
    std::string suggested() const {
        return checker::suggestion(report.violations.front(), stages, {}).value_or("");
    }
};

TEST(Mend, SuggestsSyncsThatProve) {
    const std::string staged =
        "data = inp\n"
        "for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }\n"
        "for peer in peers { wait sig[peer] >= generation(sig) + 1 }\n";
    EXPECT_EQ(Checked(staged + "out = data@((rank + 1) % nranks)\nadvance sig by 1\n").suggested(),
              "it proves with two more syncs: a notify of every peer after line 5, and a wait for "
              "every peer before the call returns (line 2 of the next call must come later)");
    const std::string ends =
        "for peer in peers { notify sig[rank]@peer = generation(sig) + 1 }\n"
        "for peer in peers { wait sig[peer] >= generation(sig) + 1 }\n"
        "advance sig by 1\n";
    EXPECT_EQ(Checked("data = inp\nout = data@((rank + 1) % nranks)\n" + ends, 3).suggested(),
              "it proves with two more syncs: a notify of every peer after line 2, and a wait for "
              "every peer before line 3");
}

// Who has told is there: what is missing is to listen.
TEST(Mend, SuggestsOneWaitWhereThatIsEnough) {
    const std::string ends =
        "for peer in peers { notify sig[rank]@peer = generation(sig) + 2 }\n"
        "for peer in peers { wait sig[peer] >= generation(sig) + 2 }\n"
        "advance sig by 2\n";
    const std::string staged =
        "data = inp\nfor peer in peers { notify sig[rank]@peer = generation(sig) + 1 }\n";
    EXPECT_EQ(Checked(staged + "out = data@((rank + 1) % nranks)\n" + ends).suggested(),
              "it proves with one more wait, for what line 3 notifies, before line 4: on rank 0, "
              "`wait sig[1] >= generation + 1`");
    EXPECT_EQ(Checked(staged + "out = data@((rank + 1) % nranks)\n" + ends, 3).suggested(),
              "it proves with one more wait, for what line 3 notifies, before line 4: on rank 0, "
              "`wait sig[1] >= generation + 1` and so on for each cell");
    const std::string right =
        "data = inp\n"
        "notify sig[0]@((rank + 1) % nranks) = generation(sig) + 1\n"
        "wait sig[0] >= generation(sig) + 1\n"
        "out = data@((rank + nranks - 1) % nranks)\n"
        "notify sig[1]@((rank + nranks - 1) % nranks) = generation(sig) + 1\n"
        "advance sig by 1\n";
    EXPECT_EQ(
        Checked(right, 3).suggested(),
        "it proves with one more wait, for what line 6 notifies, before the call returns (line 2 "
        "of the next call must come later): on rank 1, `wait sig[1] >= generation + 1`");
}

// A second fault is left: one pair of syncs does not make it right.
TEST(Mend, SaysNothingThatDoesNotProve) {
    EXPECT_EQ(Checked("data = inp\nout = data@((rank + 1) % nranks)\n").suggested(), "");
    const Checked wrong("data@((rank + 1) % nranks) = inp\nout = data\n", 3);
    EXPECT_EQ(wrong.report.verdict, Verdict::violated);
    EXPECT_EQ(wrong.suggested(), "");
}

TEST(Mend, ShowsTheCircleOfADeadlock) {
    const Checked circle(
        "let right = (rank + 1) % nranks\n"
        "wait sig[0] >= generation(sig) + 1\n"
        "notify sig[0]@right = generation(sig) + 1\n"
        "advance sig by 1\n",
        3);
    EXPECT_EQ(circle.circle(),
              "  rank 0 at `wait sig[0] >= generation + 1` (line 3) waits for rank 2 to ring (line "
              "4)\n"
              "  rank 2 at `wait sig[0] >= generation + 1` (line 3) waits for rank 1 to ring (line "
              "4)\n"
              "  rank 1 at `wait sig[0] >= generation + 1` (line 3) waits for rank 0 to ring (line "
              "4)\n");
    EXPECT_EQ(circle.suggested(), "");
    const Checked alone(
        "if rank == 0 { notify sig[1]@1 = generation(sig) + 1 }\n"
        "wait sig[1] >= generation(sig) + 1\n"
        "advance sig by 1\n");
    EXPECT_EQ(alone.circle(),
              "  rank 0 at `wait sig[1] >= generation + 1` (line 3) waits, and nobody is left to "
              "ring\n");
    EXPECT_EQ(Checked("data = inp\nout = data@((rank + 1) % nranks)\n").circle(), "");
}

// A set of something else, a credit taken back and another lane's ring let nobody go on.
TEST(Mend, NamesTheRingThatIsWaitedForAndNoOther) {
    const Checked sets(
        "if rank == 1 {\n"
        "    wait sig[1] >= 1\n"
        "    notify sig[0]@0 = 1\n"
        "    notify sig[0]@0 = 2\n"
        "} else {\n"
        "    wait sig[0] >= 2\n"
        "    notify sig[1]@1 = 0\n"
        "    notify sig[1]@1 = 1\n"
        "}\n");
    EXPECT_EQ(sets.circle(),
              "  rank 0 at `wait sig[0] >= 2` (line 7) waits for rank 1 to ring (line 5)\n"
              "  rank 1 at `wait sig[1] >= 1` (line 3) waits for rank 0 to ring (line 9)\n");
    const Checked credits(
        "for peer in peers { notify sig[0]@peer += 1 }\n"
        "notify sig[0]@rank += 0 - 1\n"
        "wait sig[0] >= nranks - 1\n");
    EXPECT_EQ(credits.circle(),
              "  rank 0 at `wait sig[0] >= 1` (line 4) waits for rank 1 to ring in a later "
              "call (line 2, peer=0)\n"
              "  rank 1 at `wait sig[0] >= 1` (line 4) waits for rank 0 to ring in a later "
              "call (line 2, peer=1)\n");
}

TEST(Mend, TellsLanesApart) {
    const Checked lanes(
        "if lane == 0 {\n"
        "    wait sig[0] >= 1\n"
        "    notify sig[1]@rank = 1\n"
        "} else {\n"
        "    wait sig[1] >= 1\n"
        "    notify sig[0]@rank = 1\n"
        "}\n",
        2, 2);
    EXPECT_EQ(lanes.circle(),
              "  rank 0, lane 0 at `wait sig[0] >= 1` (line 3) waits for rank 0, lane 1 to ring "
              "(line 7)\n"
              "  rank 0, lane 1 at `wait sig[1] >= 1` (line 6) waits for rank 0, lane 0 to ring "
              "(line 4)\n");
    const Checked itself(
        "wait sig[0] >= 1\n"
        "notify sig[0]@rank = 1\n");
    EXPECT_EQ(itself.circle(),
              "  rank 0 at `wait sig[0] >= 1` (line 2) waits for itself to ring (line 3)\n");
}

}  // namespace mend_test
}  // namespace peal
