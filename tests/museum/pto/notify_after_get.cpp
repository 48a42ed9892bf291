// SPDX-License-Identifier: Apache-2.0
// what: The peers' vectors are fetched with TGET, and "I have read" is rung while it still loads.
// why: TGET is issued like any other work: on return the scalar unit has waited for nothing.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.stage(sum);
    Global out(my.out);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Global theirs(my.at(peer, my.window));
        if (peer == 0) {
            TGET(out, theirs, sum);  // FAULT
        } else {
            TLOAD(next, theirs);
            set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
            TSTORE<pto::AtomicType::AtomicAdd>(out, next);
            set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
            wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        }
    }
#ifdef MENDED
    pipe_barrier(PIPE_ALL);
#endif
    my.notify_peers(2);
}
