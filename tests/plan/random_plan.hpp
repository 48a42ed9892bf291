// SPDX-License-Identifier: Apache-2.0
// Random valid plans that use tiles in every way: as values, in slices, again and again in place,
// and not at all; with few places, as the tiles of a person who counts bytes.
#pragma once

#include <random>
#include <vector>

#include "plan/access.hpp"
#include "plan/support.hpp"

namespace peal::testing {

class RandomPlan {
public:
    // With `places`, tiles begin at so many places only.
    RandomPlan(std::uint64_t seed, std::size_t instructions, std::uint64_t places = 0)
        : random_(seed), places_(places) {
        plan_.kernel = "random";
        plan_.nranks = 3;
        plan_.rank = static_cast<std::int32_t>(below(3));
        element_ = below(2) ? Element::f32 : Element::i32;
        plan_.buffers = {argument("a", kBytes, Direction::inout),
                         argument("b", kBytes, Direction::inout),
                         window("v", kBytes, below(2) ? Element::f32 : Element::i32),
                         window("w", kBytes), signal("sig", 3)};
        plan_.advance.assign(plan_.buffers.size(), 0);
        while (plan_.instructions.size() < instructions) step();
    }

    const Plan& plan() const { return plan_; }

private:
    static constexpr std::uint64_t kBytes = 256;
    static constexpr std::uint64_t kGrain = 16;

    std::uint64_t below(std::uint64_t end) { return random_() % end; }
    std::uint64_t length() { return kGrain << below(3); }

    Range memory(std::uint64_t bytes) {
        const auto buffer = static_cast<std::uint16_t>(below(4));
        const bool is_window = plan_.buffers[buffer].kind == BufferKind::window;
        const auto rank = is_window ? static_cast<std::int32_t>(below(3)) : plan_.rank;
        return {buffer, rank, below((kBytes - bytes) / kGrain + 1) * kGrain, bytes};
    }
    Range new_tile(std::uint64_t bytes) {
        const std::uint64_t begin = places_ == 0 ? plan_.tile_bytes : below(places_) * 64;
        const Range tile{kTile, plan_.rank, begin, bytes};
        plan_.tile_bytes = std::max(plan_.tile_bytes, begin + (bytes + 63) / 64 * 64);
        tiles_.push_back(tile);
        return tile;
    }
    // A tile that was written, or a slice of one. Recent tiles are more likely.
    Range old_tile(std::uint64_t bytes) {
        for (int attempt = 0; attempt < 8 && !tiles_.empty(); ++attempt) {
            const std::uint64_t back = std::min<std::uint64_t>(tiles_.size(), 1 + below(4));
            const Range& whole = tiles_[tiles_.size() - back];
            if (whole.length < bytes) continue;
            const std::uint64_t slack = below((whole.length - bytes) / kGrain + 1) * kGrain;
            return {kTile, plan_.rank, whole.offset + slack, bytes};
        }
        return memory(bytes);
    }
    Range source(std::uint64_t bytes) { return below(4) ? old_tile(bytes) : memory(bytes); }
    // Call it after the sources are chosen: a new tile must not be its own source.
    Range destination(std::uint64_t bytes) {
        if (below(8) == 0) return old_tile(bytes);
        return below(3) ? new_tile(bytes) : memory(bytes);
    }

    void add(Action action) {
        plan_.instructions.push_back(
            {std::move(action), Pipe::none, static_cast<std::uint32_t>(plan_.instructions.size())});
    }

    void step() {
        const std::uint64_t bytes = length();
        switch (below(11)) {
            case 10: return add_odd_copy();
            case 0:
            case 1: {
                const Range src = memory(bytes);
                const Range dst = new_tile(bytes);
                return add(Copy{dst, src});
            }
            case 2:
            case 3: {
                const Range src = source(bytes);
                const Range dst = below(2) ? memory(bytes) : destination(bytes);
                if (!plan::overlaps(dst, src)) add(Copy{dst, src});
                return;
            }
            case 4:
            case 5: return add_reduce(bytes);
            case 6: return add_map(bytes);
            case 7: return add_accumulate(bytes);
            case 8: return add_conversion(bytes);
            default: return add_sync();
        }
    }

    void add_reduce(std::uint64_t bytes) {
        static constexpr std::array kOps = {ReduceOp::sum, ReduceOp::sum, ReduceOp::max};
        Reduce reduce{kOps[below(3)], element_, {}, {}};
        for (std::uint64_t i = 1 + below(3); i > 0; --i) reduce.src.push_back(source(bytes));
        reduce.dst = below(6) ? destination(bytes) : reduce.src.front();
        for (const Range& src : reduce.src) {
            if (!plan::equal_or_disjoint(reduce.dst, src)) return;
        }
        add(reduce);
    }

    void add_map(std::uint64_t bytes) {
        static constexpr std::array kOps = {MapOp::fill, MapOp::add_scalar, MapOp::mul_scalar,
                                            MapOp::clobber};
        Map map{kOps[below(kOps.size())], element_, static_cast<double>(below(5)), {}, {}};
        if (plan::has_source(map.op)) map.src = source(bytes);
        map.dst = destination(bytes);
        if (!plan::has_source(map.op) || plan::equal_or_disjoint(map.dst, map.src)) add(map);
    }

    void add_accumulate(std::uint64_t bytes) {
        const Range src = source(bytes);
        const Range dst = below(2) ? old_tile(bytes) : memory(bytes);
        if (!plan::overlaps(dst, src)) add(Accumulate{element_, dst, src});
    }

    void add_conversion(std::uint64_t bytes) {
        Map map;
        map.element = map.from = element_;
        map.src = source(bytes);
        if (below(2)) {
            map.op = MapOp::row_sum;
            map.dst = destination(4);
        } else {
            map.op = MapOp::convert;
            map.element = Element::i16;
            map.dst = destination(bytes / 2);
        }
        if (plan::equal_or_disjoint(map.dst, map.src)) add(map);
    }

    // Some bytes to the middle of a tile, or from there: blocks that begin anywhere, with a word in
    // them that is added to.
    void add_odd_copy() {
        Range part = old_tile(2 * kGrain);
        const std::uint64_t skipped = below(kGrain);
        part.offset += skipped;
        part.length = 1 + below(2 * kGrain - skipped);
        Range there = memory(2 * kGrain);
        there.length = part.length;
        if (plan::overlaps(part, there)) return;
        if (below(2)) return add(Copy{there, part});
        add(Copy{part, there});
        const Range word{part.buffer, part.rank, (part.offset + 3) / 4 * 4, 4};
        const Range addend = memory(4);
        if (plan::end_of(word) > plan::end_of(part) || plan::overlaps(word, addend)) return;
        add(Accumulate{element_, word, addend});
        if (!plan::overlaps(part, there)) add(Copy{there, part});
    }

    void add_sync() {
        const Cell cell{4, plan_.rank, below(3)};
        if (below(2)) return add(Notify{NotifyOp::add, cell, {1, 0}});
        add(Wait{Compare::ge, cell, {0, 0}});
    }

    std::mt19937_64 random_;
    std::uint64_t places_;
    Element element_ = Element::f32;
    Plan plan_;
    std::vector<Range> tiles_;
};

}  // namespace peal::testing
