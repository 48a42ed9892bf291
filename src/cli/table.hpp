// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace peal::cli {

// Rows of equal length; the first is the header. Columns are aligned, numbers to the right.
std::string to_table(const std::vector<std::vector<std::string>>& rows);

// 1.5 us, 320 us, 12 ms, 3.2 s
std::string duration_text(double seconds);

}  // namespace peal::cli
