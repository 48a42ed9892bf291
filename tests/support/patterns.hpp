// SPDX-License-Identifier: Apache-2.0
// Regular expressions, as std::regex has them, which takes two seconds to compile: here it is
// compiled once.
#pragma once

#include <string>
#include <vector>

namespace peal::test {

// Each match gives way to `by`, in which $1 is the first group.
std::string replaced(const std::string& text, const std::string& pattern, const std::string& by);

// All matches: each whole, then its groups.
std::vector<std::vector<std::string>> matches(const std::string& text, const std::string& pattern);

}  // namespace peal::test
