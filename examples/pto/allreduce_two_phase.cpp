// SPDX-License-Identifier: Apache-2.0
// Allreduce in two phases: each rank adds up its part of the vector, in rank order, then collects
// the others' parts.
#include "kernel_common.hpp"

extern "C" AICORE void kernel_entry(__gm__ int64_t* args) {
    using namespace kernel;
    const Vector in = vector_of(args[0]);
    const Vector out = vector_of(args[1]);
    const Vector window = vector_of(args[2]);
    const Team team(args[4], args[3], window);
    const int32_t base = 3 * static_cast<int32_t>(args[5]);
    const Vector data{window.begin, in.count};

    // Stage my input where peers can read it, once they have read the result of the last call.
    team.wait_for_peers(base);
    copy(data.begin, in);
    team.notify_peers(base + 1);

    // Add up my part, in place: nobody else reads this part of my window before it is done.
    team.wait_for_peers(base + 1);
    const Vector mine = part_of(data, team.rank, team.nranks);
    add_up(mine, team.nranks, [&](int rank) { return team.at(rank, mine.begin); });
    team.notify_peers(base + 2);

    // Collect all parts, each from who added it up.
    for (int step = 0; step < team.nranks; ++step) {
        const int owner = team.neighbour(step);
        if (owner != team.rank) team.wait(owner, base + 2);
        copy(part_of(out, owner, team.nranks).begin,
             team.at(owner, part_of(data, owner, team.nranks)));
    }
    team.notify_peers(base + 3);
}
