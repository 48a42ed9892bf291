// SPDX-License-Identifier: Apache-2.0
// Small helpers of the reports.
#pragma once

#include <string>
#include <vector>

namespace peal::bench {

// Three digits or more: "0.234", "12.3", "4560".
std::string microseconds(double us);

// 0 for none.
double geometric_mean(const std::vector<double>& values);

std::string table_row(const std::vector<std::string>& cells);
std::string table_head(const std::vector<std::string>& titles);

}  // namespace peal::bench
