// SPDX-License-Identifier: Apache-2.0
#include "cli/table.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace peal::cli {
namespace {

bool is_number(const std::string& cell) {
    return !cell.empty() && std::all_of(cell.begin(), cell.end(), [](unsigned char c) {
        return std::isdigit(c) || c == '.';
    });
}

}  // namespace

std::string to_table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (const auto& row : rows) {
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            line += is_number(row[c]) ? fmt::format("{:>{}}", row[c], widths[c])
                                      : fmt::format("{:<{}}", row[c], widths[c]);
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

std::string duration_text(double seconds) {
    if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
    if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
    return fmt::format("{:.2f} s", seconds);
}

}  // namespace peal::cli
