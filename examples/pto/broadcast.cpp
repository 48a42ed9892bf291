// SPDX-License-Identifier: Apache-2.0
// Broadcast: the root stages its vector, and everybody else reads it. The root returns when all
// have, so that the next call may have another root.
#include "kernel_common.hpp"

extern "C" AICORE void kernel_entry(__gm__ int64_t* args) {
    using namespace kernel;
    const Vector in = vector_of(args[0]);
    const Vector out = vector_of(args[1]);
    const Vector window = vector_of(args[2]);
    const int root = static_cast<int>(args[4]);
    const Team team(args[5], args[3], window);
    const int32_t call = static_cast<int32_t>(args[6]) + 1;

    if (team.rank == root) {
        copy(window.begin, in);
        team.notify_peers(call);
        copy(out.begin, in);
        team.wait_for_peers(call);
    } else {
        team.wait(root, call);
        copy(out.begin, team.at(root, window));
        pipe_barrier(PIPE_ALL);
        team.notify(root, team.rank, call);
    }
}
