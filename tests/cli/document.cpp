// SPDX-License-Identifier: Apache-2.0
#include "cli/document.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command.hpp"
#include "support/patterns.hpp"

namespace peal::test {
namespace {

std::vector<std::string> words_of(const std::string& line) {
    std::stringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

}  // namespace

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

std::vector<Step> steps_of(const std::string& session) {
    std::vector<Step> steps;
    std::stringstream lines(session);
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("$ ", 0) == 0) {
            steps.push_back({words_of(line.substr(2)), ""});
        } else if (!steps.empty()) {
            steps.back().output += line + "\n";
        }
    }
    return steps;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::string stripped(const std::string& text) {
    std::string result;
    for (const std::string& line : lines_of(text)) {
        const auto begin = line.find_first_not_of(' ');
        if (begin != std::string::npos) result += line.substr(begin) + "\n";
    }
    return result;
}

std::string without_times(const std::string& text) {
    return replaced(text, "[0-9]+(\\.[0-9]+)? (us|ms|s)\\b", "<time>");
}

Played play(const std::string& document) {
    const TemporaryFile here("placeholder", "");
    Played played;
    for (const Block& block : fenced_blocks(document)) {
        const std::size_t space = block.tag.find(' ');
        if (space != std::string::npos) {
            std::ofstream(here.directory() + "/" + block.tag.substr(space + 1)) << block.text;
            ++played.files;
        } else if (block.tag == "console") {
            for (const Step& step : steps_of(block.text)) {
                EXPECT_EQ(step.words.front(), "peal");
                const Ran ran = peal({step.words.begin() + 1, step.words.end()}, here.directory());
                EXPECT_EQ(without_times(ran.out + ran.err), without_times(step.output))
                    << ::testing::PrintToString(step.words);
            }
            ++played.sessions;
        }
    }
    return played;
}

std::vector<std::string> sources_in(const std::string& directory) {
    std::vector<std::string> sources;
    for (const auto& file : std::filesystem::directory_iterator(directory)) {
        if (file.path().extension() == ".cpp") sources.push_back(read_file(file.path().string()));
    }
    return sources;
}

}  // namespace peal::test
