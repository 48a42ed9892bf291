// SPDX-License-Identifier: Apache-2.0
// A room's private headers declare in the namespace of the room, and nowhere else. No header opens
// a namespace to all who include it: who reads a name there could not tell whose it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "house/tokens.hpp"

namespace peal::test {
namespace namespaces_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Tokens = std::vector<std::string_view>;

std::string joined(const Tokens& tokens, std::size_t begin, std::size_t end) {
    std::string text;
    for (std::size_t i = begin; i < end; ++i) text += tokens[i];
    return text;
}

bool is_macro(std::string_view token) {
    return std::none_of(token.begin(), token.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// What a declaration [begin, end) at the scope of a namespace adds a name for; empty for what adds
// none: "class App;" says that another has it, "struct Engine::State" belongs to Engine, and
// "MACRO();" is no declaration.
std::string name_in(const Tokens& tokens, std::size_t begin, std::size_t end) {
    const auto first = tokens.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = tokens.begin() + static_cast<std::ptrdiff_t>(end);
    if (std::all_of(first, last, is_macro) || std::find(first, last, "namespace") != last)
        return {};
    if (*first != "class" && *first != "struct") return joined(tokens, begin, end);
    if (end - begin == 2 && tokens[end] == ";") return {};
    return begin + 2 < end && tokens[begin + 2] == "::" ? "" : std::string(tokens[begin + 1]);
}

// Reads a header scope by scope.
class Declarations {
public:
    explicit Declarations(std::string_view text) : tokens_(tokens_of(text)) {
        while (at_ < tokens_.size()) read_one();
    }

    struct Declared {
        std::string scope;  // "peal::plan::detail"
        std::string what;
    };
    const std::vector<Declared>& all() const { return all_; }

private:
    void read_one() {
        if (tokens_[at_] == "}") {
            scopes_.pop_back();
            ++at_;
        } else if (tokens_[at_] == ";") {
            ++at_;
        } else {
            read_declaration();
        }
    }

    void read_declaration() {
        const std::size_t begin = at_;
        while (tokens_[at_] != ";" && tokens_[at_] != "{" && tokens_[at_] != "}") ++at_;
        if (tokens_[begin] == "namespace" && tokens_[at_] == "{") {
            scopes_.push_back(joined(tokens_, begin + 1, at_++));
            return;
        }
        const std::string name = name_in(tokens_, begin, at_);
        if (!name.empty()) all_.push_back({scope(), name});
        skip_braces();
    }

    // What follows the braces up to the next declaration is only ever ";" or more of an
    // initializer.
    void skip_braces() {
        int depth = 0;
        for (; at_ < tokens_.size(); ++at_) {
            if (tokens_[at_] == "{") ++depth;
            if (tokens_[at_] == "}") --depth;
            if (depth == 0) break;
        }
        ++at_;
    }

    std::string scope() const {
        std::string text;
        for (const std::string& name : scopes_) text += (text.empty() ? "" : "::") + name;
        return text;
    }

    Tokens tokens_;
    std::size_t at_ = 0;
    std::vector<std::string> scopes_;
    std::vector<Declared> all_;
};

// `check` is a function of the public interface, so that the namespace has another name.
std::string namespace_of(const std::string& room) {
    return "peal::" + (room == "check" ? "checker" : room);
}

// "src/plan/text.hpp declares Words in peal", for each such name.
std::vector<std::string> misplaced_in(const SourceFile& header) {
    const std::size_t room = header.path.find('/') + 1;
    const std::string own =
        namespace_of(header.path.substr(room, header.path.find('/', room) - room));
    std::vector<std::string> misplaced;
    const Declarations declarations(header.text);
    for (const auto& [scope, what] : declarations.all()) {
        if (scope == own || scope.rfind(own + "::", 0) == 0) continue;
        misplaced.push_back(header.path + " declares " + what + " in " +
                            (scope.empty() ? "no namespace" : scope));
    }
    return misplaced;
}

TEST(Namespaces, WhatIsPrivateToARoomIsInItsNamespace) {
    std::vector<std::string> misplaced;
    for (const SourceFile& file : sources_below({"src"})) {
        if (!file.path.ends_with(".hpp")) continue;
        for (std::string& line : misplaced_in(file)) misplaced.push_back(std::move(line));
    }
    EXPECT_THAT(misplaced, IsEmpty());
}

// "src/comm/a.hpp opens shm", for each `using namespace`.
std::vector<std::string> opened_by(const SourceFile& header) {
    std::vector<std::string> opened;
    const Tokens tokens = tokens_of(header.text);
    for (std::size_t i = 2; i < tokens.size(); ++i) {
        if (tokens[i - 2] != "using" || tokens[i - 1] != "namespace") continue;
        const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(i);
        const auto end = std::find(begin, tokens.end(), ";") - tokens.begin();
        opened.push_back(header.path + " opens " +
                         joined(tokens, i, static_cast<std::size_t>(end)));
    }
    return opened;
}

TEST(Namespaces, NoHeaderOpensOne) {
    std::vector<std::string> opened;
    for (const SourceFile& file : sources_below({"bench", "include", "src"})) {
        if (!file.path.ends_with(".hpp")) continue;
        for (std::string& line : opened_by(file)) opened.push_back(std::move(line));
    }
    EXPECT_THAT(opened, IsEmpty());
}

TEST(Namespaces, AreFoundWhereTheyAreOpened) {
    const std::string text =
        "// using namespace told;\n"
        "namespace peal::comm {\nusing namespace shm;\nusing shm::World;\n"
        "inline void f() { using namespace std::chrono; }\n}\n";
    EXPECT_THAT(opened_by({"src/comm/a.hpp", text}),
                ElementsAre("src/comm/a.hpp opens shm", "src/comm/a.hpp opens std::chrono"));
}

TEST(Namespaces, AreFoundByScope) {
    const std::string text =
        "#pragma once\n"
        "#define GUARD\nBEFORE();\n"
        "namespace CLI {\nclass App;\n}\n"
        "namespace peal {\n"
        "class Window;\n"
        "struct Engine::State { int a = 0; };\n"
        "struct Words { int b() { return 1; } };\n"
        "namespace plan {\n"
        "enum class Kind { a, b };\n"
        "template <class T> class Runs {\npublic:\n    void f() {}\n};\n"
        "inline int g(int x) { if (x) { return 1; } return 2; }\n"
        "namespace detail { using Table = int; }\n"
        "}\n"
        "inline constexpr int kMost{3};\n"
        "}\n"
        "using Loose = int;\n";
    EXPECT_THAT(misplaced_in({"src/plan/a.hpp", text}),
                ElementsAre("src/plan/a.hpp declares Words in peal",
                            "src/plan/a.hpp declares inlineconstexprintkMost in peal",
                            "src/plan/a.hpp declares usingLoose=int in no namespace"));
}

}  // namespace namespaces_test
}  // namespace peal::test
