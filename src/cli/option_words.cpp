// SPDX-License-Identifier: Apache-2.0
#include "cli/option_words.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace peal::cli {
namespace {

constexpr std::string_view kLetters = "-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool may_begin_after(char before) { return before == ' ' || before == '\n' || before == '('; }

}  // namespace

std::string key_word(const OptionFacts& fact) {
    std::string word = fact.key;
    std::replace(word.begin(), word.end(), '-', '_');
    return word;
}

std::string said_by_key(std::string_view text, const std::vector<OptionFacts>& facts) {
    std::string said;
    for (std::size_t i = 0; i < text.size();) {
        const bool may_begin = text[i] == '-' && (i == 0 || may_begin_after(text[i - 1]));
        const std::size_t end =
            may_begin ? std::min(text.find_first_not_of(kLetters, i), text.size()) : i;
        const auto fact = std::find_if(facts.begin(), facts.end(), [&](const OptionFacts& each) {
            const auto& names = each.names;
            return std::find(names.begin(), names.end(), text.substr(i, end - i)) != names.end();
        });
        if (fact == facts.end()) {
            said += text[i++];
            continue;
        }
        const bool is_title = end < text.size() && text[end] == ':';
        said += is_title ? key_word(*fact) : fmt::format("`{}`", key_word(*fact));
        i = end;
    }
    return said;
}

std::vector<std::string> words_of(const OptionValues& values,
                                  const std::vector<OptionFacts>& facts) {
    std::vector<std::string> words;
    for (const auto& setting : values) {
        const auto fact = std::find_if(facts.begin(), facts.end(), [&](const OptionFacts& each) {
            return each.key == setting.first;
        });
        const bool is_flag = fact->takes == OptionFacts::Takes::flag;
        if (is_flag && setting.second == "false") continue;
        const std::string_view link = fact->name.starts_with("--") ? "=" : "";
        words.push_back(is_flag ? fact->name
                                : fmt::format("{}{}{}", fact->name, link, setting.second));
    }
    return words;
}

}  // namespace peal::cli
