// SPDX-License-Identifier: Apache-2.0
// what: Two loads are issued back to back. The events get mixed up, and notifies never leave.
// why: The device takes one vector load at a time: its flag is awaited before the next is issued.
// expect: pipe hazard
// on a5: proved
// ranks: 2
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.stage(sum);
    Global first(my.at(0, my.window)), second(my.at(1, my.window));
    TLOAD(sum, first);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
#ifdef MENDED
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TLOAD(next, second);
#else
    TLOAD(next, second);  // FAULT
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
#endif
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1);
    TADD(sum, sum, next);
    my.store_out(sum);
    my.leave();
}
