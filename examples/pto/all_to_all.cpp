// SPDX-License-Identifier: Apache-2.0
// All-to-all by push: everybody writes its vectors into the windows of those they are for.
#include "kernel_common.hpp"

extern "C" AICORE void kernel_entry(__gm__ int64_t* args) {
    using namespace kernel;
    const Vector in = vector_of(args[0]);
    const Vector out = vector_of(args[1]);
    const Vector window = vector_of(args[2]);
    const Team team(args[4], args[3], window);
    const int32_t base = 2 * static_cast<int32_t>(args[5]);

    // Push to each peer, once it has emptied its window of the last call.
    const Vector inbox = part_of(window, team.rank, team.nranks);
    for (int step = 1; step < team.nranks; ++step) {
        const int peer = team.neighbour(step);
        team.wait(peer, base);
        copy(team.at(peer, inbox.begin), part_of(in, peer, team.nranks));
        team.finish();
        team.notify(peer, team.rank, base + 1);
    }

    // My own, then what the others pushed to me.
    copy(part_of(out, team.rank, team.nranks).begin, part_of(in, team.rank, team.nranks));
    for (int step = 1; step < team.nranks; ++step) {
        const int peer = team.neighbour(-step);
        team.wait(peer, base + 1);
        copy(part_of(out, peer, team.nranks).begin, part_of(window, peer, team.nranks));
    }
    team.notify_peers(base + 2);
}
