// SPDX-License-Identifier: Apache-2.0
// What a document shows: its fenced blocks.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace peal::test {

struct Block {
    std::string tag;  // what follows the opening fence
    std::string text;
};

std::vector<Block> fenced_blocks(const std::string& document);

// A session: "$ command" lines, each followed by what it prints.
struct Step {
    std::vector<std::string> words;  // of the command
    std::string output;
};
std::vector<Step> steps_of(const std::string& session);

std::vector<std::string> lines_of(const std::string& text);

// Line by line, without indentation and empty lines.
std::string stripped(const std::string& text);

// The texts of the C++ files in a directory.
std::vector<std::string> sources_in(const std::string& directory);

}  // namespace peal::test
