// SPDX-License-Identifier: Apache-2.0
#include "cli/option_words.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace peal::cli {

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
