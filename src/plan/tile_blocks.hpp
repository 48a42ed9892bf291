// SPDX-License-Identifier: Apache-2.0
// The tile memory of a plan, taken apart into blocks that no instruction accesses together.
#pragma once

#include <cstdint>
#include <vector>

#include "peal/plan.hpp"

namespace peal::plan {

// Bytes [begin, end) of tile memory: the union of tile ranges that overlap each other.
struct TileBlock {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t first = 0, last = 0;  // the first and the last instruction that access it
    std::uint32_t reads = 0;            // ranges read, counted as often as they are listed
    std::uint64_t alignment = 1;        // what is added to atomically begins at a multiple of it
    // The block is a value: one instruction writes all of it, and all reads come later.
    bool is_value = false;
};

class TileBlocks {
public:
    explicit TileBlocks(const std::vector<Instruction>& instructions);

    std::size_t size() const { return blocks_.size(); }
    const TileBlock& operator[](std::size_t index) const { return blocks_[index]; }

    // Every block is a value.
    bool are_values() const;
    // The block that holds a range of tile memory which some instruction accesses.
    std::uint32_t of(const Range& range) const;
    // The range is all of a block that is a value.
    bool is_whole_value(const Range& range) const;

private:
    bool holds(std::size_t block, std::uint64_t offset) const;

    std::vector<TileBlock> blocks_;  // by begin
    mutable std::size_t last_ = 0;   // that was asked for: the next is near it
};

}  // namespace peal::plan
