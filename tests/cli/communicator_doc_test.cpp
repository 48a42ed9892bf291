// SPDX-License-Identifier: Apache-2.0
// What docs/communicator.md shows is true: its C++ is part of examples/communicator/, and its
// commands print what it says. Ranks print in any order.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

#include "cli/command.hpp"
#include "cli/document.hpp"

namespace peal::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

// The code of a line, without its indentation.
std::string stripped(const std::string& text) {
    std::string result;
    for (const std::string& line : lines_of(text)) {
        const auto begin = line.find_first_not_of(' ');
        if (begin != std::string::npos) result += line.substr(begin) + "\n";
    }
    return result;
}

std::vector<std::string> example_sources() {
    std::vector<std::string> sources;
    for (const auto& file :
         std::filesystem::directory_iterator(PEAL_SOURCE_DIR "/examples/communicator")) {
        if (file.path().extension() == ".cpp") {
            sources.push_back(stripped(read_file(file.path().string())));
        }
    }
    return sources;
}

std::vector<std::string> sorted_lines(const std::string& text) {
    auto lines = lines_of(std::regex_replace(text, std::regex("loss [0-9.]+"), "loss <number>"));
    lines.erase(std::remove(lines.begin(), lines.end(), ""), lines.end());
    std::sort(lines.begin(), lines.end());
    return lines;
}

std::vector<Block> document() {
    return fenced_blocks(read_file(PEAL_SOURCE_DIR "/docs/communicator.md"));
}

TEST(CommunicatorDocument, ItsCodeIsPartOfTheExamples) {
    const std::vector<std::string> sources = example_sources();
    int count = 0;
    for (const Block& block : document()) {
        if (block.tag != "cpp") continue;
        ++count;
        EXPECT_TRUE(std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
            return source.find(stripped(block.text)) != std::string::npos;
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

}  // namespace
}  // namespace peal::test
