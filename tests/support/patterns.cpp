// SPDX-License-Identifier: Apache-2.0
#include "support/patterns.hpp"

#include <regex>

namespace peal::test {

std::string replaced(const std::string& text, const std::string& pattern, const std::string& by) {
    return std::regex_replace(text, std::regex(pattern), by);
}

std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& pattern) {
    const std::regex compiled(pattern);
    std::vector<std::vector<std::string>> found;
    for (std::sregex_iterator it(text.begin(), text.end(), compiled), end; it != end; ++it) {
        found.emplace_back(it->begin(), it->end());
    }
    return found;
}

}  // namespace peal::test
