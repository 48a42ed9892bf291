// SPDX-License-Identifier: Apache-2.0
#include "emit/syncs.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "emit/phases.hpp"
#include "plan/pipes.hpp"

namespace peal::emit {
namespace {

constexpr std::array kWorkers = {Pipe::load, Pipe::vector, Pipe::store};

bool is_free(const Knowledge& known, Pipe from, Pipe to, int event) {
    const auto it = known.taken.find({from, to, event});
    return it == known.taken.end() || (it->second.by & bit(from)) != 0;
}

// The latest of what was done that `pipe` does not know of and that `clashes`.
template <class Clashes>
std::optional<int> latest(const Knowledge& known, Pipe pipe, const Clashes& clashes) {
    const auto it = std::find_if(known.done.rbegin(), known.done.rend(), [&](const auto& entry) {
        return (entry.second.by & bit(pipe)) == 0 && clashes(entry.first, entry.second);
    });
    return it == known.done.rend() ? std::nullopt : std::optional(it->first.instruction);
}

}  // namespace

// An event that is surely not set when it is set again. None: there is no such event.
std::optional<Event> Syncs::choose_event(const Knowledge& known, Pipe from, Pipe to,
                                         std::optional<TileId> because_of) const {
    if (to == Pipe::scalar) return Event{0, kNoLoop};
    if (because_of && instructions_.tile(*because_of).takes_turns) {
        const TileVariable& cause = instructions_.tile(*because_of);
        const bool at_home = open_loops_.contains(cause.home);
        if (at_home && is_free(known, from, to, cause.slot)) {
            return Event{cause.slot, cause.home};
        }
    }
    for (int event = first_event_; event < plan::kEvents; ++event) {
        if (is_free(known, from, to, event)) return Event{event, kNoLoop};
    }
    return std::nullopt;
}

// Without an event to spare, everything is drained.
void Syncs::sync(Pipe from, Pipe to, std::optional<TileId> because_of, Knowledge& known,
                 Steps& out) const {
    const auto event = choose_event(known, from, to, because_of);
    if (!event) {
        out.push_back({DrainAll{}, {}});
        out.push_back({FenceAll{}, {}});  // nobody remembers what is visible
        known.forget_all();
        return;
    }
    out.push_back({Flag{Flag::Kind::set_and_wait, from, to, *event}, {}});
    known.tell(from, to);
    known.taken[{from, to, event->number}] = {to == Pipe::scalar ? kAllPipes : bit(to)};
    if (from == Pipe::load) known.load.reset();
}

void Syncs::for_tile(const Instruction& mine, TileId id, Knowledge& known, Steps& out) const {
    const auto clashes = [&](const Done& done, const Known& what) {
        return instructions_.clash_in_tile(mine, id, done, what);
    };
    while (const auto other = latest(known, mine.pipe, clashes)) {
        sync(instructions_[*other].pipe, mine.pipe, id, known, out);
    }
}

void Syncs::for_memory(const Instruction& mine, Knowledge& known, Steps& out) const {
    const auto clashes = [&](const Done& done, const Known& what) {
        return instructions_.clash_in_memory(mine, done, what);
    };
    while (const auto other = latest(known, mine.pipe, clashes)) {
        sync(instructions_[*other].pipe, mine.pipe, {}, known, out);
    }
}

// The latest first: whoever has waited for it may know that the others are done.
void Syncs::free_slots(const std::set<TileId>& ids, Knowledge& known, Steps& out) const {
    for (;;) {
        std::optional<int> last;
        Pipe fills = Pipe::none;
        for (const TileId id : ids) {
            const auto in_use = [&](const Done& done, const Known&) {
                return instructions_.shares_slots(instructions_[done.instruction], id);
            };
            const auto other = latest(known, instructions_.filler(id), in_use);
            if (!other || (last && *last >= *other)) continue;
            last = other;
            fills = instructions_.filler(id);
        }
        if (!last) return;
        sync(instructions_[*last].pipe, fills, {}, known, out);
    }
}

void Syncs::add(const Step& step, Knowledge& known, Steps& out) const {
    const Instruction& mine = instructions_[step.number];
    mine.for_each_tile([&](TileId id) { for_tile(mine, id, known, out); });
    for_memory(mine, known, out);
    if (mine.pipe == Pipe::load) {
        if (one_load_ && known.load) {
            const Instruction& outstanding = instructions_[*known.load];
            sync(Pipe::load, outstanding.first_reader, outstanding.tiles.writes.front(), known,
                 out);
        }
        known.load = step.number;
    }
    out.push_back(step);
    known.done[{step.number, false}] = {bit(mine.pipe)};
}

void Syncs::drain(Knowledge& known, Steps& out) const {
    const auto needs = [&](const Done& done, const Known& what) {
        const auto& memory = instructions_[done.instruction].memory;
        return memory && memory->is_window() && (what.by & bit(Pipe::scalar)) == 0;
    };
    // What is stored is out of its pipe then, and visible to the others behind a fence.
    const bool stores = std::any_of(known.done.begin(), known.done.end(), [&](const auto& each) {
        return needs(each.first, each.second) &&
               instructions_[each.first.instruction].pipe == Pipe::store;
    });
    for (;;) {
        std::map<Pipe, int> covers;
        Pipe last = Pipe::none;
        for (const auto& [done, what] : known.done) {
            if (!needs(done, what)) continue;
            last = instructions_[done.instruction].pipe;
            for (const Pipe pipe : kWorkers) covers[pipe] += (what.by & bit(pipe)) != 0 ? 1 : 0;
        }
        if (last == Pipe::none) break;
        Pipe best = last;
        for (const Pipe pipe : kWorkers) {
            if (covers[pipe] > covers[best]) best = pipe;
        }
        sync(best, Pipe::scalar, {}, known, out);
    }
    if (stores) out.push_back({FenceAll{}, {}});
}

}  // namespace peal::emit
