// SPDX-License-Identifier: Apache-2.0
// When the tiles of a kernel are needed.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "emit/steps.hpp"

namespace peal::emit {

using TileSet = std::set<TileId>;

struct Lives {
    explicit Lives(const DeviceProgram& program);

    bool overlap(TileId a, TileId b) const {
        return overlapping.contains({std::min(a, b), std::max(a, b)});
    }

    std::set<std::pair<TileId, TileId>> overlapping;  // pairs (smaller, larger)
    std::map<LoopId, TileSet> entering;               // alive at the beginning of each round
};

// The tiles that a step itself reads and writes.
struct TileUse {
    std::vector<TileId> reads, writes;
};
TileUse use_of(const Step& step);

// Takes out instructions whose tiles are never stored, and loops and branches with nothing in them.
void drop_unused(DeviceProgram& program);

}  // namespace peal::emit
