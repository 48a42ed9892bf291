// SPDX-License-Identifier: Apache-2.0
// A range of memory: what data@r[i][o; k] names.
#pragma once

#include <vector>

#include "peal/ir.hpp"
#include "peal/source.hpp"

namespace peal::language {

// Elements [offset, offset + count) of a flattened buffer.
struct Place {
    ir::VarPtr memory;
    ir::ExprPtr peer;                // whose window; null: the own memory
    ir::ExprPtr offset;              //
    std::vector<ir::ExprPtr> shape;  // what is left of the dimensions; none: one element
    Span span;

    ir::ExprPtr count() const;
    // The first dimension from `offset` on, `extent` long.
    void slice(const ir::ExprPtr& offset, ir::ExprPtr extent);
    // One element of the first dimension, which is then gone.
    void index(const ir::ExprPtr& position);
};

// Integer arithmetic that drops zeros and ones and works out constants.
ir::ExprPtr plus(const ir::ExprPtr& a, const ir::ExprPtr& b);
ir::ExprPtr times(const ir::ExprPtr& a, const ir::ExprPtr& b);

}  // namespace peal::language
