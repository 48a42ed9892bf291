// SPDX-License-Identifier: Apache-2.0
// what: One wait is missing: peers' windows are read before they are filled.
// why: What a peer wrote is there once its notify was awaited, not before.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.wait_for_peers(0);
    my.copy(Global(my.window), Global(my.in), sum);
    my.notify_peers(1);
#ifdef MENDED
    my.wait_for_peers(1);
#endif
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
    my.store_out(sum);
    my.leave();
}
