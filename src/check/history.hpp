// SPDX-License-Identifier: Apache-2.0
// Who touched which bytes last, and whether that is ordered before who touches them now.
#pragma once

#include <vector>

#include "check/clocks.hpp"
#include "check/model.hpp"
#include "check/use.hpp"
#include "plan/interval_map.hpp"

namespace peal::checker {

// Two accesses of different agents to the same bytes that must be ordered.
struct Conflict {
    Epoch earlier, later;  // in the order of the run
    RegionId region = kNone;
    std::uint64_t begin = 0, end = 0;
    bool ordered = false;
};

class AccessHistory {
public:
    explicit AccessHistory(const Model& model);

    std::uint64_t memory_bytes() const {
        std::uint64_t bytes = 0;
        for (const auto& region : regions_) bytes += region.memory_bytes();
        return bytes;
    }

    // What ends at `now` touches these bytes. Calls conflict(const Conflict&) for what came before
    // and conflicts. If no conflict is ever unordered, no two conflicting accesses of the run are.
    template <class OnConflict>
    void touch(Epoch now, const Clocks& clocks, RegionId region, std::uint64_t begin,
               std::uint64_t end, const Use& use, OnConflict&& on_conflict) {
        bool is_ordered = true;
        regions_[region].update(
            begin, end, [&](std::uint64_t from, std::uint64_t to, Accesses& accesses) {
                const auto meet = [&](const Access& other) {
                    const bool is_other = other.at.time != 0 && other.at.agent != now.agent;
                    if (!is_other || !conflict(other.use, use)) return;
                    const bool knows = clocks.knows(now.agent, other.at);
                    is_ordered &= knows;
                    on_conflict(Conflict{other.at, now, region, from, to, knows});
                };
                meet(accesses.write);
                for (const Access& change : accesses.changes.list) meet(change);
                if (changes(use)) {
                    for (const Access& read : accesses.reads.list) meet(read);
                }
                add({now, use}, clocks, accesses);
            });
        if (use.kind == Use::Kind::write && is_ordered) {
            regions_[region].assign(begin, end, {{now, use}, {}, {}});
        }
    }

private:
    struct Access {
        Epoch at;
        Use use;
    };
    // Accesses since the last write. Those that come before a later one of the same use are
    // forgotten, not at once but whenever the list has doubled: so each costs little.
    struct Recent {
        std::vector<Access> list;
        std::size_t kept = 0;

        void add(const Access& access, const Clocks& clocks) {
            if (list.size() > 2 * kept + kFew) {
                std::erase_if(list, [&](const Access& other) {
                    return other.use == access.use && clocks.knows(access.at.agent, other.at);
                });
                kept = list.size();
            }
            list.push_back(access);
        }
        void forget_known(AgentId agent, const Clocks& clocks) {
            std::erase_if(list, [&](const Access& other) { return clocks.knows(agent, other.at); });
            kept = list.size();
        }
        static constexpr std::size_t kFew = 4;
    };
    struct Accesses {
        Access write;
        Recent reads, changes;  // the latter also what races with the write
    };

    static void add(const Access& access, const Clocks& clocks, Accesses& accesses) {
        if (access.use.kind != Use::Kind::write) {
            (changes(access.use) ? accesses.changes : accesses.reads).add(access, clocks);
            return;
        }
        accesses.reads.forget_known(access.at.agent, clocks);
        accesses.changes.forget_known(access.at.agent, clocks);
        if (!clocks.knows(access.at.agent, accesses.write.at)) {
            accesses.changes.list.push_back(accesses.write);
        }
        accesses.write = access;
    }

    std::vector<IntervalMap<Accesses>> regions_;
};

inline AccessHistory::AccessHistory(const Model& model) {
    regions_.reserve(model.regions.size());
    for (const Region& region : model.regions) regions_.emplace_back(region.bytes, Accesses{});
}

}  // namespace peal::checker
