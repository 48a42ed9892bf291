// SPDX-License-Identifier: Apache-2.0
// Which statements can go through tile memory together, chunk by chunk.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "emit/facts.hpp"
#include "peal/ir.hpp"

namespace peal::emit {

bool works_on_tiles(const ir::StmtPtr& stmt);
bool syncs(const ir::StmtPtr& stmt);  // notifies, waits, or moves a generation on

// Statements [begin, end) of a block and the number of elements of their tiles.
struct Region {
    std::size_t end = 0;
    ir::ExprPtr count;  // null: there is no such region
    std::string why;    // then: what is in the way, if it is more than that tiles live on
};

// The largest region of `block` from statement `begin` on. No tile enters or leaves it, nothing in
// it notifies or waits, all its tiles have `count` elements, and element i of what it stores
// depends on elements i of what it loads: so it can be done for any part of 0..count at a time.
Region region_at(const ir::Block& block, std::size_t begin, const Facts& facts);

}  // namespace peal::emit
