// SPDX-License-Identifier: Apache-2.0
#include "draw/pictures.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "draw/scenes.hpp"
#include "draw/wrap.hpp"

namespace peal::draw {
namespace terminal_test {

using test::fixed;
using test::now;
using test::overwritten_window;
using test::ring_deadlock;
using test::Scene;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(Terminal, ThreeRanks) {
    EXPECT_EQ(to_terminal(overwritten_window(3).diagram()),
              R"(  rank 0                    rank 1                    rank 2
  ┄ call 0                  ┄ call 0                  ┄ call 0
  ● caller stages           ● caller stages           ● caller stages
  ● copy data <- inp        ● copy data <- inp        ● copy data <- inp
  ● notify sig[0]@1 += 1    │                         │
  ● notify sig[0]@2 += 1 ───┼────────────────────────▶┃
  ┃◀────────────────────────● notify sig[1]@0 += 1    ┃
  ● wait sig[1] >= 1        ● notify sig[1]@2 += 1 ──▶┃
  ┃◀────────────────────────┼─────────────────────────● notify sig[2]@0 += 1
  ● wait sig[2] >= 1        │                         ● notify sig[2]@1 += 1
  │                         │                         ● wait sig[0] >= 1
  │                         │                         ● wait sig[1] >= 1
  │                         │                         ● sum out <- data@0..2
  │                         │                         ● caller consumes
  │                         │                         ┄ call 1
  │                         │                         ● caller stages
  ✗ sum out <- data@0..2    │                         ✗ copy data <- inp
  ╰━━━━━━━━━━━━ data race: data@2[0..64) ━━━━━━━━━━━━━╯
)");
}

TEST(Terminal, PlainCharacters) {
    EXPECT_EQ(to_terminal(overwritten_window(2).diagram(), {.unicode = false}),
              R"(  rank 0                    rank 1
  . call 0                  . call 0
  * caller stages           * caller stages
  * copy data <- inp        * copy data <- inp
  * notify sig[0]@1 += 1 -->#
  #<------------------------* notify sig[1]@0 += 1
  * wait sig[1] >= 1        * wait sig[0] >= 1
  |                         * sum out <- data@0..1
  |                         * caller consumes
  |                         . call 1
  |                         * caller stages
  X sum out <- data@0..1    X copy data <- inp
  +=========================+
    data race: data@1[0..64)
)");
}

TEST(Terminal, DeadlockOfFour) {
    EXPECT_EQ(to_terminal(ring_deadlock(4).diagram()),
              R"(  rank 0                   rank 1                   rank 2                   rank 3
  ✗ wait sig[0] >= 1,      ✗ wait sig[0] >= 1,      ✗ wait sig[0] >= 1,      ✗ wait sig[0] >= 1,
  │   sees 0               │   sees 0               │   sees 0               │   sees 0
  ╰━━━━━━━ deadlock ━━━━━━━┷━━━━━━━━━━━━━━━━━━━━━━━━┷━━━━━━━━━━━━━━━━━━━━━━━━╯
)");
}

TEST(Terminal, OneOffendingStep) {
    Scene scene(6);
    const auto data = scene.plans.window("data", 64);
    scene.plans.on(3).fill({data, 3, 0, 128}, 0);
    scene.step(0, 3, 0);
    scene.involve(0, 3, 0);
    scene.violation.kind = ViolationKind::out_of_range;
    scene.violation.memory = "data@3[0..128)";
    EXPECT_EQ(to_terminal(scene.diagram()), R"(  rank 3
  ✗ fill data[0..128) <- 0
  ╰ out of range: data@3[0..128)
  not involved: ranks 0..2, 4, 5
)");
}

TEST(Terminal, ASignalToItself) {
    Scene scene(1);
    const auto sig = scene.plans.signal("sig", 1, 1);
    scene.plans.on(0).increase(sig, 0, 0, fixed(1)).drain().wait(sig, 0, now(1));
    scene.step(0, 0, 0);
    scene.step(0, 0, 1);
    scene.step(0, 0, 2, 0);
    scene.involve(0, 0, 2);
    scene.violation.kind = ViolationKind::stale_signal;
    EXPECT_EQ(to_terminal(scene.diagram()), R"(  rank 0
  ● notify sig[0] += 1
  ● pipe_barrier ALL on ALL
  ✗ wait sig[0] >= 1
  ╰ stale signal
)");
}

TEST(Terminal, OnlyLanesThatClashAreDrawnWhenNotAllFit) {
    EXPECT_EQ(to_terminal(overwritten_window(4).diagram(), {.width = 60}),
              R"(  rank 0                        rank 3
  ┄ call 0                      ┄ call 0
  ● caller stages               ● caller stages
  ● copy data <- inp            ● copy data <- inp
  ● notify sig[0]@1 += 1        │
  ● notify sig[0]@2 += 1        │
  ● notify sig[0]@3 += 1 ──────▶┃
  ● wait sig[1] >= 1 (rank 1)   ┃
  ● wait sig[2] >= 1 (rank 2)   ┃
  ┃◀────────────────────────────● notify sig[3]@0 += 1
  ● wait sig[3] >= 1            ● notify sig[3]@1 += 1
  │                             ● notify sig[3]@2 += 1
  │                             ● wait sig[0] >= 1
  │                             ● wait sig[1] >= 1 (rank 1)
  │                             ● wait sig[2] >= 1 (rank 2)
  │                             ● sum out <- data@0..3
  │                             ● caller consumes
  │                             ┄ call 1
  │                             ● caller stages
  ✗ sum out <- data@0..3        ✗ copy data <- inp
  ╰━ data race: data@3[0..64) ━━╯
  take part, not drawn: ranks 1, 2
)");
}

TEST(Terminal, StepsAreListedWhenNoLanesFit) {
    EXPECT_EQ(to_terminal(overwritten_window(2).diagram(), {.width = 36}), R"(    1  rank 0   call 0
    2  rank 0   caller stages
    3  rank 0   copy data <- inp
    4  rank 0   notify sig[0]@1 += 1
    5  rank 1   call 0
    6  rank 1   caller stages
    7  rank 1   copy data <- inp
    8  rank 1   notify sig[1]@0 += 1
    9  rank 0   wait sig[1] >= 1
                  (after 8)
   10  rank 1   wait sig[0] >= 1
                  (after 4)
   11  rank 1   sum out <- data@0..1
   12  rank 1   caller consumes
   13  rank 1   call 1
   14  rank 1   caller stages
✗  15  rank 0   sum out <- data@0..1
✗  16  rank 1   copy data <- inp
data race: data@1[0..64)
)");
}

TEST(Terminal, WithoutStepsThereIsTheTitle) {
    const Scene scene(3);
    EXPECT_EQ(to_terminal(scene.diagram()), "data race\n  not involved: ranks 0..2\n");
}

TEST(Terminal, LanesFitUpToSixRanks) {
    for (const auto& [nranks, width] : {std::pair{4, 82}, {5, 100}, {6, 120}}) {
        const std::string text = to_terminal(overwritten_window(nranks).diagram(),
                                             {.width = static_cast<std::size_t>(width)});
        const std::string header = text.substr(0, text.find('\n'));
        for (int rank = 0; rank < nranks; ++rank) {
            EXPECT_THAT(header, HasSubstr("rank " + std::to_string(rank)));
        }
    }
}

TEST(Terminal, NoLineIsWiderThanAsked) {
    for (int nranks = 2; nranks <= 9; ++nranks) {
        for (std::size_t width = 40; width <= 180; width += 7) {
            for (const Scene& scene : {overwritten_window(nranks), ring_deadlock(nranks)}) {
                std::istringstream lines(to_terminal(scene.diagram(), {.width = width}));
                for (std::string line; std::getline(lines, line);) {
                    EXPECT_LE(width_of(line), width) << line;
                    EXPECT_THAT(line, Not(EndsWith(" ")));
                }
            }
        }
    }
}

TEST(Terminal, ColorsAreEscapesAroundTheSameText) {
    const Diagram diagram = overwritten_window(4).diagram();
    const std::string colored = to_terminal(diagram, {.color = true});
    EXPECT_THAT(colored, HasSubstr("\x1b[0;1;31m✗\x1b[0m"));
    std::string plain;
    for (std::size_t at = 0; at < colored.size(); ++at) {
        if (colored[at] == '\x1b') {
            at = colored.find('m', at);
        } else {
            plain += colored[at];
        }
    }
    EXPECT_EQ(plain, to_terminal(diagram));
}

}  // namespace terminal_test
}  // namespace peal::draw
