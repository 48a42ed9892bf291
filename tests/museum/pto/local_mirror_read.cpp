// SPDX-License-Identifier: Apache-2.0
// what: The kernel adds up its own copy instead of the peer's vector: the result is off by a
//       contribution.
// why: A window pointer is one's own until it is moved to the peer's window.
// expect: wrong result
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
#ifdef MENDED
        Global addend(my.at(peer, my.window));
#else
        Global addend(my.window);
#endif
        TLOAD(into, addend);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        if (peer > 0) TADD(sum, sum, next);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    }
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    Global out(my.out);
    TSTORE(out, sum);  // FAULT
    my.leave();
}
