// SPDX-License-Identifier: Apache-2.0
#include "emit/phases.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "emit/lives.hpp"
#include "plan/pipes.hpp"

namespace peal::emit {
namespace {

// Elements of a slot are a multiple of this, so that a row of any element type ends on an even
// place.
constexpr std::int64_t kElementsAligned = 64;

// ---------------------------------------------------------------------------- one tile for many

class Joiner {
public:
    explicit Joiner(DeviceProgram& program)
        : program_(program), lives_(program), joined_(program.tiles.size()) {
        std::iota(joined_.begin(), joined_.end(), 0);
    }

    void run() {
        for_each_step(program_.steps, [&](Step& step) { join_moved(step); });
        for_each_step(program_.steps, [&](Step& step) { join_computed(step); });
        for_each_step(program_.steps, [&](Step& step) { take_name(step); });
        for_each_step(program_.steps, [&](Step& step) { rename(step); });
        drop_moves(program_.steps);
    }

private:
    TileId root(TileId tile) const {
        const auto at = static_cast<std::size_t>(tile);
        return joined_[at] == tile ? tile : root(joined_[at]);
    }
    TileVariable& variable(TileId tile) { return program_.tiles[static_cast<std::size_t>(tile)]; }

    bool may_join(TileId a, TileId b) {
        if (variable(a).element != variable(b).element) return false;
        for (TileId i = 0; i < static_cast<TileId>(joined_.size()); ++i) {
            if (root(i) != a) continue;
            for (TileId j = 0; j < static_cast<TileId>(joined_.size()); ++j) {
                if (root(j) == b && lives_.overlap(i, j)) return false;
            }
        }
        return true;
    }

    bool join(TileId tile, TileId other) {
        const TileId a = root(tile);
        const TileId b = root(other);
        if (a == b) return true;
        if (!may_join(a, b)) return false;
        variable(a).bound = std::max(variable(a).bound, variable(b).bound);
        joined_[static_cast<std::size_t>(b)] = a;
        return true;
    }

    void join_moved(const Step& step) {
        const auto* compute = std::get_if<Compute>(&step.what);
        if (compute && compute->instruction == kMove) join(compute->dst, compute->src.front());
    }
    void join_computed(const Step& step) {
        const auto* compute = std::get_if<Compute>(&step.what);
        if (!compute || compute->instruction == kMove) return;
        for (const TileId source : compute->src) {
            if (root(source) == root(compute->dst)) return;
        }
        for (const TileId source : compute->src) {
            if (join(compute->dst, source)) return;
        }
    }

    // What is computed gives a joined tile its name.
    void take_name(const Step& step) {
        const auto* compute = std::get_if<Compute>(&step.what);
        if (!compute || compute->instruction == kMove) return;
        variable(root(compute->dst)).name = variable(compute->dst).name;
    }

    void rename(Step& step) {
        if (auto* load = std::get_if<LoadTile>(&step.what)) load->tile = root(load->tile);
        if (auto* store = std::get_if<StoreTile>(&step.what)) store->tile = root(store->tile);
        if (auto* compute = std::get_if<Compute>(&step.what)) {
            compute->dst = root(compute->dst);
            for (TileId& source : compute->src) source = root(source);
        }
    }

    static void drop_moves(Steps& steps) {
        std::erase_if(steps, [](const Step& step) {
            const auto* compute = std::get_if<Compute>(&step.what);
            return compute && compute->instruction == kMove && compute->src.front() == compute->dst;
        });
        for (Step& step : steps) {
            if (auto* loop = std::get_if<Loop>(&step.what)) drop_moves(loop->body);
            if (auto* branch = std::get_if<Branch>(&step.what)) {
                drop_moves(branch->then_steps);
                drop_moves(branch->else_steps);
            }
        }
    }

    DeviceProgram& program_;
    Lives lives_;
    std::vector<TileId> joined_;
};

// ---------------------------------------------------------------------------- taking turns

// Finds, for each tile, the innermost loop that has all of it and gives it a new value each round.
class Homes {
public:
    Homes(DeviceProgram& program, const Lives& lives) : lives_(lives) {
        homes_.resize(program.tiles.size());
        visit(program.steps);
        for (std::size_t i = 0; i < homes_.size(); ++i) {
            if (!homes_[i]) continue;
            TileVariable& tile = program.tiles[i];
            tile.home = home_of(static_cast<TileId>(i));
            tile.takes_turns =
                tile.home != kNoLoop && !syncing_.contains(tile.home) && first_[i].size() == 1;
        }
    }

private:
    void visit(const Steps& steps) {
        for (const Step& step : steps) {
            if (const auto* loop = std::get_if<Loop>(&step.what)) {
                if (syncs(loop->body)) syncing_.insert(loop->id);
                path_.push_back(loop->id);
                visit(loop->body);
                path_.pop_back();
            } else if (const auto* branch = std::get_if<Branch>(&step.what)) {
                visit(branch->then_steps);
                visit(branch->else_steps);
            } else {
                note(step);
            }
        }
    }

    void note(const Step& step) {
        const TileUse use = use_of(step);
        for (const TileId tile : use.reads) seen(tile);
        for (const TileId tile : use.writes) {
            seen(tile);
            const bool updates =
                std::find(use.reads.begin(), use.reads.end(), tile) != use.reads.end();
            if (!updates) first_[static_cast<std::size_t>(tile)].insert(pipe_of(step));
        }
    }

    void seen(TileId tile) {
        std::optional<std::vector<LoopId>>& common = homes_[static_cast<std::size_t>(tile)];
        if (!common) {
            common = path_;
            return;
        }
        const auto [end, ignored] =
            std::mismatch(common->begin(), common->end(), path_.begin(), path_.end());
        common->erase(end, common->end());
    }

    LoopId home_of(TileId tile) const {
        std::vector<LoopId> path = *homes_[static_cast<std::size_t>(tile)];
        while (!path.empty()) {
            const auto entering = lives_.entering.find(path.back());
            if (entering == lives_.entering.end() || !entering->second.contains(tile)) break;
            path.pop_back();
        }
        return path.empty() ? kNoLoop : path.back();
    }

    const Lives& lives_;
    std::vector<LoopId> path_;
    std::set<LoopId> syncing_;
    std::vector<std::optional<std::vector<LoopId>>> homes_;
    std::map<std::size_t, std::set<Pipe>> first_;  // pipes that give a tile a new value
};

// ---------------------------------------------------------------------------- places

// The outermost loop without notifies and waits around each loop; tiles that take turns keep their
// places for the whole of it.
std::map<LoopId, LoopId> outermost_quiet_loops(const Steps& steps) {
    std::map<LoopId, LoopId> result;
    for_each_step(steps, [&](const Step& step) {
        const auto* loop = std::get_if<Loop>(&step.what);
        if (!loop || result.contains(loop->id) || syncs(loop->body)) return;
        result[loop->id] = loop->id;
        for_each_step(loop->body, [&](const Step& inner) {
            if (const auto* nested = std::get_if<Loop>(&inner.what)) result[nested->id] = loop->id;
        });
    });
    return result;
}

class Placer {
public:
    Placer(DeviceProgram& program, const Lives& lives)
        : program_(program), lives_(lives), quiet_(outermost_quiet_loops(program.steps)) {}

    void run() {
        for_each_step(program_.steps, [&](const Step& step) {
            for (const TileId tile : use_of(step).writes) {
                if (at(tile).slot < 0) place(tile);
            }
        });
    }

private:
    TileVariable& at(TileId tile) { return program_.tiles[static_cast<std::size_t>(tile)]; }
    static int width(const TileVariable& tile) { return tile.takes_turns ? 2 : 1; }

    // A tile that takes turns has two events, numbered like its slots.
    void place(TileId id) {
        TileVariable& tile = at(id);
        tile.slot = first_fit(id);
        if (tile.takes_turns && tile.slot + 2 > plan::kEvents - 2) {
            tile.takes_turns = false;
            tile.slot = first_fit(id);
        }
        program_.slots = std::max(program_.slots, tile.slot + width(tile));
    }

    int first_fit(TileId id) {
        const TileVariable& tile = at(id);
        int slot = 0;
        for (bool moved = true; moved;) {
            moved = false;
            for (TileId other = 0; other < static_cast<TileId>(program_.tiles.size()); ++other) {
                const TileVariable& placed = at(other);
                if (placed.slot < 0 || other == id || !keep_apart(id, other)) continue;
                if (slot + width(tile) <= placed.slot || placed.slot + width(placed) <= slot) {
                    continue;
                }
                slot = placed.slot + width(placed);
                moved = true;
            }
        }
        return slot;
    }

    bool keep_apart(TileId a, TileId b) {
        if (lives_.overlap(a, b)) return true;
        const TileVariable& one = at(a);
        const TileVariable& other = at(b);
        const bool turns = one.takes_turns || other.takes_turns;
        return turns && quiet_of(one) == quiet_of(other) && quiet_of(one) != kNoLoop;
    }

    LoopId quiet_of(const TileVariable& tile) const {
        const auto it = quiet_.find(tile.home);
        return it == quiet_.end() ? kNoLoop : it->second;
    }

    DeviceProgram& program_;
    const Lives& lives_;
    std::map<LoopId, LoopId> quiet_;
};

}  // namespace

void place_tiles(DeviceProgram& program, pto::Device device, const Trouble& trouble) {
    drop_unused(program);
    Joiner(program).run();
    const Lives lives(program);
    Homes(program, lives);
    Placer(program, lives).run();
    if (program.slots == 0) return;
    std::uint64_t largest = 1;
    for (const TileVariable& tile : program.tiles)
        largest = std::max(largest, bytes_of(tile.element));
    const auto capacity = static_cast<std::int64_t>(pto::rules_of(device).tile_bytes / largest);
    program.chunk = capacity / program.slots / kElementsAligned * kElementsAligned;
    for (const TileVariable& tile : program.tiles) {
        if (tile.slot < 0 || tile.bound <= program.chunk) continue;
        trouble.fail(
            tile.span,
            fmt::format("tile '{}' of up to {} elements does not fit in tile memory, which "
                        "has room for {} of {}",
                        tile.name, tile.bound, program.slots, program.chunk),
            "use smaller pieces, or fewer tiles at the same time");
    }
}

}  // namespace peal::emit
