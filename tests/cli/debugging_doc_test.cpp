// SPDX-License-Identifier: Apache-2.0
// What docs/debugging.md shows is true. Ranks print in any order; times, and which of several equal
// ranks was first, are not compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "cli/command.hpp"
#include "cli/document.hpp"
#include "support/patterns.hpp"

namespace peal::test {
namespace debugging_doc_test {

std::vector<std::string> comparable_lines(std::string text) {
    const std::pair<const char*, const char*> changes[] = {
        {" +[0-9]+(\\.[0-9]+)? (ns|us|ms|s)\\b", " <time>"},
        {"timeout: rank [0-9]+", "timeout: rank <some>"},
        {"launch: rank [0-9]+: the", "launch: rank <some>: the"},
    };
    for (const auto& [pattern, word] : changes) {
        text = replaced(text, pattern, word);
    }
    auto lines = lines_of(text);
    lines.erase(std::remove(lines.begin(), lines.end(), ""), lines.end());
    std::sort(lines.begin(), lines.end());
    return lines;
}

// "NAME=value peal arguments"; launched programs are where they were built.
std::string output_of(std::vector<std::string> words) {
    std::string variable;
    const std::size_t sign = words[0].find('=');
    if (sign != std::string::npos) {
        variable = words[0].substr(0, sign);
        setenv(variable.c_str(), words[0].substr(sign + 1).c_str(), 1);
        words.erase(words.begin());
    }
    EXPECT_EQ(words[0], "peal");
    const std::string directory = words[1] == "launch" ? PEAL_EXAMPLES : PEAL_SOURCE_DIR;
    const Ran ran = peal({words.begin() + 1, words.end()}, directory);
    if (!variable.empty()) unsetenv(variable.c_str());
    return ran.out + ran.err;
}

TEST(DebuggingDocument, EveryCommandDoesWhatItSays) {
    int count = 0;
    for (const Block& block : fenced_blocks(read_file(PEAL_SOURCE_DIR "/docs/debugging.md"))) {
        ASSERT_EQ(block.tag, "console");
        for (const Step& step : steps_of(block.text)) {
            ++count;
            EXPECT_EQ(comparable_lines(output_of(step.words)), comparable_lines(step.output))
                << ::testing::PrintToString(step.words);
        }
    }
    EXPECT_EQ(count, 5);
}

}  // namespace debugging_doc_test
}  // namespace peal::test
