// SPDX-License-Identifier: Apache-2.0
#include "plan/fuse_steps.hpp"

#include "plan/access.hpp"

namespace peal::plan {
namespace {

// One pass; whether there was anything to drop.
bool drop_once(std::vector<Instruction>& instructions, const TileBlocks& blocks) {
    std::vector<std::uint32_t> reads(blocks.size());
    for (std::size_t b = 0; b < blocks.size(); ++b) reads[b] = blocks[b].reads;

    const auto is_dead = [&](const Range& dst) {
        return dst.length == 0 || (is_tile(dst) && reads[blocks.of(dst)] == 0);
    };
    // Backwards, so that what a dead instruction read may be dead in turn.
    std::vector<bool> dead(instructions.size());
    for (std::size_t i = instructions.size(); i-- > 0;) {
        for_each_access(
            instructions[i].action, [](const Range&) {},
            [&](const Range& dst) { dead[i] = is_dead(dst); });
        if (!dead[i]) continue;
        for_each_access(
            instructions[i].action,
            [&](const Range& src) {
                if (is_tile(src) && src.length != 0) --reads[blocks.of(src)];
            },
            [](const Range&) {});
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < instructions.size(); ++i) {
        if (dead[i]) continue;
        if (kept != i) instructions[kept] = std::move(instructions[i]);
        ++kept;
    }
    const bool dropped = kept != instructions.size();
    instructions.resize(kept);
    return dropped;
}

}  // namespace

// What is left may fall into smaller blocks, some of which nobody reads.
void drop_dead_tiles(std::vector<Instruction>& instructions, TileBlocks& blocks) {
    while (drop_once(instructions, blocks)) blocks = TileBlocks(instructions);
}

}  // namespace peal::plan
