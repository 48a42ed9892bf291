// SPDX-License-Identifier: Apache-2.0
// A value for every byte of a region, kept as runs of bytes with the same value.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

namespace peal::plan {

// Runs lie in blocks of bounded size, so that a boundary more costs no more among a hundred
// thousand runs than among a few.
template <class T>
class IntervalMap {
public:
    struct Run {
        std::uint64_t begin = 0;
        T value;
        bool operator==(const Run&) const = default;
    };

    IntervalMap() = default;
    IntervalMap(std::uint64_t bytes, T value) : bytes_(bytes) {
        if (bytes > 0) blocks_.push_back({{0, std::move(value)}});
    }

    std::uint64_t bytes() const { return bytes_; }
    std::size_t run_count() const {
        std::size_t count = 0;
        for (const Block& block : blocks_) count += block.size();
        return count;
    }

    // Apart from what the values hold.
    std::uint64_t memory_bytes() const {
        std::uint64_t bytes = blocks_.capacity() * sizeof(Block);
        for (const Block& block : blocks_) bytes += block.capacity() * sizeof(Run);
        return bytes;
    }

    // Calls each(begin, value) for all runs, in order.
    template <class Each>
    void for_each_run(Each&& each) const {
        for (const Block& block : blocks_) {
            for (const Run& run : block) each(run.begin, run.value);
        }
    }

    // Calls each(begin, end, value) for the runs of [begin, end), cut to it, in order.
    template <class Each>
    void visit(std::uint64_t begin, std::uint64_t end, Each&& each) const {
        assert(begin < end && end <= bytes_);
        for (Position at = position_of(begin); is_before(at, end); at = next(at)) {
            each(std::max(begin, run(at).begin), std::min(end, end_of(at)), run(at).value);
        }
    }

    // As visit, on values that may be changed; runs that stick out are split first.
    template <class Each>
    void update(std::uint64_t begin, std::uint64_t end, Each&& each) {
        assert(begin < end && end <= bytes_);
        split(end);
        for (Position at = split(begin); is_before(at, end); at = next(at)) {
            each(run(at).begin, end_of(at), blocks_[at.block][at.index].value);
        }
    }

    void assign(std::uint64_t begin, std::uint64_t end, T value) {
        assert(begin < end && end <= bytes_);
        split(end);
        const Position first = split(begin);
        blocks_[first.block][first.index].value = std::move(value);
        erase(next(first), end);
    }

    // Joins neighbours of equal value, so that equal contents have equal runs.
    void normalise() {
        std::vector<Block> packed;
        const T* last = nullptr;
        for (Block& block : blocks_) {
            for (Run& run : block) {
                if (last && *last == run.value) continue;
                if (packed.empty() || packed.back().size() == kMost) packed.emplace_back();
                packed.back().push_back(std::move(run));
                last = &packed.back().back().value;
            }
        }
        for (Block& block : packed) block.shrink_to_fit();
        blocks_ = std::move(packed);
    }

    // Of maps that were normalised: whether all bytes have equal values.
    bool operator==(const IntervalMap&) const = default;

private:
    using Block = std::vector<Run>;  // never empty
    static constexpr std::size_t kMost = 64;

    struct Position {
        std::size_t block = 0, index = 0;
    };

    const Run& run(Position at) const { return blocks_[at.block][at.index]; }
    bool is_before(Position at, std::uint64_t end) const {
        return at.block < blocks_.size() && run(at).begin < end;
    }
    Position next(Position at) const {
        return at.index + 1 < blocks_[at.block].size() ? Position{at.block, at.index + 1}
                                                       : Position{at.block + 1, 0};
    }
    std::uint64_t end_of(Position at) const {
        const Position after = next(at);
        return after.block < blocks_.size() ? run(after).begin : bytes_;
    }

    Position position_of(std::uint64_t at) const {
        const auto block = std::upper_bound(blocks_.begin(), blocks_.end(), at,
                                            [](std::uint64_t position, const Block& candidate) {
                                                return position < candidate.front().begin;
                                            }) -
                           1;
        const auto after = std::upper_bound(block->begin(), block->end(), at,
                                            [](std::uint64_t position, const Run& candidate) {
                                                return position < candidate.begin;
                                            });
        return {static_cast<std::size_t>(block - blocks_.begin()),
                static_cast<std::size_t>(after - block->begin()) - 1};
    }

    // Makes `at` a boundary; returns the run that begins there.
    Position split(std::uint64_t at) {
        if (at == bytes_) return {blocks_.size(), 0};
        Position found = position_of(at);
        if (run(found).begin == at) return found;
        if (blocks_[found.block].size() == kMost) {
            halve(found.block);
            found = position_of(at);
        }
        Block& block = blocks_[found.block];
        Run right{at, block[found.index].value};
        block.insert(block.begin() + static_cast<std::ptrdiff_t>(found.index) + 1,
                     std::move(right));
        return {found.block, found.index + 1};
    }

    void halve(std::size_t number) {
        const auto middle = static_cast<std::ptrdiff_t>(kMost / 2);
        Block& block = blocks_[number];
        Block upper(std::make_move_iterator(block.begin() + middle),
                    std::make_move_iterator(block.end()));
        block.resize(kMost / 2);
        blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(number) + 1, std::move(upper));
    }

    // Removes the runs from `at` on that begin before `end`.
    void erase(Position at, std::uint64_t end) {
        if (!is_before(at, end)) return;
        std::size_t last = at.block;  // blocks before this one lose all behind `at`
        while (last < blocks_.size() && blocks_[last].back().begin < end) ++last;
        if (last < blocks_.size()) {
            Block& block = blocks_[last];
            const auto from =
                block.begin() + static_cast<std::ptrdiff_t>(last == at.block ? at.index : 0);
            const auto until = std::lower_bound(
                from, block.end(), end,
                [](const Run& candidate, std::uint64_t limit) { return candidate.begin < limit; });
            block.erase(from, until);
        }
        if (last == at.block) return;
        blocks_[at.block].resize(at.index);
        const std::size_t first = at.index == 0 ? at.block : at.block + 1;
        blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(first),
                      blocks_.begin() + static_cast<std::ptrdiff_t>(last));
    }

    std::uint64_t bytes_ = 0;
    std::vector<Block> blocks_;  // the first run begins at 0; each ends where the next begins
};

}  // namespace peal::plan
