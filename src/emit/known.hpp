// SPDX-License-Identifier: Apache-2.0
// What the pipes of a core know of each other at one place of the text, on every way there.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "emit/steps.hpp"

namespace peal::emit {

// The pipes that know that something is done.
using Knowers = std::uint32_t;
constexpr Knowers bit(Pipe pipe) { return Knowers{1} << static_cast<unsigned>(pipe); }
inline constexpr Knowers kAllPipes =
    bit(Pipe::scalar) | bit(Pipe::load) | bit(Pipe::vector) | bit(Pipe::store);

// The last time an instruction was carried out. `before` tells what an instruction in a loop did
// before that loop was entered from what it did in earlier rounds.
struct Done {
    int instruction = 0;
    bool before = false;
    auto operator<=>(const Done&) const = default;
};

struct Known {
    Knowers by = 0;
    // Nothing that comes now can clash with what it did to these tiles: whoever fills them again
    // waits for their turn.
    std::set<TileId> tiles_covered = {};
    // Nor with what it did to memory: that was another chunk.
    bool memory_covered = false;
    bool operator==(const Known&) const = default;
};

struct FlagName {
    Pipe from, to;
    int event;
    auto operator<=>(const FlagName&) const = default;
};

struct Knowledge {
    std::map<Done, Known> done;
    std::map<FlagName, Known> taken;  // the last wait for each flag
    std::optional<int> load;          // a load whose flag nobody awaited yet

    // `to` now knows what `from` knows.
    void tell(Pipe from, Pipe to);
    void forget_all();  // everything is done, and everyone knows

    // What holds on both ways.
    void meet(const Knowledge& other);
    bool operator==(const Knowledge&) const = default;
};

}  // namespace peal::emit
