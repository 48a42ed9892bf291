// SPDX-License-Identifier: Apache-2.0
#include "support/patterns.hpp"

#include <mutex>
#include <regex>

namespace peal::test {
namespace {

// Ranks may be threads, and the library fills tables of the one locale while it compiles a pattern.
std::mutex one_at_a_time;

}  // namespace

std::string replaced(const std::string& text, const std::string& pattern, const std::string& by) {
    const std::lock_guard lock(one_at_a_time);
    return std::regex_replace(text, std::regex(pattern), by);
}

std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& pattern) {
    const std::lock_guard lock(one_at_a_time);
    const std::regex compiled(pattern);
    std::vector<std::vector<std::string>> found;
    for (std::sregex_iterator it(text.begin(), text.end(), compiled), end; it != end; ++it) {
        found.emplace_back(it->begin(), it->end());
    }
    return found;
}

}  // namespace peal::test
