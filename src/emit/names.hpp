// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "peal/ir.hpp"

namespace peal::emit {

// Gives names to arithmetic that is written more than once in a block, so that it is read once.
ir::Kernel name_repeated(const ir::Kernel& kernel);

// Whether it is the symbol `nranks`.
bool is_rank_count(const ir::ExprPtr& expr);

}  // namespace peal::emit
