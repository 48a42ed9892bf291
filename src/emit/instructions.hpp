// SPDX-License-Identifier: Apache-2.0
// The instructions on tiles of a kernel and how they get into each other's way.
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "emit/facts.hpp"
#include "emit/known.hpp"
#include "emit/lives.hpp"
#include "emit/steps.hpp"

namespace peal::emit {

struct MemoryAccess {
    MemoryRef ref;
    bool writes = false;
    bool is_window() const { return ref.memory->type.kind == ir::Type::Kind::window; }
};

struct Instruction {
    Pipe pipe = Pipe::vector;
    TileUse tiles;
    std::optional<MemoryAccess> memory;
    LoopId chunks = kNoLoop;         // the chunk loop around it
    Pipe first_reader = Pipe::none;  // loads: of the tile

    bool writes(TileId tile) const;
    bool touches(TileId tile) const;
    template <class Visit>
    void for_each_tile(const Visit& visit) const {
        for (const TileId each : tiles.reads) visit(each);
        for (const TileId each : tiles.writes) visit(each);
    }
};

// The numbers of the instructions in a step or in steps, in the order of the text.
std::set<int> numbers_in(const Step& step);
std::set<int> numbers_in(const Steps& steps);

class Instructions {
public:
    // Gives the instructions of the program their numbers.
    Instructions(DeviceProgram& program, const Facts& facts);

    const Instruction& operator[](int number) const {
        return list_[static_cast<std::size_t>(number)];
    }
    const TileVariable& tile(TileId id) const {
        return program_.tiles[static_cast<std::size_t>(id)];
    }
    bool is_turning_in(TileId id, LoopId loop) const {
        return tile(id).takes_turns && tile(id).home == loop;
    }

    // Whether what `mine` does to a tile, or to memory, must wait for what was done.
    bool clash_in_tile(const Instruction& mine, TileId id, const Done& done,
                       const Known& known) const;
    bool clash_in_memory(const Instruction& mine, const Done& done, const Known& known) const;

    // Whether it has to do with the slots of the tile.
    bool shares_slots(const Instruction& instruction, TileId id) const;

    // The pipe that gives the tile its values.
    Pipe filler(TileId id) const;

    // Whether the pipe has to do with the tile whatever way is taken through the steps.
    bool always_uses(const Steps& steps, TileId id, Pipe pipe) const;

private:
    void describe(Steps& steps, LoopId chunks);
    void find_first_readers();
    bool share_slots(TileId a, TileId b) const;

    const DeviceProgram& program_;
    const Facts& facts_;
    std::vector<Instruction> list_;  // by number
};

}  // namespace peal::emit
