// SPDX-License-Identifier: Apache-2.0
// Every program, command and output of docs/tutorial.md, as it stands there. Times are not
// compared.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <sstream>

#include "cli/command.hpp"

namespace peal::test {
namespace {

struct Block {
    std::string tag;  // what follows the opening fence
    std::string text;
};

std::vector<Block> fenced_blocks(const std::string& document) {
    std::vector<Block> blocks;
    std::stringstream lines(document);
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("```", 0) == 0) {
            inside = !inside;
            if (inside) blocks.push_back({line.substr(3), ""});
        } else if (inside) {
            blocks.back().text += line + "\n";
        }
    }
    return blocks;
}

std::vector<std::string> words_of(const std::string& line) {
    std::stringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

// Times differ from run to run, and with them the width of their column.
std::string without_times(const std::string& text) {
    return std::regex_replace(text, std::regex("[0-9]+(\\.[0-9]+)? (us|ms|s)\\b"), "<time>");
}

void run_console(const std::string& session, const std::string& directory) {
    std::stringstream lines(session);
    std::string command, expected;
    const auto compare = [&] {
        if (command.empty()) return;
        std::vector<std::string> words = words_of(command);
        ASSERT_EQ(words.front(), "peal");
        words.erase(words.begin());
        const Ran ran = peal(words, directory);
        EXPECT_EQ(without_times(ran.out + ran.err), without_times(expected)) << command;
    };
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("$ ", 0) != 0) {
            expected += line + "\n";
            continue;
        }
        compare();
        command = line.substr(2);
        expected.clear();
    }
    compare();
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

}  // namespace
}  // namespace peal::test
