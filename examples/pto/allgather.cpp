// SPDX-License-Identifier: Apache-2.0
// Allgather: everybody stages its vector and reads everybody's.
#include "kernel_common.hpp"

extern "C" AICORE void kernel_entry(__gm__ int64_t* args) {
    using namespace kernel;
    const Vector in = vector_of(args[0]);
    const Vector out = vector_of(args[1]);
    const Vector window = vector_of(args[2]);
    const Team team(args[4], args[3], window);
    const int32_t base = 2 * static_cast<int32_t>(args[5]);

    // Stage my vector where peers can read it, once they have read that of the last call.
    team.wait_for_peers(base);
    copy(window.begin, in);
    team.notify_peers(base + 1);

    // My own, then everybody else's, beginning at my right so that not all read from the same rank.
    copy(part_of(out, team.rank, team.nranks).begin, in);
    for (int step = 1; step < team.nranks; ++step) {
        const int peer = team.neighbour(step);
        team.wait(peer, base + 1);
        copy(part_of(out, peer, team.nranks).begin, team.at(peer, window));
    }
    team.notify_peers(base + 2);
}
