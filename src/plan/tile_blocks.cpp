// SPDX-License-Identifier: Apache-2.0
#include "plan/tile_blocks.hpp"

#include <algorithm>

#include "plan/access.hpp"

namespace peal::plan {
namespace {

struct Access {
    std::uint64_t begin, end;
    std::uint32_t instruction;
    bool is_write;
    std::uint64_t alignment;
};

std::vector<Access> tile_accesses(const std::vector<Instruction>& instructions) {
    std::vector<Access> accesses;
    accesses.reserve(2 * instructions.size());
    for (std::uint32_t i = 0; i < instructions.size(); ++i) {
        const Action& action = instructions[i].action;
        const auto add = [&](const Range& range, bool is_write) {
            if (!is_tile(range) || range.length == 0) return;
            accesses.push_back(
                {range.offset, end_of(range), i, is_write, is_write ? alignment_of(action) : 1});
        };
        for_each_access(
            action, [&](const Range& range) { add(range, false); },
            [&](const Range& range) { add(range, true); });
    }
    std::sort(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.instruction < b.instruction;
    });
    return accesses;
}

// What is known of a block once all its accesses are: they are [first, last) in order of begin.
TileBlock block_of(const Access* first, const Access* last) {
    TileBlock block{first->begin, first->end, first->instruction, first->instruction};
    std::uint32_t writes = 0, first_read = UINT32_MAX;
    const Access* write = nullptr;
    for (const Access* access = first; access != last; ++access) {
        block.end = std::max(block.end, access->end);
        block.first = std::min(block.first, access->instruction);
        block.last = std::max(block.last, access->instruction);
        block.alignment = std::max(block.alignment, access->alignment);
        if (access->is_write) {
            ++writes;
            write = access;
        } else {
            ++block.reads;
            first_read = std::min(first_read, access->instruction);
        }
    }
    block.is_value = writes == 1 && write->begin == block.begin && write->end == block.end &&
                     write->instruction < first_read;
    return block;
}

}  // namespace

TileBlocks::TileBlocks(const std::vector<Instruction>& instructions) {
    const std::vector<Access> accesses = tile_accesses(instructions);
    for (std::size_t begin = 0; begin < accesses.size();) {
        std::size_t end = begin + 1;
        std::uint64_t reach = accesses[begin].end;
        for (; end < accesses.size() && accesses[end].begin < reach; ++end) {
            reach = std::max(reach, accesses[end].end);
        }
        blocks_.push_back(block_of(accesses.data() + begin, accesses.data() + end));
        begin = end;
    }
}

bool TileBlocks::are_values() const {
    return std::all_of(blocks_.begin(), blocks_.end(),
                       [](const TileBlock& block) { return block.is_value; });
}

// Where it begins, if it is in any.
bool TileBlocks::holds(std::size_t block, std::uint64_t offset) const {
    return block < blocks_.size() && blocks_[block].begin <= offset &&
           (block + 1 == blocks_.size() || offset < blocks_[block + 1].begin);
}

std::uint32_t TileBlocks::of(const Range& range) const {
    for (const std::size_t near : {last_, last_ + 1, last_ - 1, last_ + 2, last_ - 2}) {
        if (!holds(near, range.offset)) continue;
        last_ = near;
        return static_cast<std::uint32_t>(near);
    }
    const auto after = std::upper_bound(
        blocks_.begin(), blocks_.end(), range.offset,
        [](std::uint64_t offset, const TileBlock& block) { return offset < block.begin; });
    last_ = static_cast<std::size_t>(after - blocks_.begin()) - 1;
    return static_cast<std::uint32_t>(last_);
}

bool TileBlocks::is_whole_value(const Range& range) const {
    if (!is_tile(range) || range.length == 0) return false;
    const TileBlock& block = blocks_[of(range)];
    return block.is_value && block.begin == range.offset && block.end == end_of(range);
}

}  // namespace peal::plan
