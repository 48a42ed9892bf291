// SPDX-License-Identifier: Apache-2.0
// The glossary in docs/architecture.md names each type of the headers that it lists, and no other;
// it lists every header for users and at least one of each room.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <sstream>

#include "house/rooms.hpp"

namespace peal::test {
namespace glossary_test {

namespace fs = std::filesystem;

const fs::path kRoot = PEAL_SOURCE_DIR;

bool is_type_name(std::string_view word) {
    return !word.empty() && std::isupper(static_cast<unsigned char>(word.front())) != 0 &&
           word.find_first_of("/. ") == std::string_view::npos;
}

// What stands between backquotes.
std::vector<std::string> in_quotes(const std::string& line) {
    std::vector<std::string> words;
    for (std::size_t begin = line.find('`'); begin != std::string::npos;) {
        const std::size_t end = line.find('`', begin + 1);
        if (end == std::string::npos) break;
        words.push_back(line.substr(begin + 1, end - begin - 1));
        begin = line.find('`', end + 1);
    }
    return words;
}

// Types by header.
std::map<std::string, Names> glossary() {
    const std::string document = text_of("docs/architecture.md");
    std::istringstream lines(document.substr(document.find("## Glossary")));
    std::map<std::string, Names> result;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("| `", 0) != 0) continue;
        const std::vector<std::string> words = in_quotes(line);
        Names& types = result[words.front()];
        for (const std::string& word : words) {
            if (is_type_name(word)) types.insert(word);
        }
    }
    return result;
}

// Those that a header defines at the scope of a namespace: "class Plan {", "enum class Pipe : ...".
Names types_in(const fs::path& header) {
    Names types;
    std::istringstream lines(text_of(header));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string word;
        words >> word;
        const bool is_type =
            line.rfind(word, 0) == 0 && (word == "struct" || word == "class" || word == "enum");
        const bool is_only_declared =
            line.find('{') == std::string::npos && line.find(';') != std::string::npos;
        if (!is_type || is_only_declared) continue;
        while (words >> word && (word == "class" || word.rfind("alignas(", 0) == 0)) {
        }
        word.resize(std::min(word.size(), word.find_first_of("<:{;")));
        if (is_type_name(word)) types.insert(word);
    }
    return types;
}

fs::path place_of(const std::string& header) {
    return kRoot / (header.rfind("peal/", 0) == 0 ? "include" : "src") / header;
}

TEST(Glossary, NamesTheTypesOfItsHeaders) {
    for (const auto& [header, types] : glossary()) {
        ASSERT_TRUE(fs::exists(place_of(header))) << header;
        EXPECT_EQ(types, types_in(place_of(header))) << header;
    }
}

TEST(Glossary, HasEveryHeaderForUsers) {
    const auto known = glossary();
    for (const auto& entry : fs::directory_iterator(kRoot / "include/peal")) {
        if (types_in(entry.path()).empty()) continue;
        EXPECT_TRUE(known.contains("peal/" + entry.path().filename().string())) << entry.path();
    }
}

TEST(Glossary, BeginsInEveryRoom) {
    Names rooms;
    for (const auto& [header, types] : glossary()) rooms.insert(header.substr(0, header.find('/')));
    rooms.erase("peal");
    EXPECT_EQ(rooms, Rooms(text_of("docs/architecture.md")).all());
}

}  // namespace glossary_test
}  // namespace peal::test
