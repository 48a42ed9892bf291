// SPDX-License-Identifier: Apache-2.0
// Reduce-scatter: everybody stages its vectors, one for each rank, and adds up those that are for
// it, in rank order.
#include "kernel_common.hpp"

extern "C" AICORE void kernel_entry(__gm__ int64_t* args) {
    using namespace kernel;
    const Vector in = vector_of(args[0]);
    const Vector out = vector_of(args[1]);
    const Vector window = vector_of(args[2]);
    const Team team(args[4], args[3], window);
    const int32_t base = 2 * static_cast<int32_t>(args[5]);

    // Stage my vectors where peers can read them, once they have read those of the last call.
    team.wait_for_peers(base);
    copy(window.begin, in);
    team.notify_peers(base + 1);

    // Add up those for me.
    team.wait_for_peers(base + 1);
    const Vector mine = part_of(window, team.rank, team.nranks);
    add_up(out, team.nranks, [&](int rank) { return team.at(rank, mine.begin); });
    team.notify_peers(base + 2);
}
