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

// Times differ from run to run, and with them the width of their column.
std::string without_times(const std::string& text);

// Does what a document says, in a directory of its own: a block "```peal mine.peal" is a file, each
// "$ peal ..." of a "```console" block is run, and what it prints compared but for times.
struct Played {
    int files = 0;
    int sessions = 0;
};
Played play(const std::string& document);

// The texts of the C++ files in a directory.
std::vector<std::string> sources_in(const std::string& directory);

}  // namespace peal::test
