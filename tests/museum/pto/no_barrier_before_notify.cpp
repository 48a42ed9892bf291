// SPDX-License-Identifier: Apache-2.0
// what: Peers are notified while the store of what they then read is still in flight.
// why: The scalar unit does not wait for the store pipe by itself: drain it before the notify.
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
    TSTORE(window, sum);  // FAULT
#ifdef MENDED
    pipe_barrier(PIPE_ALL);
#endif
    my.notify_peers(1);
    my.wait_for_peers(1);
    pipe_barrier(PIPE_ALL);
    my.add_up(sum, next);
    my.store_out(sum);
    my.leave();
}
