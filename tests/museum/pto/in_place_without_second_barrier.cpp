// SPDX-License-Identifier: Apache-2.0
// what: The result is stored where slow peers still load: a contribution counts twice.
// why: A second barrier between reduce and store: all have read.
// expect: data race
#include "frame.hpp"

using namespace museum;

extern "C" AICORE void kernel_entry(int64_t* args) {
    const Frame my(args);
    Tile sum, next;
    TASSIGN(sum, 0x0000);
    TASSIGN(next, 0x1000);

    my.copy(Global(my.window), Global(my.in), sum);
    my.meet(1);
    my.add_up(sum, next);
#ifdef MENDED
    my.meet(2);
#endif
    Global window(my.window);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(window, sum);  // FAULT
    my.copy(Global(my.out), window, sum);
#ifndef MENDED
    my.meet(2);
#endif
}
