// SPDX-License-Identifier: Apache-2.0
// Fewer passes over memory: work joins the work that uses it, and what is left of tile memory moves
// together. Each step keeps every byte outside tile memory what it was at every notify and wait
// where a peer could look at it.
#include <algorithm>
#include <utility>

#include "peal/compile.hpp"
#include "plan/fuse_steps.hpp"
#include "plan/lanes.hpp"
#include "plan/pipes.hpp"

namespace peal {
namespace plan {
namespace {

// Of one lane, or of a part of one with tiles of its own.
void fuse_lane(Plan& lane, Sharing sharing, Origins& origins) {
    TileBlocks blocks(lane.instructions);
    rename_tiles(lane, blocks);
    drop_dead_tiles(lane.instructions, blocks);
    sink(lane, sharing, blocks, origins);
    hoist(lane, sharing, origins);
    place_tiles(lane);
}

// The bytes of tile memory that some instructions use.
struct TileBytes {
    explicit TileBytes(std::span<const Instruction> instructions) {
        for (const Instruction& instruction : instructions) {
            for_each_range(instruction.action, [&](const Range& range) {
                if (!is_tile(range) || range.length == 0) return;
                begin = std::min(begin, range.offset);
                end = std::max(end, end_of(range));
            });
        }
    }
    bool is_empty() const { return end == 0; }

    std::uint64_t begin = UINT64_MAX, end = 0;
};

// Whether each part of a lane, and each period, has tiles of its own. They are then one after
// another in tile memory.
bool are_apart(const Draft& draft) {
    bool apart = true;
    std::uint64_t used = 0;
    const auto stand = [&](std::span<const Instruction> instructions) {
        const TileBytes bytes(instructions);
        if (bytes.is_empty()) return;
        apart = apart && used <= bytes.begin;
        used = bytes.end;
    };
    for_each_part(
        draft, stand,
        [&](const Repeat& repeat) {
            stand(first_period(draft.plan, repeat));
            const std::uint64_t before = used;
            stand(second_period(draft.plan, repeat));
            used += (repeat.times - 2) * (used - before);
        },
        [&] { used = 0; });
    return apart;
}

// Fuses the parts of a draft one by one. Work joins work by way of a tile, and where no tile is in
// use tiles are placed from the beginning: so nothing else goes from one part to another.
class PartFuser {
public:
    explicit PartFuser(const Draft& draft)
        : draft_(draft),
          sharing_(sharing_of(draft.plan)),
          part_(frame(draft.plan)),
          origins_(part_) {}

    Plan run() && {
        std::vector<Instruction> list;
        std::vector<std::uint32_t> lanes;
        list.reserve(length_of(draft_));
        for_each_part(
            draft_, [&](std::span<const Instruction> part) { append(list, fused(part)); },
            [&](const Repeat& repeat) { add(list, repeat); },
            [&] { lanes.push_back(static_cast<std::uint32_t>(list.size())); });
        part_.instructions = std::move(list);
        part_.lanes = std::move(lanes);
        part_.tile_bytes = tile_bytes_;
        return std::move(part_);
    }

private:
    static Plan frame(const Plan& plan) {
        Plan result;
        result.kernel = plan.kernel;
        result.rank = plan.rank;
        result.nranks = plan.nranks;
        result.buffers = plan.buffers;
        result.advance = plan.advance;
        result.turns = plan.turns;
        return result;
    }

    static void append(std::vector<Instruction>& list, std::vector<Instruction> part) {
        list.insert(list.end(), std::make_move_iterator(part.begin()),
                    std::make_move_iterator(part.end()));
    }

    std::vector<Instruction> fused(std::span<const Instruction> instructions) {
        part_.instructions.assign(instructions.begin(), instructions.end());
        part_.tile_bytes = draft_.plan.tile_bytes;
        fuse_lane(part_, sharing_, origins_);
        tile_bytes_ = std::max(tile_bytes_, part_.tile_bytes);
        return std::exchange(part_.instructions, {});
    }

    // The first two periods become what they become, and all others what follows from these: if
    // nothing comes closer to anything on the way.
    void add(std::vector<Instruction>& list, const Repeat& repeat) {
        const auto first = first_period(draft_.plan, repeat);
        const auto second = second_period(draft_.plan, repeat);
        const std::uint64_t others = repeat.times - 2;
        if (repeat.step.keeps_overlaps(first, repeat.times)) {
            std::vector<Instruction> one = fused(first), two = fused(second);
            if (const auto step = Step::between(one, two)) {
                append(list, std::move(one));
                append(list, std::move(two));
                return step->append(list, others);
            }
        }
        std::vector<Instruction> all(first.begin(), first.end());
        all.insert(all.end(), second.begin(), second.end());
        repeat.step.append(all, others);
        append(list, fused(all));
    }

    const Draft& draft_;
    Sharing sharing_;
    Plan part_;  // that is being fused
    Origins origins_;
    std::uint64_t tile_bytes_ = 0;
};

}  // namespace

Plan fuse(Draft draft) {
    if (draft.repeats.empty() || !may_be_fused(draft.plan) || !are_apart(draft)) {
        return peal::fuse(written_out(std::move(draft)));
    }
    return PartFuser(draft).run();
}

}  // namespace plan

// Plans of tile processors stay as their author wrote them.
Plan fuse(Plan plan) {
    if (!plan::may_be_fused(plan)) return plan;
    const plan::Sharing sharing = plan::sharing_of(plan);
    plan::Origins origins(plan);
    plan::change_lanes(plan, [&](Plan& lane) { plan::fuse_lane(lane, sharing, origins); });
    std::move(origins).attach(plan);
    for (Instruction& instruction : plan.instructions) instruction.joined = false;
    return plan;
}

}  // namespace peal
