// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/ir.hpp"

namespace peal::pto::emitter {

// Gives names to arithmetic that is written more than once in a block, so that it is read once.
ir::Kernel name_repeated(const ir::Kernel& kernel);

}  // namespace peal::pto::emitter
