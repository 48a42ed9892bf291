// SPDX-License-Identifier: Apache-2.0
// Nothing is declared that nobody uses. A use in a test counts for what users include, and for
// nothing else: what only a test needs is not needed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "house/uses.hpp"

namespace peal::test {
namespace dead_code_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<SourceFile> headers_below(const std::string& directory) {
    std::vector<SourceFile> files = sources_below({directory});
    std::erase_if(files, [](const SourceFile& file) {
        return file.path.compare(file.path.size() - 4, 4, ".hpp") != 0;
    });
    return files;
}

TEST(DeadCode, EveryNameOfARoomIsUsedOutsideOfTests) {
    EXPECT_THAT(
        unused_names(headers_below("src"), sources_below({"include", "src", "examples", "bench"})),
        IsEmpty())
        << "Nobody but tests uses these names: remove them.";
}

TEST(DeadCode, EveryNameForUsersIsUsed) {
    EXPECT_THAT(unused_names(headers_below("include/peal"),
                             sources_below({"include", "src", "examples", "bench", "tests"})),
                IsEmpty())
        << "Nobody uses these names, not even a test: remove them, or test them.";
}

std::vector<std::string> unused(const std::string& header, const std::string& source) {
    return unused_names({{"a.hpp", header}}, {{"a.hpp", header}, {"a.cpp", source}});
}

TEST(UnusedNames, FindsFunctionsThatAreOnlyDeclaredAndDefined) {
    const std::string header = "int f(int x);\nstd::vector<int> g();\nvoid* h();\n";
    EXPECT_THAT(unused(header, "int f(int x) { return x; } // f(1)\nstd::vector<int> g() {}"),
                ElementsAre("a.hpp: f", "a.hpp: g", "a.hpp: h"));
    EXPECT_THAT(unused(header, "int main() { f(1); peal::g(); call(h); }"), IsEmpty());
    EXPECT_THAT(unused(header, "int main() { return f(a * g().size() + *h()); }"), IsEmpty());
    EXPECT_THAT(
        unused(header, "std::vector<int> g() { return {}; }\nconst int k = f(g()); auto p = &h;"),
        IsEmpty());
}

TEST(UnusedNames, FindsMembers) {
    const std::string header =
        "class C {\npublic:\n    int a() const { return b(); }\n    int b() const;\n};\nC make();";
    EXPECT_THAT(unused(header, "int C::b() const { return 1; }\nauto x = make();"),
                ElementsAre("a.hpp: a"));
    EXPECT_THAT(unused(header, "int f(const C& c) { make(); return c.a(); }"), IsEmpty());
}

TEST(UnusedNames, FindsTypesThatOnlyTheirOwnMembersName) {
    const std::string header =
        "class C {\npublic:\n    explicit C(int);\n    C& operator=(const C&) = delete;\n};\n"
        "struct S;\nenum class E { one };\nusing U = int;\n";
    EXPECT_THAT(unused(header, "C::C(int) {}\nC::N C::m() { return 1; }\n"),
                ElementsAre("a.hpp: C", "a.hpp: S", "a.hpp: E", "a.hpp: U"));
    EXPECT_THAT(unused(header, "C c(1); S* s; E e = E::one; U u;"), IsEmpty());
}

TEST(UnusedNames, FindsConstants) {
    const std::string header = "inline constexpr int kOne = 1;\ninline constexpr int kTwo = 2;\n";
    EXPECT_THAT(unused(header, "int two() { return kTwo; } const char* s = \"kOne\";"),
                ElementsAre("a.hpp: kOne"));
}

}  // namespace dead_code_test
}  // namespace peal::test
