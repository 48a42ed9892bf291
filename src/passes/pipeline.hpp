// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "peal/ir.hpp"

namespace peal::passes {

struct Pass {
    std::string_view name;
    ir::Program (*run)(const ir::Program& program);
};

// What lower() does, in order.
const std::vector<Pass>& pipeline();

// The program after one pass, which the verifier has looked at.
ir::Program apply(const Pass& pass, const ir::Program& program);

}  // namespace peal::passes
