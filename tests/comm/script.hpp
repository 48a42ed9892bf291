// SPDX-License-Identifier: Apache-2.0
// Calls of all kinds and sizes in random order.
#pragma once

#include <iterator>
#include <random>

#include "comm/attempt.hpp"

namespace peal::comm::test {

// Tasks, the same on every rank that begins with the same seed.
class Script {
public:
    Script(unsigned seed, int nranks) : random_(seed), nranks_(nranks) {}

    unsigned number(unsigned below) { return static_cast<unsigned>(random_() % below); }

    Task next() {
        constexpr std::uint64_t kCounts[] = {0, 1, 2, 5, 12, 13, 64, 257, 1000, 3001};
        constexpr std::uint64_t kLong = 20000;  // of which every fortieth is
        Task task{.kind = kCollectives[number(kCollectives.size())], .nranks = nranks_};
        task.count = number(40) == 0 ? kLong : kCounts[number(std::size(kCounts))];
        task.op = kReduceOps[number(4)];
        task.root = static_cast<int>(number(static_cast<unsigned>(nranks_)));
        task.seed = number(1000);
        for (std::size_t i = 0; i < table_entries(task.kind, nranks_); ++i) {
            task.counts.push_back(number(2) == 0 ? 0 : number(50));
        }
        return task;
    }

private:
    std::mt19937 random_;
    int nranks_;
};

// One of them; `in_place` where it can be.
inline void make(Communicator& comm, const Task& task, bool in_place) {
    const Attempt<std::int32_t> attempt(comm, task);
    const bool possible = Attempt<std::int32_t>::works_in_place(task.kind);
    if (possible && (in_place || task.kind == CollectiveKind::broadcast))
        attempt.in_place();
    else
        attempt.separate();
}

}  // namespace peal::comm::test
