// SPDX-License-Identifier: Apache-2.0
#include "plan/fuse_steps.hpp"

#include <algorithm>
#include <map>

#include "plan/access.hpp"
#include "plan/tile_blocks.hpp"

namespace peal::plan {
namespace {

// First fit. Free gaps never touch each other; above `end` everything is free.
class Arena {
public:
    std::uint64_t take(std::uint64_t bytes) {
        for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap) {
            if (gap->second < bytes) continue;
            const auto [begin, size] = *gap;
            gaps_.erase(gap);
            if (size > bytes) gaps_.emplace(begin + bytes, size - bytes);
            return begin;
        }
        return extend(bytes);
    }

    void give_back(std::uint64_t begin, std::uint64_t bytes) {
        auto gap = gaps_.emplace(begin, bytes).first;
        const auto next = std::next(gap);
        if (next != gaps_.end() && gap->first + gap->second == next->first) {
            gap->second += next->second;
            gaps_.erase(next);
        }
        if (gap == gaps_.begin()) return;
        const auto before = std::prev(gap);
        if (before->first + before->second != gap->first) return;
        before->second += gap->second;
        gaps_.erase(gap);
    }

    std::uint64_t end() const { return end_; }

private:
    // A gap at the very end grows instead of staying unused below the new bytes.
    std::uint64_t extend(std::uint64_t bytes) {
        std::uint64_t begin = end_;
        if (!gaps_.empty()) {
            const auto last = std::prev(gaps_.end());
            if (last->first + last->second == end_) {
                begin = last->first;
                gaps_.erase(last);
            }
        }
        end_ = begin + bytes;
        return begin;
    }

    std::map<std::uint64_t, std::uint64_t> gaps_;  // begin -> bytes
    std::uint64_t end_ = 0;
};

// Where each block goes.
std::vector<std::uint64_t> placed(const TileBlocks& blocks, std::uint64_t& total) {
    std::vector<std::uint32_t> by_first(blocks.size()), by_last(blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) by_first[b] = by_last[b] = b;
    std::stable_sort(by_first.begin(), by_first.end(), [&](std::uint32_t a, std::uint32_t b) {
        return blocks[a].first < blocks[b].first;
    });
    std::stable_sort(by_last.begin(), by_last.end(), [&](std::uint32_t a, std::uint32_t b) {
        return blocks[a].last < blocks[b].last;
    });
    Arena arena;
    std::vector<std::uint64_t> begins(blocks.size());
    // What is aligned in it stays so.
    const auto lead = [&](std::uint32_t b) { return blocks[b].begin % blocks[b].alignment; };
    const auto room = [&](std::uint32_t b) {
        return whole_lines(lead(b) + blocks[b].end - blocks[b].begin);
    };
    auto ended = by_last.begin();
    for (const std::uint32_t b : by_first) {
        for (; blocks[*ended].last < blocks[b].first; ++ended) {
            arena.give_back(begins[*ended] - lead(*ended), room(*ended));
        }
        begins[b] = arena.take(room(b)) + lead(b);
    }
    total = arena.end();
    return begins;
}

}  // namespace

void place_tiles(Plan& plan) {
    const TileBlocks blocks(plan.instructions);
    const std::vector<std::uint64_t> begins = placed(blocks, plan.tile_bytes);
    for (Instruction& instruction : plan.instructions) {
        for_each_range(instruction.action, [&](Range& range) {
            if (!is_tile(range)) return;
            if (range.length == 0) {
                range.offset = 0;
                return;
            }
            const std::uint32_t block = blocks.of(range);
            range.offset = begins[block] + (range.offset - blocks[block].begin);
        });
    }
}

}  // namespace peal::plan
