// SPDX-License-Identifier: Apache-2.0
// what: Peers are notified, then the store is issued that they were notified of.
// why: First the data, then the drain, then the signal.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.wait_for_peers(0);
    Global in(my.in), window(my.window);
    TLOAD(sum, in);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
#ifndef MENDED
    my.notify_peers(1);
#endif
    TSTORE(window, sum);  // FAULT
    pipe_barrier(PIPE_ALL);
#ifdef MENDED
    my.notify_peers(1);
#endif
    my.wait_for_peers(1);
    my.add_up(sum, next);
    my.store_out(sum);
    my.leave();
}
