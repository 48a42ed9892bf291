// SPDX-License-Identifier: Apache-2.0
// Flags that one pipe sets and another awaits at once, where they are needed.
#pragma once

#include <optional>
#include <set>

#include "emit/instructions.hpp"
#include "emit/known.hpp"
#include "emit/steps.hpp"

namespace peal::emit {

class Syncs {
public:
    // Events from `first_event` on belong to no tile.
    Syncs(const Instructions& instructions, int first_event, bool one_load)
        : instructions_(instructions), first_event_(first_event), one_load_(one_load) {}

    // Flags without which `mine` could come too early, because of one tile or of memory.
    void for_tile(const Instruction& mine, TileId id, Knowledge& known, Steps& out) const;
    void for_memory(const Instruction& mine, Knowledge& known, Steps& out) const;

    // The instruction, and before it the flags it needs.
    void add(const Step& step, Knowledge& known, Steps& out) const;

    // What peers may see or overwrite is done before they are told so.
    void drain(Knowledge& known, Steps& out) const;

    // Whoever fills the slots of these tiles knows that others are done with them.
    void free_slots(const std::set<TileId>& ids, Knowledge& known, Steps& out) const;

    // Within a loop, events may take turns with its tiles.
    void enter(LoopId loop) { open_loops_.insert(loop); }
    void leave(LoopId loop) { open_loops_.erase(loop); }

private:
    void sync(Pipe from, Pipe to, std::optional<TileId> because_of, Knowledge& known,
              Steps& out) const;
    std::optional<Event> choose_event(const Knowledge& known, Pipe from, Pipe to,
                                      std::optional<TileId> because_of) const;

    const Instructions& instructions_;
    int first_event_;
    bool one_load_;
    std::set<LoopId> open_loops_;
};

}  // namespace peal::emit
