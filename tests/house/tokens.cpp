// SPDX-License-Identifier: Apache-2.0
#include "house/tokens.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace peal::test {
namespace {

namespace fs = std::filesystem;

bool is_word_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Where what starts at `at` ends: a comment, a literal, a directive, a word or a sign.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    bool at_end() const { return at_ >= text_.size(); }

    // The next token; empty for what is none.
    std::string_view next() {
        const std::size_t start = at_;
        const char c = text_[at_];
        if (std::isspace(static_cast<unsigned char>(c))) return skip(1);
        if (looking_at("//")) return skip_to("\n", start);
        if (looking_at("/*")) return skip_to("*/", start + 2);
        if (looking_at("#")) return skip_directive();
        if (looking_at("R\"")) return raw_literal();
        if (c == '"' || c == '\'') return literal(c);
        if (is_word_character(c)) return word();
        at_ += looking_at("::") || looking_at("->") ? 2 : 1;
        return text_.substr(start, at_ - start);
    }

private:
    bool looking_at(std::string_view what) const { return text_.substr(at_, what.size()) == what; }
    std::string_view skip(std::size_t count) {
        at_ += count;
        return {};
    }
    std::string_view skip_to(std::string_view what, std::size_t from) {
        const std::size_t found = text_.find(what, from);
        at_ = found == std::string_view::npos ? text_.size() : found + what.size();
        return {};
    }
    // #define keeps what the macro stands for.
    std::string_view skip_directive() {
        if (looking_at("#define")) return skip(std::string_view("#define").size());
        return skip_to("\n", at_);
    }
    std::string_view raw_literal() {
        const std::size_t open = text_.find('(', at_);
        const std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
        skip_to(close, open);
        return "\"\"";
    }
    std::string_view literal(char quote) {
        for (++at_; !at_end() && text_[at_] != quote; ++at_) {
            if (text_[at_] == '\\') ++at_;
        }
        ++at_;
        return "\"\"";
    }
    // 1'000 is one number.
    std::string_view word() {
        const std::size_t start = at_;
        const bool number = std::isdigit(static_cast<unsigned char>(text_[at_]));
        while (!at_end() && (is_word_character(text_[at_]) || (number && text_[at_] == '\'')))
            ++at_;
        return text_.substr(start, at_ - start);
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace

std::string text_of(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(fs::path(PEAL_SOURCE_DIR) / path).rdbuf();
    return text.str();
}

std::vector<SourceFile> sources_below(const std::vector<std::string>& directories) {
    const fs::path top = PEAL_SOURCE_DIR;
    std::vector<SourceFile> files;
    for (const std::string& directory : directories) {
        for (const auto& entry : fs::recursive_directory_iterator(top / directory)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".hpp" && extension != ".cpp") continue;
            files.push_back({fs::relative(entry.path(), top).string(), text_of(entry.path())});
        }
    }
    std::sort(files.begin(), files.end(),
              [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    return files;
}

std::vector<std::string_view> tokens_of(std::string_view text) {
    std::vector<std::string_view> tokens;
    for (Reader reader(text); !reader.at_end();) {
        const std::string_view token = reader.next();
        if (!token.empty()) tokens.push_back(token);
    }
    return tokens;
}

bool is_word(std::string_view token) {
    return is_word_character(token.front()) &&
           !std::isdigit(static_cast<unsigned char>(token.front()));
}

std::vector<std::string> includes_of(std::string_view text) {
    std::vector<std::string> files;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("#include ", 0) != 0) continue;
        const std::size_t open = line.find_first_of("\"<");
        const std::size_t close = line.find_first_of("\">", open + 1);
        if (close != std::string::npos) files.push_back(line.substr(open + 1, close - open - 1));
    }
    return files;
}

}  // namespace peal::test
