// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "emit/steps.hpp"

namespace peal::emitter {

// "F32Tile"
std::string tile_type(Element element);

// The declarations that a kernel's code makes use of: constants, types and small functions.
std::string helpers_for(const std::string& code, const DeviceProgram& program);

}  // namespace peal::emitter
