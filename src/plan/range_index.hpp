// SPDX-License-Identifier: Apache-2.0
// Numbered ranges, found again by what overlaps them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "plan/access.hpp"

namespace peal::plan {

class RangeIndex {
public:
    void add(const Range& range, std::uint32_t id) {
        if (range.length != 0) entries_[memory_of(range)].push_back({range, id});
    }

    bool overlaps_any(const Range& range) const {
        const auto bucket = entries_.find(memory_of(range));
        return bucket != entries_.end() &&
               std::any_of(bucket->second.begin(), bucket->second.end(),
                           [&](const Entry& entry) { return overlaps(entry.range, range); });
    }

    void clear() { entries_.clear(); }

    // Calls each(id) for every entry that overlaps the range and is live(id); forgets the entries
    // it meets that are not. What was called for is expected to be dead afterwards.
    template <class Live, class Each>
    void take_overlapping(const Range& range, Live&& live, Each&& each) {
        const auto bucket = entries_.find(memory_of(range));
        if (bucket == entries_.end()) return;
        std::vector<std::uint32_t> hits;
        std::erase_if(bucket->second, [&](const Entry& entry) {
            if (!live(entry.id)) return true;
            if (!overlaps(entry.range, range)) return false;
            hits.push_back(entry.id);
            return true;
        });
        for (const std::uint32_t id : hits) {
            if (live(id)) each(id);
        }
    }

private:
    struct Entry {
        Range range;
        std::uint32_t id;
    };

    static std::uint64_t memory_of(const Range& range) {
        return std::uint64_t{range.buffer} << 32 | static_cast<std::uint32_t>(range.rank);
    }

    std::unordered_map<std::uint64_t, std::vector<Entry>> entries_;
};

}  // namespace peal::plan
