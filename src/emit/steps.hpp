// SPDX-License-Identifier: Apache-2.0
// A kernel on its way to PTO C++: loops, conditions and instructions as they will be printed. First
// without flags and with as many tiles as there are values; then tiles get their place in tile
// memory (tiles.hpp) and pipes their flags (flags.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "peal/ir.hpp"
#include "peal/plan.hpp"

namespace peal::emit {

using TileId = int;
using LoopId = int;
inline constexpr LoopId kNoLoop = -1;

struct Step;
using Steps = std::vector<Step>;

// Elements of a memory parameter from `offset` on; of a peer's, unless `peer` is null. As many as
// the tile has that is loaded or stored; in a chunk loop it starts that much later.
struct MemoryRef {
    ir::VarPtr memory;
    ir::ExprPtr peer;
    ir::ExprPtr offset;
};

struct Define {
    ir::VarPtr var;
    ir::ExprPtr value;  // null: it is assigned later
    bool is_constant = true;
};
struct Assign {
    ir::VarPtr var;
    ir::ExprPtr value;
};
struct LoadTile {
    TileId tile;
    MemoryRef from;
};
struct StoreTile {
    TileId tile;
    MemoryRef to;
};
struct Compute {
    std::string_view instruction;  // "TADD"
    TileId dst;
    std::vector<TileId> src;
    ir::ExprPtr scalar;  // may be null
};
inline constexpr std::string_view kMove = "TMOV";

struct NotifyCell {
    ir::VarPtr signal;
    ir::ExprPtr peer, cell, value;
    NotifyOp op;
};
struct WaitForCell {
    ir::VarPtr signal;
    ir::ExprPtr cell, value;
    Compare compare;
};
// The generation of the signal moves on within the call.
struct AdvanceGeneration {
    ir::VarPtr signal;
    ir::ExprPtr by;
};

// An event: a number, or two that take turns from round to round of a loop.
struct Event {
    int number = 0;
    LoopId turns = kNoLoop;
    bool operator==(const Event&) const = default;
};
struct Flag {
    enum class Kind : std::uint8_t {
        set_and_wait,
        set_for_next_turn,   // unless there is none: in the last two rounds of event.turns
        wait_for_last_turn,  // unless there was none: in the first two
    };
    Kind kind = Kind::set_and_wait;
    Pipe from, to;
    Event event;
};
struct DrainAll {};  // pipe_barrier(PIPE_ALL)
struct FenceAll {};  // dsb(DSB_DDR)

// Rounds over counter in lo..hi; or, if `chunks` is set, over pieces of that many elements.
struct Loop {
    LoopId id;
    ir::VarPtr counter;
    ir::ExprPtr lo, hi;
    ir::ExprPtr chunks;
    bool turns = false;  // tiles or events take turns in it
    Steps body;
};
struct Branch {
    ir::ExprPtr condition;
    Steps then_steps, else_steps;
};
struct Step {
    std::variant<Define, Assign, LoadTile, StoreTile, Compute, NotifyCell, WaitForCell,
                 AdvanceGeneration, Flag, DrainAll, FenceAll, Loop, Branch>
        what;
    Span span;
    int number = -1;  // of an instruction on tiles, in the order of the text
};

// A variable in tile memory.
struct TileVariable {
    std::string name;
    Element element;
    ir::ExprPtr count;       // null: that of the chunk loop around it
    std::int64_t bound = 0;  // of `count`, in elements
    Span span;
    // Where it is: slots [slot, slot + 2) if it takes turns with itself in `home`, otherwise one.
    LoopId home = kNoLoop;
    bool takes_turns = false;
    int slot = -1;
};

// What must hold before a call begins, in terms of its arguments: `left compare right`, where all
// of `when` holds.
struct Requirement {
    std::vector<ir::ExprPtr> when;
    ir::ExprPtr left;
    Compare compare;
    ir::ExprPtr right;
};

struct DeviceProgram {
    std::vector<Requirement> requirements;
    Steps steps;
    std::vector<TileVariable> tiles;
    int slots = 0;
    std::int64_t chunk = 0;  // elements of a slot
};

// The pipe of an instruction on tiles.
inline Pipe pipe_of(const Step& step) {
    if (std::holds_alternative<LoadTile>(step.what)) return Pipe::load;
    return std::holds_alternative<StoreTile>(step.what) ? Pipe::store : Pipe::vector;
}

// Calls visit(step) for each step, also within loops and branches, in the order of the text.
template <class StepsType, class Visit>
void for_each_step(StepsType& steps, const Visit& visit) {
    for (auto& step : steps) {
        visit(step);
        if (auto* loop = std::get_if<Loop>(&step.what)) for_each_step(loop->body, visit);
        if (auto* branch = std::get_if<Branch>(&step.what)) {
            for_each_step(branch->then_steps, visit);
            for_each_step(branch->else_steps, visit);
        }
    }
}

// The step itself and what is below it.
template <class Visit>
void for_each_within(const Step& step, const Visit& visit) {
    visit(step);
    if (const auto* loop = std::get_if<Loop>(&step.what)) for_each_step(loop->body, visit);
    if (const auto* branch = std::get_if<Branch>(&step.what)) {
        for_each_step(branch->then_steps, visit);
        for_each_step(branch->else_steps, visit);
    }
}

bool works_on_tiles(const Step& step);  // itself
bool works_on_tiles(const Steps& steps);
bool notifies(const Steps& steps);
bool syncs(const Steps& steps);  // notifies or waits

}  // namespace peal::emit
