// SPDX-License-Identifier: Apache-2.0
// Who touched which bytes last, and whether that is ordered before who touches them now.
#pragma once

#include <vector>

#include "check/clocks.hpp"
#include "check/interval_map.hpp"
#include "check/model.hpp"

namespace peal::checker {

// Two accesses to the same bytes, one of them a write, of different agents.
struct Conflict {
    Epoch earlier, later;  // in the order of the run
    RegionId region = kNone;
    std::uint64_t begin = 0, end = 0;
    bool ordered = false;
};

class AccessHistory {
public:
    explicit AccessHistory(const Model& model);

    // What ends at `now` touches these bytes. Calls conflict(const Conflict&) for what came before
    // and conflicts. If no conflict is ever unordered, no two accesses of the run are.
    template <class OnConflict>
    void touch(Epoch now, const Clocks& clocks, RegionId region, std::uint64_t begin,
               std::uint64_t end, bool writes, OnConflict&& conflict) {
        const auto meet = [&](Epoch other, std::uint64_t from, std::uint64_t to) {
            if (other.time == 0 || other.agent == now.agent) return;
            conflict(Conflict{other, now, region, from, to, clocks.knows(now.agent, other)});
        };
        regions_[region].update(begin, end,
                                [&](std::uint64_t from, std::uint64_t to, Accesses& accesses) {
                                    meet(accesses.write, from, to);
                                    if (!writes) return add_read(accesses, now, clocks);
                                    for (const Epoch read : accesses.reads) meet(read, from, to);
                                });
        if (writes) regions_[region].assign(begin, end, Accesses{now, {}});
    }

private:
    struct Accesses {
        Epoch write;
        std::vector<Epoch> reads;  // since that write; none is ordered before another
    };

    static void add_read(Accesses& accesses, Epoch now, const Clocks& clocks) {
        std::erase_if(accesses.reads, [&](Epoch read) { return clocks.knows(now.agent, read); });
        accesses.reads.push_back(now);
    }

    std::vector<IntervalMap<Accesses>> regions_;
};

inline AccessHistory::AccessHistory(const Model& model) {
    regions_.reserve(model.regions.size());
    for (const Region& region : model.regions) regions_.emplace_back(region.bytes, Accesses{});
}

}  // namespace peal::checker
