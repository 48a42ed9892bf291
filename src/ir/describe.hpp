// SPDX-License-Identifier: Apache-2.0
// Types in words, for messages.
#pragma once

#include <string>

#include "peal/ir.hpp"

namespace peal::ir {

std::string describe(const Type& type);  // "a window of f32", "an integer", "a tile of f16"

}  // namespace peal::ir
