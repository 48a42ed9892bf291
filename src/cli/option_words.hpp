// SPDX-License-Identifier: Apache-2.0
// Options that do not come from a command line: by key, as words that one would have.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command_line.hpp"

namespace peal::cli {

using OptionValues = std::vector<std::pair<std::string, std::string>>;  // by key

// The name of an option in a program, where it is one word: "in_place".
std::string key_word(const OptionFacts& fact);

// What the command says, of options by these names: "--expect: ..." is "expect: ...", and
// "with --window" is "with `window`".
std::string said_by_key(std::string_view text, const std::vector<OptionFacts>& facts);

// The words of these options; flags are "true" or "false". Every key is one of `facts`.
std::vector<std::string> words_of(const OptionValues& values,
                                  const std::vector<OptionFacts>& facts);

}  // namespace peal::cli
