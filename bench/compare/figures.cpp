// SPDX-License-Identifier: Apache-2.0
#include "figures.hpp"

#include <fmt/format.h>

#include <cmath>

namespace peal::bench {

std::string microseconds(double us) {
    if (us < 0.995) return fmt::format("{:.3f}", us);
    if (us < 9.995) return fmt::format("{:.2f}", us);
    if (us < 99.95) return fmt::format("{:.1f}", us);
    return fmt::format("{:.0f}", us);
}

double geometric_mean(const std::vector<double>& values) {
    if (values.empty()) return 0;
    double sum = 0;
    for (const double value : values) sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

std::string table_row(const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string table_head(const std::vector<std::string>& titles) {
    return table_row(titles) + table_row(std::vector<std::string>(titles.size(), "---"));
}

}  // namespace peal::bench
