// SPDX-License-Identifier: Apache-2.0
// Names that a text may use, and what one that it may not was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "peal/ops.hpp"

namespace peal::language {

// "did you mean 'data'?" for the candidate that is a slip of the finger away, else "".
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

// An attribute or op as it is called today, for one that a text may still call otherwise.
std::string_view current_word(std::string_view word);

const ir::OpSpec* collective_named(std::string_view name);  // null: there is none
std::vector<std::string_view> collective_names();

}  // namespace peal::language
