// SPDX-License-Identifier: Apache-2.0
// Every program, command and output of docs/tutorial.md, as it stands there. Times are not
// compared.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "cli/command.hpp"
#include "cli/document.hpp"

namespace peal::test {
namespace tutorial_test {

// Times differ from run to run, and with them the width of their column.
std::string without_times(const std::string& text) {
    return std::regex_replace(text, std::regex("[0-9]+(\\.[0-9]+)? (us|ms|s)\\b"), "<time>");
}

void run_console(const std::string& session, const std::string& directory) {
    for (const Step& step : steps_of(session)) {
        ASSERT_EQ(step.words.front(), "peal");
        const Ran ran = peal({step.words.begin() + 1, step.words.end()}, directory);
        EXPECT_EQ(without_times(ran.out + ran.err), without_times(step.output))
            << ::testing::PrintToString(step.words);
    }
}

TEST(Tutorial, EveryCommandDoesWhatItSays) {
    const TemporaryFile here("placeholder", "");
    int programs = 0;
    int sessions = 0;
    for (const Block& block : fenced_blocks(read_file(PEAL_SOURCE_DIR "/docs/tutorial.md"))) {
        if (block.tag.rfind("peal ", 0) == 0) {
            std::ofstream(here.directory() + "/" + block.tag.substr(5)) << block.text;
            ++programs;
        } else if (block.tag == "console") {
            run_console(block.text, here.directory());
            ++sessions;
        }
    }
    EXPECT_GE(programs, 3);
    EXPECT_GE(sessions, 4);
}

}  // namespace tutorial_test
}  // namespace peal::test
