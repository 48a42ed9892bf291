// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes, parse() returns a program or throws ProgramError; and a program it returns
// prints to text that parses to an equal one. The budget is fixed, the seeds are too.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "language/random_program.hpp"
#include "language/support.hpp"

namespace peal {
namespace fuzz_test {

using test::Dice;

// True when it is a program. Anything but ProgramError fails the test.
bool survives(const std::string& text) {
    try {
        const ir::Program program = test::parse_text(text);
        test::expect_round_trip(program);
        return true;
    } catch (const ProgramError& error) {
        EXPECT_FALSE(error.diagnostics().empty());
        EXPECT_FALSE(std::string(error.what()).empty());
        return false;
    }
}

TEST(Fuzz, RandomBytes) {
    Dice dice(1);
    for (int i = 0; i < 1000; ++i) {
        std::string text = dice.chance(50) ? "kernel k() {\n" : "";
        const std::size_t size = dice.below(200);
        for (std::size_t j = 0; j < size; ++j) text += static_cast<char>(dice.below(256));
        survives(text);
        if (HasFailure()) FAIL() << text;
    }
}

TEST(Fuzz, RandomTokens) {
    const std::vector<std::string> kTokens = {"kernel",  "k",         "(",
                                              ")",       "{",         "}",
                                              "[",       "]",         ":",
                                              ";",       ",",         "=",
                                              "==",      "!=",        "<",
                                              ">=",      "<<",        "+",
                                              "-",       "*",         "/",
                                              "%",       "+=",        "@",
                                              ".",       "..",        "let",
                                              "for",     "carry",     "yield",
                                              "if",      "else",      "notify",
                                              "wait",    "put",       "get",
                                              "advance", "by",        "rank",
                                              "nranks",  "peers",     "and",
                                              "or",      "not",       "generation",
                                              "log2",    "min",       "max",
                                              "sum",     "in",        "out",
                                              "window",  "index",     "f32",
                                              "i32",     "x",         "y",
                                              "data",    "sig",       "tile",
                                              "load",    "0",         "1",
                                              "1.5",     "\n",        "allreduce",
                                              "inf",     "#",         "tile.load(data, 0, 1)",
                                              "x = 1",   "data[0; 4]"};
    Dice dice(2);
    for (int i = 0; i < 1500; ++i) {
        std::string text = "kernel k(data: f32[n], sig: window i32[n]) {\n";
        const std::size_t size = dice.below(40);
        for (std::size_t j = 0; j < size; ++j) text += dice.pick(kTokens) + " ";
        survives(text + (dice.chance(80) ? "}\n" : ""));
        if (HasFailure()) FAIL() << text;
    }
}

// One random change of a text.
void mutate(std::string& text, Dice& dice) {
    if (text.empty()) return;
    const std::size_t at = dice.below(text.size());
    const std::size_t size = 1 + dice.below(std::min<std::size_t>(20, text.size() - at));
    switch (dice.below(5)) {
        case 0: text.erase(at, size); break;
        case 1: text.insert(dice.below(text.size()), text.substr(at, size)); break;
        case 2: std::swap(text[at], text[dice.below(text.size())]); break;
        case 3: text[at] = static_cast<char>(text[at] ^ (1 << dice.below(8))); break;
        default: {  // a line moves
            const std::size_t begin = text.rfind('\n', at) + 1;
            const std::size_t end = text.find('\n', at);
            if (end == std::string::npos) break;
            const std::string line = text.substr(begin, end + 1 - begin);
            text.erase(begin, line.size());
            const std::size_t target = text.find('\n', text.empty() ? 0 : dice.below(text.size()));
            text.insert(target == std::string::npos ? text.size() : target + 1, line);
        }
    }
}

TEST(Fuzz, MutatedPrograms) {
    Dice dice(3);
    int accepted = 0;
    int rejected = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const std::string original = test::ProgramWriter(1000 + seed).program();
        for (int i = 0; i < 12; ++i) {
            std::string text = original;
            const std::size_t changes = 1 + dice.below(3);
            for (std::size_t j = 0; j < changes; ++j) mutate(text, dice);
            (survives(text) ? accepted : rejected)++;
            if (HasFailure()) FAIL() << text;
        }
    }
    EXPECT_GT(accepted, 10);
    EXPECT_GT(rejected, 200);
}

std::string repeated(const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
}

TEST(Fuzz, DeepNesting) {
    for (const int depth : {10, 63, 64, 65, 127, 128, 129, 200, 600, 20000}) {
        const auto in_kernel = [](const std::string& body) {
            return "kernel k(data: window f32[n], t: index[4]) {\n" + body + "\n}\n";
        };
        survives(in_kernel("x = " + repeated("(", depth) + "1" + repeated(")", depth)));
        survives(in_kernel("x = " + repeated("-", depth) + "n"));
        survives(in_kernel("x = " + repeated("-(", depth) + "n" + repeated(")", depth)));
        survives(in_kernel("x = " + repeated("not ", depth) + "n == 1"));
        survives(in_kernel("x = n" + repeated(" + n", depth)));
        survives(in_kernel("x = " + repeated("n - (", depth) + "n" + repeated(")", depth)));
        survives(in_kernel("x = data" + repeated("[1; n]", depth)));
        survives(in_kernel("x = data" + repeated("[n; n]", depth)));
        survives(
            in_kernel("x = data[" + repeated("t[", depth) + "0" + repeated("]", depth) + "; 1]"));
        survives(in_kernel("x = data" + repeated("@0", depth)));
        survives(in_kernel("x = " + repeated("min(n, ", depth) + "n" + repeated(")", depth)));
        survives(
            in_kernel("x = " + repeated("tile.adds(", depth) + "data" + repeated(", 1)", depth)));
        survives(in_kernel(repeated("if n == 1 {\n", depth) + repeated("}\n", depth)));
        survives(in_kernel("if n == 1 { }" + repeated(" else if n == 2 { }", depth)));
        survives(in_kernel("x = 1\n" + repeated("for p in peers {\n x = x + 1\n", depth) +
                           repeated("}\n", depth)));
        survives(in_kernel(repeated("{", depth)));
        survives(in_kernel(repeated("[", depth)));
        survives("kernel k(a: f32[" + repeated("1 + ", depth) + "1]) {\n}\n");
        survives("kernel k(a: f32[" + repeated("1, ", depth) + "1]) {\n}\n");
        survives(repeated("kernel ", depth));
    }
}

TEST(Fuzz, LargeFlatPrograms) {
    std::string text = "kernel k(data: window f32[n]) {\n    x = 1\n";
    for (int i = 0; i < 3000; ++i) text += "    x = x + 1\n";
    EXPECT_TRUE(survives(text + "}\n"));
    EXPECT_FALSE(survives(std::string(1 << 17, '(')));
    EXPECT_FALSE(survives(std::string(1 << 17, '\xff')));
    EXPECT_FALSE(survives("kernel " + std::string(1 << 17, 'x')));
}

}  // namespace fuzz_test
}  // namespace peal
