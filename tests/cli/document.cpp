// SPDX-License-Identifier: Apache-2.0
#include "cli/document.hpp"

#include <sstream>

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

}  // namespace peal::test
