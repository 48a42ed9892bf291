// SPDX-License-Identifier: Apache-2.0
// Every program in tests/must_fail/ is rejected with exactly the text in the .expected file beside
// it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "language/support.hpp"

namespace peal {
namespace must_fail_test {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(PEAL_SOURCE_DIR) / "tests" / "must_fail";

std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<std::string> stems(const std::string& extension) {
    std::vector<std::string> result;
    for (const fs::directory_entry& entry : fs::directory_iterator(kFolder)) {
        if (entry.path().extension() == extension) result.push_back(entry.path().stem().string());
    }
    std::sort(result.begin(), result.end());
    return result;
}

class MustFail : public ::testing::TestWithParam<std::string> {};

TEST_P(MustFail, WithThisMessage) {
    const fs::path path = kFolder / (GetParam() + ".peal");
    const std::string name = path.filename().string();
    std::string expected = contents(kFolder / (GetParam() + ".expected"));
    if (!expected.empty() && expected.back() == '\n') expected.pop_back();
    try {
        parse(test::source_of(contents(path), name));
        FAIL() << name << " was accepted";
    } catch (const ProgramError& error) {
        EXPECT_EQ(std::string(error.what()), expected);
    }
}

INSTANTIATE_TEST_SUITE_P(Program, MustFail, ::testing::ValuesIn(stems(".peal")),
                         [](const auto& info) { return info.param; });

TEST(MustFailFolder, EveryExpectationBelongsToAProgram) {
    EXPECT_EQ(stems(".expected"), stems(".peal"));
    EXPECT_GE(stems(".peal").size(), 70U);
}

}  // namespace must_fail_test
}  // namespace peal
