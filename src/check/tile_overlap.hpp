// SPDX-License-Identifier: Apache-2.0
// Tiles that were placed by hand and overlap: a read takes for one tile what was written as parts
// of two.
#pragma once

#include <cstdint>
#include <vector>

#include "peal/plan.hpp"

namespace peal::checker {

// A read of bytes [begin, end) of tile memory, the first instruction of the operation that reads
// them, and likewise a write that reaches over an end of what is read while the rest of that comes
// from another write.
struct TileOverlap {
    struct Span {
        std::uint32_t instruction = 0;
        std::uint64_t begin = 0, end = 0;
    };
    Span read, written;
    bool is_overwritten = false;  // the other write came first
};

// In the order of the lane, each pair of source lines once. Instructions that are joined are one
// operation: its rows together are the tile.
std::vector<TileOverlap> overlapping_tiles(const Plan& plan, std::size_t lane);

}  // namespace peal::checker
