// SPDX-License-Identifier: Apache-2.0
// What docs/communicator.md and docs/coming_from_mpi.md show is true: their C++ is part of
// examples/communicator/, and their commands print what they say. Ranks print in any order.
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/document.hpp"
#include "support/patterns.hpp"

namespace peal::test {
namespace communicator_doc_test {

std::vector<std::string> sorted_lines(const std::string& text) {
    auto lines = lines_of(replaced(text, "loss [0-9.]+", "loss <number>"));
    lines.erase(std::remove(lines.begin(), lines.end(), ""), lines.end());
    std::sort(lines.begin(), lines.end());
    return lines;
}

std::vector<Block> document() {
    std::vector<Block> blocks;
    for (const char* name : {"communicator", "coming_from_mpi"}) {
        const auto more =
            fenced_blocks(read_file(std::string(PEAL_SOURCE_DIR "/docs/") + name + ".md"));
        EXPECT_GE(more.size(), 4u) << name;
        blocks.insert(blocks.end(), more.begin(), more.end());
    }
    return blocks;
}

TEST(CommunicatorDocument, ItsCodeIsPartOfTheExamples) {
    const auto sources = sources_in(PEAL_SOURCE_DIR "/examples/communicator");
    int count = 0;
    for (const Block& block : document()) {
        if (block.tag != "cpp") continue;
        ++count;
        EXPECT_TRUE(std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
            return stripped(source).find(stripped(block.text)) != std::string::npos;
        })) << block.text;
    }
    EXPECT_GE(count, 5);
}

TEST(CommunicatorDocument, EveryCommandDoesWhatItSays) {
    int count = 0;
    for (const Block& block : document()) {
        if (block.tag != "console") continue;
        for (const Step& step : steps_of(block.text)) {
            ++count;
            ASSERT_EQ(step.words.front(), "peal");
            const Ran ran = peal({step.words.begin() + 1, step.words.end()}, PEAL_EXAMPLES);
            EXPECT_EQ(sorted_lines(ran.out + ran.err), sorted_lines(step.output))
                << ::testing::PrintToString(step.words);
        }
    }
    EXPECT_GE(count, 4);
}

}  // namespace communicator_doc_test
}  // namespace peal::test
