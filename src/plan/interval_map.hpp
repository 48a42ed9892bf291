// SPDX-License-Identifier: Apache-2.0
// A value for every byte of a region, kept as runs of bytes with the same value.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

namespace peal {

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
        if (bytes > 0) runs_.push_back({0, std::move(value)});
    }

    std::uint64_t bytes() const { return bytes_; }
    const std::vector<Run>& runs() const { return runs_; }

    // Calls each(begin, end, value) for the runs of [begin, end), cut to it, in order.
    template <class Each>
    void visit(std::uint64_t begin, std::uint64_t end, Each&& each) const {
        assert(begin < end && end <= bytes_);
        for (std::size_t i = index_of(begin); i < runs_.size() && runs_[i].begin < end; ++i) {
            each(std::max(begin, runs_[i].begin), std::min(end, end_of(i)), runs_[i].value);
        }
    }

    // As visit, on values that may be changed; runs that stick out are split first.
    template <class Each>
    void update(std::uint64_t begin, std::uint64_t end, Each&& each) {
        assert(begin < end && end <= bytes_);
        const std::size_t first = split(begin);
        const std::size_t last = split(end);
        for (std::size_t i = first; i < last; ++i) each(runs_[i].begin, end_of(i), runs_[i].value);
    }

    void assign(std::uint64_t begin, std::uint64_t end, T value) {
        assert(begin < end && end <= bytes_);
        const std::size_t first = split(begin);
        const std::size_t last = split(end);
        runs_[first].value = std::move(value);
        runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                    runs_.begin() + static_cast<std::ptrdiff_t>(last));
    }

    // Joins neighbours of equal value, so that equal contents have equal runs.
    void normalise() {
        const auto last = std::unique(runs_.begin(), runs_.end(), [](const Run& a, const Run& b) {
            return a.value == b.value;
        });
        runs_.erase(last, runs_.end());
    }

    bool operator==(const IntervalMap&) const = default;

private:
    std::uint64_t end_of(std::size_t i) const {
        return i + 1 < runs_.size() ? runs_[i + 1].begin : bytes_;
    }

    std::size_t index_of(std::uint64_t at) const {
        const auto after = std::upper_bound(
            runs_.begin(), runs_.end(), at,
            [](std::uint64_t position, const Run& run) { return position < run.begin; });
        return static_cast<std::size_t>(after - runs_.begin()) - 1;
    }

    // Makes `at` a boundary; returns the index of the run that begins there.
    std::size_t split(std::uint64_t at) {
        if (at == bytes_) return runs_.size();
        const std::size_t i = index_of(at);
        if (runs_[i].begin == at) return i;
        Run right{at, runs_[i].value};
        runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(right));
        return i + 1;
    }

    std::uint64_t bytes_ = 0;
    std::vector<Run> runs_;  // the first begins at 0; each ends where the next begins
};

}  // namespace peal
