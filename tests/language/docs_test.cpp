// SPDX-License-Identifier: Apache-2.0
// What docs/language.md shows is true: ```peal blocks parse, ```peal-error blocks do not, and a
// ```text block after a ```peal-error block is what is said about it.
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "language/support.hpp"

namespace peal {
namespace docs_test {

struct Block {
    std::string tag;
    int line = 0;
    std::string text;
};

std::vector<Block> fenced_blocks() {
    std::ifstream file(std::string(PEAL_SOURCE_DIR) + "/docs/language.md");
    EXPECT_TRUE(file) << "docs/language.md is missing";
    std::vector<Block> blocks;
    bool inside = false;
    int number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.starts_with("```")) {
            inside = !inside;
            if (inside) blocks.push_back({line.substr(3), number, ""});
        } else if (inside) {
            blocks.back().text += line + "\n";
        }
    }
    EXPECT_FALSE(inside) << "a block is not closed";
    return blocks;
}

TEST(LanguageReference, ProgramsParse) {
    int count = 0;
    for (const Block& block : fenced_blocks()) {
        if (block.tag != "peal") continue;
        ++count;
        SCOPED_TRACE("docs/language.md line " + std::to_string(block.line));
        std::vector<Diagnostic> warnings;
        const SourcePtr source = test::source_of(block.text, "language.md");
        try {
            test::expect_round_trip(parse(source, &warnings));
            EXPECT_TRUE(warnings.empty()) << to_text(warnings, source.get());
        } catch (const Error& error) {
            ADD_FAILURE() << error.what();
        }
    }
    EXPECT_GE(count, 10);
}

TEST(LanguageReference, WrongProgramsFailAsItSays) {
    const std::vector<Block> blocks = fenced_blocks();
    int count = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        if (blocks[i].tag != "peal-error") continue;
        ++count;
        SCOPED_TRACE("docs/language.md line " + std::to_string(blocks[i].line));
        const SourcePtr source = test::source_of(blocks[i].text, "mesh.peal");
        try {
            parse(source);
            ADD_FAILURE() << "was accepted";
        } catch (const ProgramError& error) {
            if (i + 1 < blocks.size() && blocks[i + 1].tag == "text") {
                EXPECT_EQ(std::string(error.what()) + "\n", blocks[i + 1].text);
            }
        }
    }
    EXPECT_GE(count, 1);
}

}  // namespace docs_test
}  // namespace peal
