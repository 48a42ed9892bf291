// SPDX-License-Identifier: Apache-2.0
// what: Peers are told "I have read" while the loads are in flight, and overwrite what is being
//       read.
// why: The scalar unit does not wait for the load pipe either.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.stage(sum);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Tile& into = peer == 0 ? sum : next;
        Global addend(my.at(peer, my.window));
        TLOAD(into, addend);  // FAULT
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        if (peer > 0) TADD(sum, sum, next);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    }
#ifdef MENDED
    pipe_barrier(PIPE_ALL);
#endif
    my.notify_peers(2);
    my.store_out(sum);
}
