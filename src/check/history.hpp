// SPDX-License-Identifier: Apache-2.0
// Who touched which bytes last, and whether that is ordered before who touches them now.
#pragma once

#include <algorithm>
#include <memory>
#include <tuple>
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

// A value that is seldom there, in the room of a pointer.
template <class T>
class Box {
public:
    Box() = default;
    Box(Box&&) noexcept = default;
    Box& operator=(Box&&) noexcept = default;
    Box(const Box& other) : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
    Box& operator=(const Box& other) { return *this = Box(other); }
    ~Box() = default;

    T* get() const { return value_.get(); }
    T& make() {
        if (!value_) value_ = std::make_unique<T>();
        return *value_;
    }

private:
    std::unique_ptr<T> value_;
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
                if (changes(use)) meet(accesses.read);
                if (const More* more = accesses.more.get()) {
                    for (const Access& change : more->changes.list) meet(change);
                    if (changes(use)) {
                        for (const Access& read : more->reads.list) meet(read);
                    }
                }
                add({now, use}, clocks, accesses);
            });
        if (use.kind == Use::Kind::write && is_ordered) {
            regions_[region].assign(begin, end, {{now, use}, {}, {}});
        }
    }

    // What the future depends on, between two calls to which all have come: who has touched what
    // that not everybody knows of, times counted back from now. All else is forgotten.
    void describe(const Model& model, const Clocks& clocks, std::vector<std::uint64_t>& words);

private:
    struct Access {
        Epoch at;
        Use use;

        std::uint64_t use_word() const {
            return static_cast<std::uint64_t>(use.kind) << 8 | use.of;
        }
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
        // Forgets what everybody knows, and of each agent all but the last of each use.
        void settle(const std::vector<std::uint32_t>& known) {
            std::erase_if(list, [&](const Access& access) {
                return access.at.time <= known[access.at.agent];
            });
            const auto key = [](const Access& access) {
                return std::tuple(access.use_word(), access.at.agent, access.at.time);
            };
            std::sort(list.begin(), list.end(),
                      [&](const Access& a, const Access& b) { return key(a) < key(b); });
            // Of neighbours of one agent and use the last stays.
            const auto first =
                std::unique(list.rbegin(), list.rend(), [](const Access& a, const Access& b) {
                    return a.use == b.use && a.at.agent == b.at.agent;
                });
            list.erase(list.begin(), first.base());
            kept = list.size();
        }
        static constexpr std::size_t kFew = 4;
    };
    struct More {
        Recent reads, changes;  // the latter also what races with the write
    };
    // Most bytes are read by one agent between two writes, so there is room for one read, and
    // seldom more. That keeps runs small: there may be very many.
    struct Accesses {
        Access write, read;
        Box<More> more;
    };

    static void add(const Access& access, const Clocks& clocks, Accesses& accesses) {
        const AgentId agent = access.at.agent;
        if (access.use.kind == Use::Kind::write) {
            add_write(access, clocks, accesses);
        } else if (changes(access.use)) {
            accesses.more.make().changes.add(access, clocks);
        } else if (clocks.knows(agent, accesses.read.at)) {
            accesses.read = access;
        } else {
            accesses.more.make().reads.add(access, clocks);
        }
    }

    // What the write comes after is forgotten.
    static void add_write(const Access& write, const Clocks& clocks, Accesses& accesses) {
        const AgentId agent = write.at.agent;
        if (clocks.knows(agent, accesses.read.at)) accesses.read = {};
        if (More* more = accesses.more.get()) {
            more->reads.forget_known(agent, clocks);
            more->changes.forget_known(agent, clocks);
        }
        if (!clocks.knows(agent, accesses.write.at)) {
            accesses.more.make().changes.list.push_back(accesses.write);
        }
        accesses.write = write;
    }

    // Forgets of the accesses what need not be known any more; appends the rest.
    static void describe(Accesses& accesses, const std::vector<std::uint32_t>& known,
                         const Clocks& clocks, std::vector<std::uint64_t>& words);

    std::vector<plan::IntervalMap<Accesses>> regions_;
};

inline void AccessHistory::describe(Accesses& accesses, const std::vector<std::uint32_t>& known,
                                    const Clocks& clocks, std::vector<std::uint64_t>& words) {
    const auto put = [&](std::uint64_t role, const Access& access) {
        if (access.at.time <= known[access.at.agent]) return;
        words.push_back(role << 16 | access.use_word());
        words.push_back(std::uint64_t{access.at.agent} << 32 | clocks.ago(access.at));
    };
    put(0, accesses.write);
    put(1, accesses.read);
    More* more = accesses.more.get();
    if (!more) return;
    more->reads.settle(known);
    more->changes.settle(known);
    for (const Access& access : more->reads.list) put(2, access);
    for (const Access& access : more->changes.list) put(3, access);
}

// Runs that are described alike are one.
inline void AccessHistory::describe(const Model& model, const Clocks& clocks,
                                    std::vector<std::uint64_t>& words) {
    const std::vector<std::uint32_t> known = clocks.known_to_all();
    std::vector<std::uint64_t> last, next;
    for (RegionId region = 0; region < regions_.size(); ++region) {
        // Each call has its own entry.
        if (model.regions[region].kind == RegionKind::entry || regions_[region].bytes() == 0) {
            continue;
        }
        last.clear();
        const auto begin_run = [&](std::uint64_t at) {
            words.insert(words.end(), {std::uint64_t{region}, at, next.size()});
            words.insert(words.end(), next.begin(), next.end());
            last.swap(next);
        };
        regions_[region].update(0, regions_[region].bytes(),
                                [&](std::uint64_t begin, std::uint64_t, Accesses& accesses) {
                                    next.clear();
                                    describe(accesses, known, clocks, next);
                                    if (next != last) begin_run(begin);
                                });
    }
}

inline AccessHistory::AccessHistory(const Model& model) {
    regions_.reserve(model.regions.size());
    for (const Region& region : model.regions) regions_.emplace_back(region.bytes, Accesses{});
}

}  // namespace peal::checker
