// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace peal::cli {

// The lines of both texts in one, each after two columns: "- " is only in the first, "+ " only in
// the second, "  " in both. As many lines as possible are in both.
std::string line_diff(std::string_view before, std::string_view after);

}  // namespace peal::cli
