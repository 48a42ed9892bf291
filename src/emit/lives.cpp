// SPDX-License-Identifier: Apache-2.0
#include "emit/lives.hpp"

namespace peal::emit {
namespace {

// Goes backwards through the steps with the set of tiles that are needed later.
class Walk {
public:
    explicit Walk(Lives& lives) : lives_(lives) {}

    TileSet before(const Steps& steps, TileSet after) {
        for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
            if (const auto* loop = std::get_if<Loop>(&step->what)) {
                after = before_loop(*loop, after);
            } else if (const auto* branch = std::get_if<Branch>(&step->what)) {
                TileSet needed = before(branch->then_steps, after);
                needed.merge(before(branch->else_steps, std::move(after)));
                after = std::move(needed);
            } else {
                pass(*step, after);
            }
        }
        return after;
    }

private:
    TileSet before_loop(const Loop& loop, const TileSet& after) {
        TileSet needed = after;  // the loop may have no round
        for (;;) {
            TileSet entering = before(loop.body, needed);
            lives_.entering[loop.id] = entering;
            const std::size_t size = needed.size();
            needed.merge(entering);
            if (needed.size() == size) return needed;
        }
    }

    void pass(const Step& step, TileSet& needed) {
        const TileUse use = use_of(step);
        const auto* compute = std::get_if<Compute>(&step.what);
        const bool moves = compute && compute->instruction == kMove;
        for (const TileId written : use.writes) {
            needed.erase(written);
            for (const TileId other : needed) {
                if (moves && other == use.reads.front()) continue;  // they hold the same
                lives_.overlapping.insert({std::min(written, other), std::max(written, other)});
            }
        }
        needed.insert(use.reads.begin(), use.reads.end());
    }

    Lives& lives_;
};

void drop_unused(Steps& steps, const TileSet& stored) {
    for (Step& step : steps) {
        if (auto* loop = std::get_if<Loop>(&step.what)) drop_unused(loop->body, stored);
        if (auto* branch = std::get_if<Branch>(&step.what)) {
            drop_unused(branch->then_steps, stored);
            drop_unused(branch->else_steps, stored);
        }
    }
    std::erase_if(steps, [&](const Step& step) {
        if (const auto* loop = std::get_if<Loop>(&step.what)) return loop->body.empty();
        if (const auto* branch = std::get_if<Branch>(&step.what)) {
            return branch->then_steps.empty() && branch->else_steps.empty();
        }
        const TileUse use = use_of(step);
        return !use.writes.empty() && !stored.contains(use.writes.front());
    });
}

}  // namespace

TileUse use_of(const Step& step) {
    if (const auto* load = std::get_if<LoadTile>(&step.what)) return {{}, {load->tile}};
    if (const auto* store = std::get_if<StoreTile>(&step.what)) return {{store->tile}, {}};
    if (const auto* compute = std::get_if<Compute>(&step.what)) {
        return {compute->src, {compute->dst}};
    }
    return {};
}

void drop_unused(DeviceProgram& program) {
    TileSet stored;
    for (bool grows = true; grows;) {
        const std::size_t size = stored.size();
        for_each_step(program.steps, [&](const Step& step) {
            const TileUse use = use_of(step);
            const bool is_needed = use.writes.empty() || stored.contains(use.writes.front());
            if (is_needed) stored.insert(use.reads.begin(), use.reads.end());
        });
        grows = stored.size() != size;
    }
    drop_unused(program.steps, stored);
}

Lives::Lives(const DeviceProgram& program) { Walk(*this).before(program.steps, {}); }

}  // namespace peal::emit
