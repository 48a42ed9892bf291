// SPDX-License-Identifier: Apache-2.0
// Options that do not come from a command line: by key, as words that one would have.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"

namespace peal::cli {

using OptionValues = std::vector<std::pair<std::string, std::string>>;  // by key

// The words of these options; flags are "true" or "false". Every key is one of `facts`.
std::vector<std::string> words_of(const OptionValues& values,
                                  const std::vector<OptionFacts>& facts);

}  // namespace peal::cli
