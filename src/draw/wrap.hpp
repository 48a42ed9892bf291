// SPDX-License-Identifier: Apache-2.0
// Text in narrow columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace peal::draw {

// Columns that a text takes.
std::size_t width_of(std::string_view text);

// Lines of at most `width` columns, broken at blanks; lines after the first are indented by
// `indent`. A word that is too long alone loses its end, and `ellipsis` says so.
std::vector<std::string> wrap(std::string_view text, std::size_t width, std::size_t indent,
                              std::string_view ellipsis);

}  // namespace peal::draw
