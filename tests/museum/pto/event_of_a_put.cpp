// SPDX-License-Identifier: Apache-2.0
// what: A kernel says that its tile is free, for the first round of a loop, and calls TPUT before
//       the loop begins: both use event 0 from the stores to the loads.
// why: TPUT and TGET use event 0 between MTE2 and MTE3, in both directions, as any code may.
// expect: flag
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);
#ifdef MENDED
    const auto kFree = EVENT_ID1;
#else
    const auto kFree = EVENT_ID0;
#endif

    my.wait_for_peers(0);
    Global in(my.in), out(my.out), window(my.window);
    set_flag(PIPE_MTE3, PIPE_MTE2, kFree);
    TPUT(window, in, sum);  // FAULT
    my.meet(1);
    for (int peer = 0; peer < my.nranks; ++peer) {
        Global theirs(my.at(peer, my.window));
        wait_flag(PIPE_MTE3, PIPE_MTE2, kFree);
        TLOAD(next, theirs);
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        if (peer == 0) {
            TSTORE(out, next);
        } else {
            TSTORE<pto::AtomicType::AtomicAdd>(out, next);
        }
        set_flag(PIPE_MTE3, PIPE_MTE2, kFree);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, kFree);
    my.leave();
}
