// SPDX-License-Identifier: Apache-2.0
#include "language/stages.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "language/support.hpp"

namespace peal::language {
namespace lexer_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = Token::Kind;

struct Lexed {
    SourcePtr source;
    std::vector<Token> tokens;
    std::vector<std::string> errors;
};

Lexed lexed(const std::string& text) {
    Lexed result{test::source_of(text), {}, {}};
    Report report;
    result.tokens = lex(*result.source, report);
    for (const Diagnostic& error : report.errors()) result.errors.push_back(error.message);
    return result;
}

std::vector<std::string> texts(const std::string& text) {
    std::vector<std::string> result;
    for (const Token& token : lexed(text).tokens) {
        if (token.kind != Kind::end) result.emplace_back(token.text);
    }
    return result;
}

TEST(Lexer, SplitsWordsNumbersAndMarks) {
    EXPECT_THAT(texts("notify sig[rank]@peer += 1"),
                ElementsAre("notify", "sig", "[", "rank", "]", "@", "peer", "+=", "1"));
    EXPECT_THAT(texts("a<=b<<c<d>=e>>f>g==h!=i=j"),
                ElementsAre("a", "<=", "b", "<<", "c", "<", "d", ">=", "e", ">>", "f", ">", "g",
                            "==", "h", "!=", "i", "=", "j"));
    EXPECT_THAT(texts("tile.load(x,0;n)"),
                ElementsAre("tile", ".", "load", "(", "x", ",", "0", ";", "n", ")"));
}

TEST(Lexer, RangeIsNotADecimalPoint) {
    EXPECT_THAT(texts("0..n 1.5..2.5 1...2"),
                ElementsAre("0", "..", "n", "1.5", "..", "2.5", "1", "..", ".", "2"));
}

TEST(Lexer, NumbersHaveTheirValues) {
    const Lexed result =
        lexed("0 42 9223372036854775808 1.5 1e3 25e-2 1.5E+2 4.9406564584124654e-324");
    EXPECT_THAT(result.errors, IsEmpty());
    ASSERT_EQ(result.tokens.size(), 9U);
    EXPECT_EQ(result.tokens[0].integer, 0U);
    EXPECT_EQ(result.tokens[1].integer, 42U);
    EXPECT_EQ(result.tokens[2].integer, std::uint64_t{1} << 63U);
    EXPECT_EQ(result.tokens[3].real, 1.5);
    EXPECT_EQ(result.tokens[4].real, 1000.0);
    EXPECT_EQ(result.tokens[5].real, 0.25);
    EXPECT_EQ(result.tokens[6].real, 150.0);
    EXPECT_EQ(result.tokens[7].real, 4.9406564584124654e-324);
    EXPECT_EQ(result.tokens[2].kind, Kind::integer);
    EXPECT_EQ(result.tokens[4].kind, Kind::real);
}

TEST(Lexer, SpansCountCharactersNotBytes) {
    const Lexed result = lexed("# h\xc3\xa9\nab\t\xe4\xbd\xa0 cd");
    ASSERT_EQ(result.tokens.size(), 4U);
    const Token& ab = result.tokens[0];
    EXPECT_EQ(ab.span.line, 2U);
    EXPECT_EQ(ab.span.column, 1U);
    EXPECT_EQ(ab.span.length, 2U);
    EXPECT_TRUE(ab.first_on_line);
    const Token& stranger = result.tokens[1];
    EXPECT_EQ(stranger.kind, Kind::bad);
    EXPECT_EQ(stranger.span.column, 4U);
    EXPECT_EQ(stranger.span.length, 1U);
    const Token& cd = result.tokens[2];
    EXPECT_EQ(cd.span.column, 6U);
    EXPECT_FALSE(cd.first_on_line);
}

TEST(Lexer, EndStandsBehindTheLastCharacter) {
    const Lexed result = lexed("a\n  b ");
    EXPECT_EQ(result.tokens.back().kind, Kind::end);
    EXPECT_EQ(result.tokens.back().span.line, 2U);
    EXPECT_EQ(result.tokens.back().span.column, 5U);
    EXPECT_EQ(lexed("").tokens.size(), 1U);
}

TEST(Lexer, ByteOrderMarkAndCarriageReturnsAreSpace) {
    const Lexed result = lexed("\xef\xbb\xbfkernel\r\nk");
    EXPECT_THAT(result.errors, IsEmpty());
    ASSERT_EQ(result.tokens.size(), 3U);
    EXPECT_EQ(result.tokens[0].text, "kernel");
    EXPECT_EQ(result.tokens[1].span.line, 2U);
}

TEST(Lexer, ReportsWhatIsNoText) {
    EXPECT_THAT(lexed(std::string("a \0\0 b", 6)).errors,
                ElementsAre("control character 0x00 in the text"));
    EXPECT_THAT(lexed("a \xff\xfe b").errors, ElementsAre("byte 0xff is not valid UTF-8"));
    EXPECT_THAT(lexed("# \xed\xa0\x80").errors, ElementsAre("byte 0xed is not valid UTF-8"));
    EXPECT_THAT(lexed("\xf4\x90\x80\x80").errors, ElementsAre("byte 0xf4 is not valid UTF-8"));
    EXPECT_THAT(lexed("\xe4\xbd").errors, ElementsAre("byte 0xe4 is not valid UTF-8"));
}

TEST(Lexer, ReportsNumbersThatAreNone) {
    EXPECT_THAT(lexed("18446744073709551616").errors,
                ElementsAre("the integer 18446744073709551616 does not fit in 64 bits"));
    EXPECT_THAT(lexed("9223372036854775809").errors,
                ElementsAre("the integer 9223372036854775809 does not fit in 64 bits"));
    EXPECT_THAT(lexed("12abc").errors, ElementsAre("'12abc' is neither a number nor a name"));
    EXPECT_THAT(lexed("1e400").errors, ElementsAre("the number 1e400 is outside the range of f64"));
}

TEST(Lexer, KeywordsAreNotNames) {
    for (const char* word : {"kernel", "let", "for", "rank", "nranks", "peers", "f32", "bf16",
                             "sum", "max", "generation", "not", "require"}) {
        EXPECT_TRUE(is_keyword(word)) << word;
    }
    for (const char* word : {"in", "out", "inout", "window", "index", "carry", "by", "allreduce",
                             "tile", "Kernel", "f33"}) {
        EXPECT_FALSE(is_keyword(word)) << word;
    }
}

}  // namespace lexer_test
}  // namespace peal::language
