// SPDX-License-Identifier: Apache-2.0
// peal demo: what a newcomer sees first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "cli/document.hpp"

namespace peal::test {
namespace demo_test {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const char* const kBroken = "examples/broken/hasty_allreduce.peal";

// All that follows the table, of which only the times differ from run to run.
std::string after_table() {
    return "\nWhat a run cannot show: this program returns before its peers have read it.\n\n" +
           read_file(std::string(PEAL_SOURCE_DIR "/") + kBroken) + R"(
Run 20 times on 2 ranks, and compared with golden: ok
Checked over every order of events: violated

data race: rank 0 (`reduce sum f32 out[0;3] <- data[0;3], data@1[0;3]`, line 9, r=1, call 0) reads and rank 1 (`copy data[0;3] <- inp[0;3]`, line 5, call 1) writes data@1[0;3], and nothing orders them
  rank 0, call 0: reduce sum f32 out[0;3] <- data[0;3], data@1[0;3] (line 9, r=1)
      examples/broken/hasty_allreduce.peal:9: for r in 1..nranks { acc = acc + data@r }
  rank 1, call 1: copy data[0;3] <- inp[0;3] (line 5)
      examples/broken/hasty_allreduce.peal:5: data = inp
  memory:   data@1[0;3]

  rank 0                    rank 1
  ┄ call 0                  ┄ call 0
  ● caller stages           ● caller stages
  ● copy data <- inp        ● copy data <- inp
  ● notify sig[0]@1 = 1 ───▶┃
  ┃◀────────────────────────● notify sig[1]@0 = 1
  ● wait sig[1] >= 1        ● wait sig[0] >= 1
  │                         ● sum out <- data@0..1
  │                         ● caller consumes
  │                         ┄ call 1
  │                         ● caller stages
  ✗ sum out <- data@0..1    ✗ copy data <- inp
  ╰━━━━━━━━━━━━━━━━━━━━━━━━━╯
    data race: data@1[0;3]

Try next, at the top of the sources:
  build/peal check examples/broken/hasty_allreduce.peal -n 2..4 --expect allreduce --svg race.svg
  build/peal check examples/mesh_allreduce.peal -n 2..16 --expect allreduce --explain
  build/peal run examples/mesh_allreduce.peal -n 4 --expect allreduce --calls 1000
)";
}

// Away from the sources: what it needs, it has with it.
TEST(PealDemo, ShowsTheCollectivesAndRefutesABrokenProgram) {
    const TemporaryFile elsewhere("placeholder", "");
    const Ran ran = peal({"demo"}, elsewhere.directory());
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.err, "");
    EXPECT_THAT(ran.out, StartsWith("collective"));
    EXPECT_THAT(ran.out, Not(HasSubstr("WRONG")));
    EXPECT_THAT(ran.out, EndsWith(after_table()));
}

TEST(PealDemo, TheCommandsToTryNextDoWhatTheyAreNamedFor) {
    const TemporaryFile elsewhere("placeholder", "");
    const std::string out = peal({"demo"}).out;
    std::string session;
    for (const std::string& line : lines_of(out.substr(out.find("Try next")))) {
        if (line.rfind("  build/peal ", 0) == 0) session += "$ " + line.substr(8) + "\n";
    }
    std::vector<int> exit_codes;
    for (Step& step : steps_of(session)) {
        step.words[2].insert(0, PEAL_SOURCE_DIR "/");
        const Ran ran = peal({step.words.begin() + 1, step.words.end()}, elsewhere.directory());
        EXPECT_EQ(ran.err, "");
        exit_codes.push_back(ran.exit_code);
    }
    EXPECT_EQ(exit_codes, (std::vector<int>{1, 0, 0}));
    EXPECT_THAT(read_file(elsewhere.directory() + "/race.svg"), HasSubstr("data race"));
}

}  // namespace demo_test
}  // namespace peal::test
