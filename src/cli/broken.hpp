// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace peal::cli {

inline constexpr const char* kBrokenProgram = "examples/broken/hasty_allreduce.peal";

// The text of that file as it was when the command was built, so that nobody has to find it.
std::string_view broken_program();

}  // namespace peal::cli
