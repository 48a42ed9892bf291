// SPDX-License-Identifier: Apache-2.0
#include "draw/diagram.hpp"

#include <gtest/gtest.h>

#include "draw/pictures.hpp"
#include "draw/scenes.hpp"

namespace peal::draw {
namespace fold_test {

using test::overwritten_window;

TEST(Fold, FewEventsStayAsTheyAre) {
    const Diagram diagram = overwritten_window(2).diagram();
    EXPECT_EQ(to_terminal(folded(diagram)), to_terminal(diagram));
}

TEST(Fold, OnlyTheStepsThatMatter) {
    EXPECT_EQ(to_terminal(folded(overwritten_window(8).diagram())),
              R"(  rank 0                    rank 7
  ┄ call 0                  ┄ call 0
  │                         ● caller stages
  │                         ● copy data <- inp
  ⋮ 8 steps                 │
  ● notify sig[0]@7 += 1 ──▶┃
  ⋮ 6 steps                 ┃
  ┃◀────────────────────────● notify sig[7]@0 += 1
  ● wait sig[7] >= 1        ┃
  │                         ⋮ 6 steps
  │                         ● wait sig[0] >= 1
  │                         ⋮ 6 steps
  │                         ● sum out <- data@0..7
  │                         ● caller consumes
  │                         ┄ call 1
  │                         ● caller stages
  ✗ sum out <- data@0..7    ✗ copy data <- inp
  ╰━━━━━━━━━━━━━━━━━━━━━━━━━╯
    data race: data@7[0..64)
  ranks 1..6 meanwhile: 9 steps each
)");
}

}  // namespace fold_test
}  // namespace peal::draw
