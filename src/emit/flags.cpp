// SPDX-License-Identifier: Apache-2.0
// Goes through the steps in the order of the text with what each pipe knows to be done, and puts a
// flag before an instruction that must not start before another pipe is done with something. A
// loop is gone through until what is known at its beginning holds in every round.
//
// A tile that takes turns has two slots and, for the pipe that is done with it last, an event for
// each slot: it is set when the slot is free and awaited before the slot is filled again, two
// rounds later.
#include "emit/phases.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "emit/instructions.hpp"
#include "emit/known.hpp"
#include "emit/syncs.hpp"

namespace peal::emit {
namespace {

int first_event_of_no_tile(const DeviceProgram& program) {
    int first = 0;
    for (const TileVariable& tile : program.tiles) {
        if (tile.takes_turns) first = std::max(first, tile.slot + 2);
    }
    return first;
}

class Inserter {
public:
    Inserter(DeviceProgram& program, const Facts& facts, pto::Device device)
        : program_(program),
          instructions_(program, facts),
          syncs_(instructions_, first_event_of_no_tile(program),
                 pto::rules_of(device).one_outstanding_load) {}

    void run() {
        for (;;) {
            Knowledge known;
            Steps steps = visit(program_.steps, known, kNoLoop);
            if (unfit_.empty()) {
                program_.steps = std::move(steps);
                return;
            }
            for (const TileId id : unfit_) {
                program_.tiles[static_cast<std::size_t>(id)].takes_turns = false;
            }
            unfit_.clear();
            last_users_.clear();
        }
    }

private:
    // ------------------------------------------------------------------------ control flow

    // `loop` is the loop whose body the steps are.
    Steps visit(const Steps& steps, Knowledge& known, LoopId loop) {
        Steps out;
        const std::map<TileId, Extent> turning = turning_in(steps, loop);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            for (const auto& [id, span] : turning) {
                if (span.first == i) await_turn(id, known, out);
            }
            visit_step(steps[i], known, out);
            for (const auto& [id, span] : turning) {
                if (span.last == i) give_turn(id, steps, known, out);
            }
        }
        return out;
    }

    void visit_step(const Step& step, Knowledge& known, Steps& out) {
        if (const auto* loop = std::get_if<Loop>(&step.what)) {
            visit_loop(*loop, step.span, known, out);
        } else if (const auto* branch = std::get_if<Branch>(&step.what)) {
            visit_branch(*branch, step.span, known, out);
        } else if (works_on_tiles(step)) {
            syncs_.add(step, known, out);
        } else {
            if (std::holds_alternative<NotifyCell>(step.what)) syncs_.drain(known, out);
            out.push_back(step);
        }
    }

    void visit_branch(const Branch& branch, Span span, Knowledge& known, Steps& out) {
        Steps whole = branch.then_steps;
        whole.insert(whole.end(), branch.else_steps.begin(), branch.else_steps.end());
        if (notifies(whole) && !works_on_tiles(whole)) syncs_.drain(known, out);
        Knowledge other = known;
        Branch result{branch.condition, visit(branch.then_steps, known, kNoLoop),
                      visit(branch.else_steps, other, kNoLoop)};
        known.meet(other);
        out.push_back({std::move(result), span});
    }

    void visit_loop(const Loop& loop, Span span, Knowledge& known, Steps& out) {
        if (notifies(loop.body) && !works_on_tiles(loop.body)) syncs_.drain(known, out);
        visit_rounds(loop, span, known, out);
    }

    void visit_rounds(const Loop& loop, Span span, Knowledge& known, Steps& out) {
        const std::set<int> inside = numbers_in(loop.body);
        if (loop.chunks) set_before(inside, known);
        if (!syncs(loop.body)) hoist(loop, known, out);
        syncs_.free_slots(turning_tiles(inside, loop.id), known, out);
        cover(loop, inside, known);
        Loop result = loop;
        syncs_.enter(loop.id);
        for (;;) {
            const auto users = last_users_;
            Knowledge round = known;
            result.body = visit(loop.body, round, loop.id);
            cover(loop, inside, round);
            Knowledge next = known;
            next.meet(round);
            if (next == known && users == last_users_) break;
            known = std::move(next);
        }
        syncs_.leave(loop.id);
        uncover(loop, inside, known);
        result.turns = !turning_in(loop.body, loop.id).empty();
        out.push_back({std::move(result), span});
    }

    // What an instruction inside needs of one before the loop is awaited before the loop, once.
    void hoist(const Loop& loop, Knowledge& known, Steps& out) const {
        std::set<TileId> seen;
        for (const int number : numbers_in(loop.body)) {
            const Instruction& mine = instructions_[number];
            mine.for_each_tile([&](TileId id) {
                if (is_home_within(instructions_.tile(id).home, loop) || !seen.insert(id).second)
                    return;
                syncs_.for_tile(mine, id, known, out);
            });
            syncs_.for_memory(mine, known, out);
        }
    }

    static bool is_home_within(LoopId home, const Loop& loop) {
        bool found = home == loop.id;
        for_each_step(loop.body, [&](const Step& step) {
            const auto* inner = std::get_if<Loop>(&step.what);
            found = found || (inner && inner->id == home);
        });
        return found;
    }

    static void set_before(const std::set<int>& inside, Knowledge& known) {
        Knowledge earlier;
        for (const int number : inside) {
            const auto it = known.done.find({number, false});
            if (it == known.done.end()) continue;
            earlier.done[{number, true}] = {it->second.by};
            known.done.erase(it);
        }
        known.meet(earlier);
    }

    // At the beginning of a round: what earlier rounds did to tiles at home here was in another
    // slot, or is awaited; and other chunks have other memory.
    void cover(const Loop& loop, const std::set<int>& inside, Knowledge& known) const {
        for (const int number : inside) {
            const auto it = known.done.find({number, false});
            if (it == known.done.end()) continue;
            instructions_[number].for_each_tile([&](TileId id) {
                if (instructions_.is_turning_in(id, loop.id)) it->second.tiles_covered.insert(id);
            });
            if (loop.chunks) it->second.memory_covered = true;
        }
        std::erase_if(known.taken, [&](const auto& entry) {
            return std::any_of(program_.tiles.begin(), program_.tiles.end(), [&](const auto& each) {
                return each.takes_turns && each.home == loop.id && each.slot == entry.first.event;
            });
        });
    }

    void uncover(const Loop& loop, const std::set<int>& inside, Knowledge& known) const {
        for (const int number : inside) {
            const auto it = known.done.find({number, false});
            if (it == known.done.end()) continue;
            std::erase_if(it->second.tiles_covered,
                          [&](TileId id) { return instructions_.is_turning_in(id, loop.id); });
            if (loop.chunks) it->second.memory_covered = false;
        }
    }

    // ------------------------------------------------------------------------ taking turns

    struct Extent {
        std::size_t first, last;
    };

    // The tiles at home in the loop whose body is `steps`, with the first and last step for each.
    std::map<TileId, Extent> turning_in(const Steps& steps, LoopId loop) const {
        std::map<TileId, Extent> result;
        if (loop == kNoLoop) return result;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            for (const int number : numbers_in(steps[i])) {
                instructions_[number].for_each_tile([&](TileId id) {
                    if (!instructions_.is_turning_in(id, loop)) return;
                    result.try_emplace(id, Extent{i, i}).first->second.last = i;
                });
            }
        }
        return result;
    }

    std::set<TileId> turning_tiles(const std::set<int>& inside, LoopId loop) const {
        std::set<TileId> result;
        for (const int number : inside) {
            instructions_[number].for_each_tile([&](TileId id) {
                if (instructions_.is_turning_in(id, loop)) result.insert(id);
            });
        }
        return result;
    }

    void await_turn(TileId id, Knowledge& known, Steps& out) const {
        const auto it = last_users_.find(id);
        if (it == last_users_.end()) return;
        const Event event{instructions_.tile(id).slot, instructions_.tile(id).home};
        for (const Pipe from : it->second) {
            out.push_back(
                {Flag{Flag::Kind::wait_for_last_turn, from, instructions_.filler(id), event}, {}});
            known.taken[{from, instructions_.filler(id), event.number}] = {
                bit(instructions_.filler(id))};
        }
    }

    // `body` is that of the tile's home. A round that leaves the tile alone would set its event
    // before anyone knows that it was taken.
    void give_turn(TileId id, const Steps& body, const Knowledge& known, Steps& out) {
        find_last_users(id, known);
        const Event event{instructions_.tile(id).slot, instructions_.tile(id).home};
        if (!instructions_.always_uses(body, id, instructions_.filler(id))) unfit_.insert(id);
        for (const Pipe from : last_users_[id]) {
            if (!instructions_.always_uses(body, id, from)) unfit_.insert(id);
            out.push_back(
                {Flag{Flag::Kind::set_for_next_turn, from, instructions_.filler(id), event}, {}});
        }
    }

    void find_last_users(TileId id, const Knowledge& known) {
        std::set<Pipe>& users = last_users_[id];
        for (auto it = known.done.rbegin(); it != known.done.rend(); ++it) {
            const auto& [done, what] = *it;
            if (done.before || what.tiles_covered.contains(id)) continue;
            if (!instructions_[done.instruction].touches(id)) continue;
            Knowers enough = bit(instructions_.filler(id));
            for (const Pipe user : users) enough |= bit(user);
            if ((what.by & enough) == 0) users.insert(instructions_[done.instruction].pipe);
        }
    }

    DeviceProgram& program_;
    Instructions instructions_;
    Syncs syncs_;
    std::map<TileId, std::set<Pipe>> last_users_;  // of tiles that take turns
    std::set<TileId> unfit_;                       // to take turns
};

}  // namespace

void insert_flags(DeviceProgram& program, const Facts& facts, pto::Device device) {
    Inserter(program, facts, device).run();
}

}  // namespace peal::emit
