// SPDX-License-Identifier: Apache-2.0
#include "house/uses.hpp"

#include <algorithm>
#include <set>

namespace peal::test {
namespace {

using Tokens = std::vector<std::string_view>;

bool is_one_of(std::string_view token, std::initializer_list<std::string_view> all) {
    return std::find(all.begin(), all.end(), token) != all.end();
}

// Words that begin an expression, so that no type is before the name.
bool begins_expression(std::string_view token) {
    return is_one_of(token, {"return", "throw", "co_return", "co_yield", "co_await", "else", "new",
                             "case", "goto", "delete", "do", "sizeof"});
}

// Position of the first token after the last of ; { } before `at`, and after "public:".
std::size_t statement_start(const Tokens& tokens, std::size_t at) {
    while (at > 0) {
        const std::string_view before = tokens[at - 1];
        if (is_one_of(before, {";", "{", "}"})) break;
        const bool access = before == ":" && at > 1 &&
                            is_one_of(tokens[at - 2], {"public", "private", "protected"});
        if (access) break;
        --at;
    }
    return at;
}

// template <...> is no part of a declaration's type.
std::size_t skip_template(const Tokens& tokens, std::size_t at) {
    if (tokens[at] != "template") return at;
    int depth = 0;
    for (++at; at < tokens.size(); ++at) {
        if (tokens[at] == "<") ++depth;
        if (tokens[at] == ">" && --depth == 0) return at + 1;
    }
    return at;
}

// Whether a type stands between the start of the statement and the name, which may be qualified:
// "ir::Program lower", "void Turns::take", but not "golden::rehearse" alone.
bool follows_type(const Tokens& tokens, std::size_t name) {
    std::size_t end = name;
    while (end >= 2 && tokens[end - 1] == "::" && is_word(tokens[end - 2])) end -= 2;
    std::size_t start = statement_start(tokens, name);
    if (start < end) start = skip_template(tokens, start);
    if (start >= end) return false;
    int brackets = 0;
    for (std::size_t i = start; i < end; ++i) {
        const std::string_view token = tokens[i];
        if (is_one_of(token, {"[", "]"})) brackets += token == "[" ? 1 : -1;
        const bool in_type =
            is_word(token) ? !begins_expression(token)
                           : is_one_of(token, {"::", "<", ">", ",", "*", "&", "[", "]", "\"\""});
        if (!in_type && brackets == 0) return false;
    }
    return true;
}

bool declares_function(const Tokens& tokens, std::size_t at) {
    return at + 1 < tokens.size() && tokens[at + 1] == "(" && follows_type(tokens, at) &&
           (at == 0 || tokens[at - 1] != "operator");
}

bool declares_type(const Tokens& tokens, std::size_t at) {
    if (at == 0) return false;
    if (is_one_of(tokens[at - 1], {"class", "struct", "enum"})) return true;
    return tokens[at - 1] == "using" && at + 1 < tokens.size() && tokens[at + 1] == "=";
}

bool declares_constant(const Tokens& tokens, std::size_t at) {
    const std::string_view name = tokens[at];
    const bool named_so = name.size() > 1 && name[0] == 'k' && name[1] >= 'A' && name[1] <= 'Z';
    const bool gets_value = at + 1 < tokens.size() && is_one_of(tokens[at + 1], {"=", "{", "["});
    return named_so && gets_value && follows_type(tokens, at);
}

// Whether the word belongs to the definition of a member of the type of that name: "Turns" in
// "Turns::Slot Turns::take(" and in "Turns::Turns(".
bool defines_member(const Tokens& tokens, std::size_t at) {
    const std::string_view type = tokens[at];
    std::size_t name = at;
    while (name + 1 < tokens.size() && !is_one_of(tokens[name + 1], {"(", ";", "{", "="})) ++name;
    if (name + 1 >= tokens.size() || tokens[name + 1] != "(") return false;
    const bool qualified = name >= 2 && tokens[name - 1] == "::" && tokens[name - 2] == type;
    if (tokens[name] == type) return qualified || (name >= 3 && tokens[name - 3] == type);
    const bool destroys = name >= 3 && tokens[name - 1] == "~" && tokens[name - 3] == type;
    return destroys || (qualified && (tokens[name] == "operator" || follows_type(tokens, name)));
}

// Where the body of the type that is declared at `at` ends; `at` itself when it has none.
std::size_t body_end(const Tokens& tokens, std::size_t at) {
    std::size_t i = at + 1;
    while (i < tokens.size() && !is_one_of(tokens[i], {"{", ";", "=", "(", ")", ">", ","})) ++i;
    if (i >= tokens.size() || tokens[i] != "{") return at;
    int depth = 0;
    for (; i < tokens.size(); ++i) {
        if (tokens[i] == "{") ++depth;
        if (tokens[i] == "}" && --depth == 0) return i;
    }
    return at;
}

bool declares(const Tokens& tokens, std::size_t at) {
    return declares_function(tokens, at) || declares_type(tokens, at) ||
           declares_constant(tokens, at);
}

// What is used in one file goes into `used`.
void collect_uses(const SourceFile& file, std::set<std::string, std::less<>>& used) {
    const Tokens tokens = tokens_of(file.text);
    std::vector<std::pair<std::string_view, std::size_t>> open;  // types, and where they end
    for (std::size_t at = 0; at < tokens.size(); ++at) {
        while (!open.empty() && open.back().second < at) open.pop_back();
        if (!is_word(tokens[at])) continue;
        if (declares_type(tokens, at)) {
            if (const std::size_t end = body_end(tokens, at); end > at)
                open.emplace_back(tokens[at], end);
        }
        if (declares(tokens, at) || defines_member(tokens, at)) continue;
        const bool own = std::any_of(open.begin(), open.end(),
                                     [&](const auto& type) { return type.first == tokens[at]; });
        if (!own) used.emplace(tokens[at]);
    }
}

// The language uses them.
bool is_implicit(std::string_view name) { return is_one_of(name, {"begin", "end", "operator"}); }

}  // namespace

std::vector<std::string> unused_names(const std::vector<SourceFile>& headers,
                                      const std::vector<SourceFile>& users) {
    std::set<std::string, std::less<>> used;
    for (const SourceFile& file : users) collect_uses(file, used);
    std::vector<std::string> unused;
    for (const SourceFile& file : headers) {
        const Tokens tokens = tokens_of(file.text);
        for (std::size_t at = 0; at < tokens.size(); ++at) {
            const std::string_view name = tokens[at];
            if (!is_word(name) || is_implicit(name) || !declares(tokens, at)) continue;
            std::string line = file.path + ": " + std::string(name);
            const bool listed = std::find(unused.begin(), unused.end(), line) != unused.end();
            if (!listed && used.find(name) == used.end()) unused.push_back(std::move(line));
        }
    }
    return unused;
}

}  // namespace peal::test
