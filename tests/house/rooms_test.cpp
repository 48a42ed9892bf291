// SPDX-License-Identifier: Apache-2.0
// The table of rooms in docs/architecture.md is true: no file includes a header of a room that it
// does not know.
#include "house/rooms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

namespace peal::test {
namespace rooms_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const Rooms& rooms() {
    static const Rooms rooms(text_of("docs/architecture.md"));
    return rooms;
}

TEST(Rooms, TheTableHasEveryFolderOfTheSources) {
    Names folders;
    for (const auto& entry : std::filesystem::directory_iterator(PEAL_SOURCE_DIR "/src")) {
        folders.insert(entry.path().filename().string());
    }
    EXPECT_EQ(rooms().all(), folders);
}

// peal_room(<room> ... LINKS peal_<known> ...)
TEST(Rooms, AreLinkedAsTheTableSays) {
    Names seen = {"cli", "python"};  // the command and the module, which link what they need
    std::istringstream lines(text_of("CMakeLists.txt"));
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("peal_room(", 0) != 0) continue;
        std::istringstream words(line.substr(line.find('(') + 1));
        std::string room;
        words >> room;
        Names linked;
        for (std::string word; words >> word;) {
            if (word.rfind("peal_", 0) == 0) linked.insert(word.substr(5, word.find(')') - 5));
        }
        EXPECT_EQ(linked, rooms().known_by(room)) << room;
        seen.insert(room);
    }
    EXPECT_EQ(seen, rooms().all());
}

TEST(Rooms, EveryHeaderForUsersIsCarriedOut) {
    for (const auto& entry : std::filesystem::directory_iterator(PEAL_SOURCE_DIR "/include/peal")) {
        const std::string header = entry.path().filename().string();
        EXPECT_FALSE(rooms().owners_of(header).empty()) << header;
    }
}

TEST(Rooms, NobodyIncludesStrangers) {
    std::vector<std::string> strangers;
    for (const SourceFile& file : sources_below({"include/peal", "src", "tests"})) {
        if (file.path.rfind("tests/install/", 0) == 0) continue;  // a user's program
        for (std::string& line : rooms().strangers_of(file)) strangers.push_back(std::move(line));
    }
    EXPECT_THAT(strangers, IsEmpty());
}

// Beside each other, they share a helper; everything else is what users have.
TEST(Rooms, ExamplesIncludeWhatUsersInclude) {
    for (const SourceFile& file : sources_below({"examples", "tests/install"})) {
        for (const std::string& header : includes_of(file.text)) {
            EXPECT_FALSE(std::filesystem::exists(PEAL_SOURCE_DIR "/src/" + header))
                << file.path << " includes " << header;
        }
    }
}

// Python has what C++ has.
TEST(Rooms, TheModuleForPythonIncludesWhatUsersInclude) {
    for (const SourceFile& file : sources_below({"src/python"})) {
        for (const std::string& header : includes_of(file.text)) {
            const bool is_private = std::filesystem::exists(PEAL_SOURCE_DIR "/src/" + header);
            EXPECT_TRUE(!is_private || header.rfind("python/", 0) == 0)
                << file.path << " includes " << header;
        }
    }
}

constexpr const char* kSmallHouse =
    "| room | job | knows | headers |\n| --- | --- | --- | --- |\n"
    "| `ground` | x | | earth |\n| `first` | x | ground | |\n| `attic` | x | first | sky |\n"
    "| `tower` | x | ground | |\n\n| tests of | also know | because |\n| --- | --- | --- |\n"
    "| `first` | tower | x |\n";

TEST(Rooms, KnowWhatThoseKnowWhomTheyKnow) {
    const Rooms house(kSmallHouse);
    const std::string text =
        "#include <vector>\n#include \"attic/a.hpp\"\n#include \"ground/g.hpp\"\n"
        "#include \"tower/t.hpp\"\n#include \"peal/earth.hpp\"\n#include \"peal/sky.hpp\"\n";
    EXPECT_THAT(house.strangers_of({"src/attic/a.cpp", text}),
                ElementsAre("src/attic/a.cpp includes tower/t.hpp, which belongs to tower"));
    EXPECT_THAT(house.strangers_of({"src/first/f.cpp", text}),
                ElementsAre("src/first/f.cpp includes attic/a.hpp, which belongs to attic",
                            "src/first/f.cpp includes tower/t.hpp, which belongs to tower",
                            "src/first/f.cpp includes peal/sky.hpp, which belongs to attic"));
    EXPECT_THAT(
        house.strangers_of({"tests/first/f_test.cpp", text}),
        ElementsAre("tests/first/f_test.cpp includes attic/a.hpp, which belongs to attic",
                    "tests/first/f_test.cpp includes peal/sky.hpp, which belongs to attic"));
    EXPECT_THAT(
        house.strangers_of({"include/peal/earth.hpp", "#include \"peal/sky.hpp\"\n"}),
        ElementsAre("include/peal/earth.hpp includes peal/sky.hpp, which belongs to attic"));
}

}  // namespace rooms_test
}  // namespace peal::test
