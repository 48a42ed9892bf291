// SPDX-License-Identifier: Apache-2.0
// What the tests of the language have in common.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "peal/program.hpp"

namespace peal::test {

inline SourcePtr source_of(std::string text, std::string name = "test.peal") {
    return std::make_shared<const Source>(std::move(name), std::move(text));
}

inline ir::Program parse_text(std::string text, std::vector<Diagnostic>* warnings = nullptr) {
    return parse(source_of(std::move(text)), warnings);
}

// What parse() says about a text that is no program; "" when it is one.
inline std::string errors_of(std::string text) {
    try {
        parse_text(std::move(text));
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

// The text of a program parses to an equal program, with an equal text.
inline void expect_round_trip(const ir::Program& program) {
    const std::string text = print(program);
    try {
        const ir::Program again = parse_text(text);
        EXPECT_TRUE(ir::equal(program, again)) << text << "\nbecame\n" << print(again);
        EXPECT_EQ(text, print(again));
    } catch (const Error& error) {
        ADD_FAILURE() << error.what() << "\nin\n" << text;
    }
}

// The parameters that most tests use.
inline constexpr const char* kParams =
    "inp: f32[n], out: f32[n], data: window f32[n], grid: window f32[nranks, n], "
    "sig: window i32[nranks], cells: window i64[4, nranks], counts: index[nranks, nranks], "
    "alpha: f32, m: index";

inline std::string kernel_of(const std::string& body) {
    return "kernel k(" + std::string(kParams) + ") {\n" + body + "\n}\n";
}

// The statements of a kernel with the usual parameters, as they print, without indentation.
inline std::string lowered_body(const std::string& body) {
    const ir::Program program = parse_text(kernel_of(body));
    expect_round_trip(program);
    const std::string text = print(program);
    const std::size_t begin = text.find(") {\n") + 4;
    std::string result;
    std::size_t at = begin;
    while (at < text.size() && text[at] != '}') {
        const std::size_t end = text.find('\n', at);
        result += text.substr(at + 4, end - at - 4) + "\n";
        at = end + 1;
    }
    return result;
}

}  // namespace peal::test
