// SPDX-License-Identifier: Apache-2.0
// C++ sources as the tests of the house see them: words and signs, without comments and literals.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace peal::test {

// Of a file below the top of the source tree, or by its whole path.
std::string text_of(const std::filesystem::path& path);

struct SourceFile {
    std::string path;  // below the top of the source tree
    std::string text;
};

// The .hpp and .cpp files below these directories, by path.
std::vector<SourceFile> sources_below(const std::vector<std::string>& directories);

// Identifiers, numbers, "::" and "->" are one token each, a literal is `""`, every other character
// is a token of its own. Preprocessor lines are left out, but what a macro stands for is not.
std::vector<std::string_view> tokens_of(std::string_view text);

bool is_word(std::string_view token);

// The files between quotes or angle brackets of its #include lines.
std::vector<std::string> includes_of(std::string_view text);

}  // namespace peal::test
