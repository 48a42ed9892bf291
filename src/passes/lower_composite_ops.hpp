// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/ir.hpp"

namespace peal::passes {

// Expands each composite op into notify, wait, load, combine and store, by the recipe of its mode
// in src/collectives/. A program without composite ops is unchanged.
ir::Program lower_composite_ops(const ir::Program& program);

}  // namespace peal::passes
