// SPDX-License-Identifier: Apache-2.0
#include "plan/fuse_steps.hpp"

#include <algorithm>
#include <cassert>
#include <optional>

#include "plan/access.hpp"
#include "plan/notes.hpp"
#include "plan/range_index.hpp"

namespace peal::plan {
namespace {

constexpr std::uint32_t kNoWork = UINT32_MAX;

class Sinker {
public:
    Sinker(Plan& plan, Sharing sharing, const TileBlocks& blocks, Origins& origins)
        : plan_(plan),
          sharing_(sharing),
          blocks_(blocks),
          origins_(origins),
          tiles_(blocks_.size()) {
        for (std::size_t b = 0; b < tiles_.size(); ++b) tiles_[b].uses_left = blocks_[b].reads;
    }

    void run() {
        for (Instruction& next : plan_.instructions) {
            Instruction instruction = std::move(next);
            step(instruction);
        }
        assert(std::none_of(held_.begin(), held_.end(), [](const Held& h) { return h.live; }));
        plan_.instructions.resize(written_);
    }

private:
    using SourcePlace = PlanNotes::SourcePlace;

    // Work that is held back until its result is used.
    struct Held {
        Instruction work;
        std::uint32_t tile;
        bool live = true;
        bool reads_shared = false;
    };
    struct Tile {
        std::uint32_t uses_left = 0;
        std::uint32_t held = kNoWork;  // the work that yields it, unless it is in tile memory
    };

    void step(Instruction& instruction) {
        if (is_sync(instruction.action) || is_completion(instruction.action)) {
            put_down_shared_reads();
            write(std::move(instruction));
            return;
        }
        std::visit([&](auto& work) { join(instruction, work); }, instruction.action);
    }

    // ---- joining: an instruction takes over the work behind its sources

    void join(Instruction& instruction, Copy& copy) {
        const std::uint32_t held = held_behind(copy.src);
        if (held == kNoWork) return settle(instruction, copy.dst);
        if (is_load(held)) {
            const Range source = loaded_from(held, copy.src);
            if (source == copy.dst) return use(copy.src);  // the bytes are there already
            if (!overlaps(source, copy.dst)) {
                if (origins_.is_kept()) {
                    const SourcePlace loaded = origins_.at(held_[held].work, 0);
                    origins_.put(instruction, {loaded, origins_.at(instruction, 1)});
                }
                use(copy.src);
                copy.src = source;
                return settle(instruction, copy.dst);
            }
        } else if (blocks_.is_whole_value(copy.src) && may_write(held, copy.dst)) {
            return redirect(held, instruction, copy);
        }
        put_down(held);
        use(copy.src);
        settle(instruction, copy.dst);
    }

    void join(Instruction& instruction, Reduce& reduce) {
        const std::uint32_t chain = extendable(reduce);
        const SourcePlace stored = origins_.at(instruction, reduce.src.size());
        std::vector<Range> sources;
        std::vector<SourcePlace> places;
        if (chain != kNoWork) {
            if (origins_.is_kept()) {
                Instruction& work = held_[chain].work;
                places = origins_.take(work, range_count(work.action));
                places.pop_back();
            }
            use(reduce.src.front());
            sources = std::move(std::get<Reduce>(held_[chain].work.action).src);
            // What several rounds reduce is of none of them.
            if (plan_.notes) {
                instruction.round = common_round(plan_, instruction.round, held_[chain].work.round);
            }
        }
        const std::size_t taken = sources.size();
        for (std::size_t i = chain != kNoWork; i < reduce.src.size(); ++i) {
            SourcePlace place = origins_.at(instruction, i);
            sources.push_back(direct_source(reduce.src[i], reduce.dst, reduce.element, place));
            if (origins_.is_kept()) places.push_back(place);
        }
        reduce.src = std::move(sources);
        if (origins_.is_kept()) {
            places.push_back(stored);
            origins_.put(instruction, std::move(places));
        }
        settle(instruction, reduce.dst, chain, taken);
    }

    // What it adds to is no value, so it is written down here; but its source must be another.
    void join(Instruction& instruction, Accumulate& accumulate) {
        const std::uint32_t held = held_behind(accumulate.src);
        if (held != kNoWork && is_load(held) &&
            overlaps(loaded_from(held, accumulate.src), accumulate.dst)) {
            put_down(held);
        }
        SourcePlace place = origins_.at(instruction, 0);
        accumulate.src = direct_source(accumulate.src, accumulate.dst, accumulate.element, place);
        put_source(instruction, place);
        settle(instruction, accumulate.dst);
    }

    void join(Instruction& instruction, Map& map) {
        const Element element = map.op == MapOp::convert ? map.from : map.element;
        if (has_source(map.op)) {
            SourcePlace place = origins_.at(instruction, 0);
            map.src = direct_source(map.src, map.dst, element, place);
            put_source(instruction, place);
        }
        settle(instruction, map.dst);
    }

    // Its only source is from there.
    void put_source(Instruction& instruction, SourcePlace place) {
        if (origins_.is_kept()) origins_.put(instruction, {place, origins_.at(instruction, 1)});
    }

    // Syncs and fences have been written already, and plans with flags are not fused.
    static void join(Instruction&, Notify&) { assert(false); }
    static void join(Instruction&, Wait&) { assert(false); }
    static void join(Instruction&, SetFlag&) { assert(false); }
    static void join(Instruction&, WaitFlag&) { assert(false); }
    static void join(Instruction&, PipeBarrier&) { assert(false); }
    static void join(Instruction&, Fence&) { assert(false); }
    static void join(Instruction&, Evict&) { assert(false); }

    // The held reduction that `reduce` continues, if there is one: left-nested, same operation, and
    // its sources go together with the destination.
    std::uint32_t extendable(const Reduce& reduce) const {
        const Range& first = reduce.src.front();
        const std::uint32_t held = held_behind(first);
        if (held == kNoWork || !blocks_.is_whole_value(first)) return kNoWork;
        const auto* inner = std::get_if<Reduce>(&held_[held].work.action);
        const bool same = inner && inner->op == reduce.op && inner->element == reduce.element;
        return same && may_write(held, reduce.dst) ? held : kNoWork;
    }

    // Where to read a source of element-wise work: straight from where its tile was loaded, or from
    // the tile. `place` becomes that of the load.
    Range direct_source(const Range& source, const Range& dst, Element element,
                        SourcePlace& place) {
        const std::uint32_t held = held_behind(source);
        if (held == kNoWork) return source;
        if (is_load(held)) {
            const Range direct = loaded_from(held, source);
            if (element_fits(direct, element) && equal_or_disjoint(dst, direct)) {
                if (origins_.is_kept()) place = origins_.at(held_[held].work, 0);
                use(source);
                return direct;
            }
        }
        put_down(held);
        use(source);
        return source;
    }

    // The stored value's work writes to where it is stored. A load keeps the line of the store, a
    // computation its own.
    void redirect(std::uint32_t held, const Instruction& instruction, const Copy& store) {
        Instruction work = std::move(held_[held].work);
        if (origins_.is_kept()) {
            std::vector<SourcePlace> places = origins_.take(work, range_count(work.action));
            places.back() = origins_.at(instruction, 1);
            origins_.put(work, std::move(places));
        }
        use(store.src);
        for_each_access(
            work.action, [](Range&) {}, [&](Range& dst) { dst = store.dst; });
        settle(work, store.dst, held, source_count(work));
    }

    // ---- settling: an instruction is held back or written down

    // `reused` is the held work that this instruction continues: its first `known` sources are in
    // the index under that number already.
    void settle(Instruction& instruction, const Range& dst, std::uint32_t reused = kNoWork,
                std::size_t known = 0) {
        if (blocks_.is_whole_value(dst) && can_wait(instruction, dst)) {
            return hold(instruction, blocks_.of(dst), reused, known);
        }
        reads_.take_overlapping(
            dst, [&](std::uint32_t id) { return held_[id].live; },
            [&](std::uint32_t id) { put_down(id); });
        write(std::move(instruction));
    }

    // Work is done once, so a value that is used more than once is computed at once. A load that
    // is used more than once can be read in place instead, but not over and over from a peer.
    bool can_wait(const Instruction& instruction, const Range& dst) const {
        if (blocks_[blocks_.of(dst)].reads == 1) return true;
        const auto* copy = std::get_if<Copy>(&instruction.action);
        return copy && copy->src.rank == plan_.rank;
    }

    void hold(Instruction& instruction, std::uint32_t tile, std::uint32_t reused,
              std::size_t known) {
        const bool fresh = reused == kNoWork;
        const auto id = fresh ? static_cast<std::uint32_t>(held_.size()) : reused;
        if (fresh) held_.push_back({{}, tile});
        Held& held = held_[id];
        held.live = true;
        held.tile = tile;
        tiles_[tile].held = id;
        std::size_t source = 0;
        for_each_access(
            instruction.action,
            [&](const Range& range) {
                if (source++ >= known) watch(range, id);
            },
            [](const Range&) {});
        held_[id].work = std::move(instruction);
    }

    // Tiles that are values are never written again.
    void watch(const Range& source, std::uint32_t id) {
        if (is_tile(source) && blocks_[blocks_.of(source)].is_value) return;
        reads_.add(source, id);
        if (is_tile(source) || !is_shared(plan_.buffers[source.buffer], sharing_)) return;
        if (!held_[id].reads_shared) shared_reads_.push_back(id);
        held_[id].reads_shared = true;
    }

    // The result takes the place of what was read: it is never ahead, because each instruction is
    // written once at most.
    void write(Instruction instruction) { plan_.instructions[written_++] = std::move(instruction); }

    // Writes held work down here, into its tile.
    void put_down(std::uint32_t id) {
        held_[id].live = false;
        tiles_[held_[id].tile].held = kNoWork;
        write(std::move(held_[id].work));
    }

    void put_down_shared_reads() {
        for (const std::uint32_t id : shared_reads_) {
            if (held_[id].live) put_down(id);
        }
        shared_reads_.clear();
    }

    // One of the uses of the tile behind `source` is taken care of.
    void use(const Range& source) {
        Tile& tile = tiles_[blocks_.of(source)];
        if (--tile.uses_left > 0 || tile.held == kNoWork) return;
        held_[tile.held].live = false;
        tile.held = kNoWork;
    }

    // ---- questions

    std::uint32_t held_behind(const Range& source) const {
        return is_tile(source) ? tiles_[blocks_.of(source)].held : kNoWork;
    }
    bool is_load(std::uint32_t held) const {
        return std::holds_alternative<Copy>(held_[held].work.action);
    }
    Range loaded_from(std::uint32_t held, const Range& part) const {
        const auto& load = std::get<Copy>(held_[held].work.action);
        Range source = load.src;
        source.offset += part.offset - load.dst.offset;
        source.length = part.length;
        return source;
    }
    bool element_fits(const Range& source, Element element) const {
        return is_tile(source) || plan_.buffers[source.buffer].element == element;
    }
    // Element-wise held work may write to `dst` as far as its own sources are concerned. A value
    // that is yet to be written overlaps none of them.
    bool may_write(std::uint32_t held, const Range& dst) const {
        if (blocks_.is_whole_value(dst)) return true;
        bool legal = true;
        for_each_access(
            held_[held].work.action,
            [&](const Range& source) { legal = legal && equal_or_disjoint(dst, source); },
            [](const Range&) {});
        return legal;
    }
    static std::size_t source_count(const Instruction& instruction) {
        std::size_t count = 0;
        for_each_access(
            instruction.action, [&](const Range&) { ++count; }, [](const Range&) {});
        return count;
    }

    Plan& plan_;
    Sharing sharing_;
    const TileBlocks& blocks_;
    Origins& origins_;
    std::vector<Tile> tiles_;  // by block
    std::vector<Held> held_;
    RangeIndex reads_;  // memory that held work reads
    std::vector<std::uint32_t> shared_reads_;
    std::size_t written_ = 0;  // instructions of the result
};

}  // namespace

void sink(Plan& plan, Sharing sharing, const TileBlocks& blocks, Origins& origins) {
    Sinker(plan, sharing, blocks, origins).run();
}

}  // namespace peal::plan
