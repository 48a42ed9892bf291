// SPDX-License-Identifier: Apache-2.0
// Every program, command and output of docs/tutorial.md, as it stands there. Times are not
// compared.
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "cli/document.hpp"

namespace peal::test {
namespace tutorial_test {

TEST(Tutorial, EveryCommandDoesWhatItSays) {
    const Played played = play(read_file(PEAL_SOURCE_DIR "/docs/tutorial.md"));
    EXPECT_GE(played.files, 3);
    EXPECT_GE(played.sessions, 4);
}

}  // namespace tutorial_test
}  // namespace peal::test
