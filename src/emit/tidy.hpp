// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/ir.hpp"

namespace peal::emitter {

// The kernel as a person would write it: copies between memories go through tiles, quotients that
// cancel are gone, and expressions that are used again and again have names.
ir::Kernel tidy(const ir::Kernel& kernel);

}  // namespace peal::emitter
