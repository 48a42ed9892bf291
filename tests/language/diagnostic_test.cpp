// SPDX-License-Identifier: Apache-2.0
#include "peal/diagnostic.hpp"

#include <string>

#include <gtest/gtest.h>

#include "language/support.hpp"

namespace peal {
namespace diagnostic_test {

using Severity = Diagnostic::Severity;

std::string shown(const std::string& text, const Span& span) {
    const SourcePtr source = test::source_of(text, "a.peal");
    return to_text(Diagnostic{Severity::error, span, "message", ""}, source.get());
}

TEST(DiagnosticText, HasPlaceLineMarkAndHint) {
    const SourcePtr source = test::source_of("one\n    data = }\n", "mesh.peal");
    const Diagnostic diagnostic{
        Severity::error, {2, 12, 1}, "expected a value, found '}'", "write one"};
    EXPECT_EQ(to_text(diagnostic, source.get()),
              "mesh.peal:2:12: error: expected a value, found '}'\n"
              "    2 |     data = }\n"
              "      |            ^\n"
              "hint: write one");
}

TEST(DiagnosticText, WarningsSayThatTheyAre) {
    EXPECT_EQ(to_text(Diagnostic{Severity::warning, {}, "odd", ""}, nullptr), "warning: odd");
}

TEST(DiagnosticText, WithoutASourceThereIsOnlyThePlace) {
    EXPECT_EQ(to_text(Diagnostic{Severity::error, {3, 4, 1}, "wrong", ""}, nullptr),
              "3:4: error: wrong");
    const SourcePtr source = test::source_of("", "a.peal");
    EXPECT_EQ(to_text(Diagnostic{Severity::error, {}, "wrong", ""}, source.get()),
              "a.peal: error: wrong");
}

TEST(DiagnosticText, SeveralStandBelowEachOther) {
    const Diagnostic one{Severity::error, {}, "one", "first"};
    const Diagnostic two{Severity::error, {}, "two", ""};
    EXPECT_EQ(to_text({one, two}, nullptr), "error: one\nhint: first\nerror: two");
    EXPECT_EQ(to_text(std::vector<Diagnostic>{}, nullptr), "");
}

TEST(DiagnosticText, LongSpansAreUnderlined) {
    EXPECT_EQ(shown("let value", {1, 5, 5}),
              "a.peal:1:5: error: message\n"
              "    1 | let value\n"
              "      |     ^~~~~");
}

TEST(DiagnosticText, SpansEndWithTheirLine) {
    EXPECT_EQ(shown("abc", {1, 2, 50}),
              "a.peal:1:2: error: message\n"
              "    1 | abc\n"
              "      |  ^~");
}

TEST(DiagnosticText, PlacesBehindTheLineAreMarked) {
    EXPECT_EQ(shown("abc", {1, 4, 0}),
              "a.peal:1:4: error: message\n"
              "    1 | abc\n"
              "      |    ^");
    EXPECT_EQ(shown("", {1, 1, 0}),
              "a.peal:1:1: error: message\n"
              "    1 | \n"
              "      | ^");
}

TEST(DiagnosticText, TabsStayTabs) {
    EXPECT_EQ(shown("\tx\t= y", {1, 6, 1}),
              "a.peal:1:6: error: message\n"
              "    1 | \tx\t= y\n"
              "      | \t \t  ^");
}

TEST(DiagnosticText, WideCharactersTakeTwoColumns) {
    EXPECT_EQ(shown("\xe4\xbd\xa0\xe5\xa5\xbd x", {1, 4, 1}),
              "a.peal:1:4: error: message\n"
              "    1 | \xe4\xbd\xa0\xe5\xa5\xbd x\n"
              "      |      ^");
    EXPECT_EQ(shown("\xe4\xbd\xa0", {1, 1, 1}),
              "a.peal:1:1: error: message\n"
              "    1 | \xe4\xbd\xa0\n"
              "      | ^~");
}

TEST(DiagnosticText, CombiningCharactersTakeNone) {
    EXPECT_EQ(shown("e\xcc\x81 x", {1, 4, 1}),
              "a.peal:1:4: error: message\n"
              "    1 | e\xcc\x81 x\n"
              "      |   ^");
}

TEST(DiagnosticText, BytesThatAreNoTextAreReplaced) {
    EXPECT_EQ(shown(std::string("a\0\xff"
                                "b",
                                4),
                    {1, 4, 1}),
              "a.peal:1:4: error: message\n"
              "    1 | a\xef\xbf\xbd\xef\xbf\xbd"
              "b\n"
              "      |    ^");
}

TEST(DiagnosticText, LongLinesAreCut) {
    const std::string line(1000, 'x');
    const std::string cut(120, 'x');
    EXPECT_EQ(shown(line, {1, 1, 1}),
              "a.peal:1:1: error: message\n    1 | " + cut + "...\n      | ^");
    EXPECT_EQ(shown(line, {1, 500, 1}), "a.peal:1:500: error: message\n    1 | ..." + cut +
                                            "...\n      | " + std::string(3 + 79, ' ') + "^");
}

TEST(DiagnosticText, LargeLineNumbersWidenTheMargin) {
    const std::string text = std::string(1234566, '\n') + "x";
    EXPECT_EQ(shown(text, {1234567, 1, 1}),
              "a.peal:1234567:1: error: message\n"
              "1234567 | x\n"
              "        | ^");
}

TEST(ProgramErrorText, HasEveryErrorInSourceOrder) {
    const std::string text =
        "kernel a() {\n    x = y\n    z = 1 ? 2\n}\nkernel b() {\n    x = y\n}\n";
    try {
        test::parse_text(text);
        FAIL() << "parsed a program with errors";
    } catch (const ProgramError& error) {
        EXPECT_EQ(error.fault(), Fault::program);
        ASSERT_EQ(error.diagnostics().size(), 2U);
        EXPECT_EQ(error.diagnostics()[0].span.line, 3U);
        EXPECT_EQ(error.diagnostics()[1].span.line, 6U);
    }
}

}  // namespace diagnostic_test
}  // namespace peal
