// SPDX-License-Identifier: Apache-2.0
#include "cli/line_diff.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace peal::cli {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

// common[i][j]: how many lines, at most, before[i..] and after[j..] share in the same order.
std::vector<std::vector<std::size_t>> common_lines(const std::vector<std::string_view>& before,
                                                   const std::vector<std::string_view>& after) {
    std::vector<std::vector<std::size_t>> common(before.size() + 1,
                                                 std::vector<std::size_t>(after.size() + 1, 0));
    for (std::size_t i = before.size(); i-- > 0;) {
        for (std::size_t j = after.size(); j-- > 0;) {
            common[i][j] = before[i] == after[j] ? common[i + 1][j + 1] + 1
                                                 : std::max(common[i + 1][j], common[i][j + 1]);
        }
    }
    return common;
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after) {
    const std::vector<std::string_view> old_lines = lines_of(before);
    const std::vector<std::string_view> new_lines = lines_of(after);
    const auto common = common_lines(old_lines, new_lines);
    std::string text;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < old_lines.size() || j < new_lines.size()) {
        const bool more_old = i < old_lines.size();
        const bool more_new = j < new_lines.size();
        if (more_old && more_new && old_lines[i] == new_lines[j]) {
            text += fmt::format("  {}\n", old_lines[i++]);
            ++j;
        } else if (more_old && (!more_new || common[i + 1][j] >= common[i][j + 1])) {
            text += fmt::format("- {}\n", old_lines[i++]);
        } else {
            text += fmt::format("+ {}\n", new_lines[j++]);
        }
    }
    return text;
}

}  // namespace peal::cli
